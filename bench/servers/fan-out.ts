/** The service with two more routes: one publishes values, the other returns the number of subscribers. */
import { setImmediate as turn } from 'node:timers/promises'
import { firstCount, memoryNow } from '../support/fan-out.ts'
import { serve } from '../support/serve.ts'

await serve(async (http, { topics, engine }) => {
  const config = { access: 'public', docs: false } as const
  const state = () => ({ subscribers: engine.counts().subscribers, memory: memoryNow() })
  http.get('/state', { config }, async () => state())
  http.get<{ Querystring: { values: string } }>('/publish', { config }, async ({ query }) => {
    for (let i = 0; i < Number(query.values); i++) {
      await topics.publish('counter', { count: firstCount + i })
      await turn()
    }
    return state()
  })
})
