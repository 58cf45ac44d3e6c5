/** An extension that shows which thread serves, and that can make it die. */
import { threadId } from 'node:worker_threads'
import { defineFeature } from 'latchkey/feature'

export default defineFeature({
  name: 'probe',
  create: () => ({}),
  routes: () => (app) => {
    const config = { access: 'public', docs: false } as const
    app.get('/probe/thread', { config }, async () => ({ thread: threadId }))
    app.get('/probe/slow', { config }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      return { thread: threadId }
    })
    app.get('/probe/die', { config }, async () => {
      setImmediate(() => {
        throw new Error('died on demand')
      })
    })
  },
})
