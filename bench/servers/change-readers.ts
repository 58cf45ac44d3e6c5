/** The service with a route that tells what creates have cost, up to their answers and altogether. */
import { createCost, type ReaderState } from '../support/change-readers.ts'
import { cpuSeconds } from '../support/fan-out.ts'
import { serve } from '../support/serve.ts'

await serve(async (http, { changes }) => {
  const answered = { creates: 0, cpuSeconds: 0 }
  // Before all other listeners, which handle the request.
  http.server.prependListener('request', (request, response) => {
    if (request.method !== 'POST' || request.url !== createCost.path) return
    const before = cpuSeconds()
    response.once('finish', () => {
      answered.creates += 1
      answered.cpuSeconds += cpuSeconds() - before
    })
  })
  http.get('/state', { config: { access: 'public', docs: false } }, async (): Promise<ReaderState> => {
    return { readers: changes.waiting(), cpuSeconds: cpuSeconds(), answered }
  })
})
