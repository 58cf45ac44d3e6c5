/** The service with more routes: one publishes values, the others tell how many wait for them and what that costs. */
import { setImmediate as turn } from 'node:timers/promises'
import { cpuSeconds, firstCount, heapNow } from '../support/fan-out.ts'
import { serve } from '../support/serve.ts'

await serve(async (http, { topics, engine }) => {
  const config = { access: 'public', docs: false } as const
  http.get('/state', { config }, async () => ({
    subscribers: engine.counts().subscribers,
    cpuSeconds: cpuSeconds(),
  }))
  http.get('/memory', { config }, async () => ({ heap: heapNow() }))
  http.get<{ Querystring: { values: string } }>('/publish', { config }, async ({ query }) => {
    for (let i = 0; i < Number(query.values); i++) {
      await topics.publish('counter', { count: firstCount + i })
      await turn()
    }
    return {}
  })
})
