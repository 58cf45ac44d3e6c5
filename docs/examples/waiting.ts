/** A long poll: the request is held until there is news. The example of docs/extensions.md. */
import type { FastifyInstance } from 'fastify'
import { defineFeature, type Infrastructure, principalOf } from 'latchkey/feature'

export default defineFeature({
  name: 'waiting',
  create: (infrastructure) => infrastructure,
  routes: (infrastructure) => (app) => addNews(app, infrastructure),
})

function addNews(app: FastifyInstance, { topics }: Infrastructure): void {
  const stopping = new AbortController()
  app.onDrain(() => stopping.abort())

  app.get('/api/news', { config: { access: 'authenticated' } }, async (request) => {
    const principal = principalOf(request)
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(25_000)])
    const news = Promise.withResolvers<unknown>()
    signal.addEventListener('abort', () => news.resolve(undefined))
    if (signal.aborted) news.resolve(undefined)
    const unsubscribe = await topics.subscribe('news', news.resolve)
    const found = await news.promise
    unsubscribe()
    // As it is now, not as it was when the request arrived.
    return { data: principal.can('news.view') ? (found ?? null) : null }
  })
}
