import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { clientOf } from '../../platform/http/client.ts'
import { idOf, parseId } from '../../platform/http/ids.ts'
import { mayDiscard, mayRetry, mayView, refusedAs } from './dead-letters.access.ts'
import { docs } from './dead-letters.docs.ts'
import { type Actor, type DeadLetters, toResource } from './dead-letters.service.ts'

export const deadLettersPath = '/api/admin/dead-letters'

const defaultLimit = 20
const maxLimit = 100

export async function deadLetterRoutes(app: FastifyInstance, { service }: { service: DeadLetters }): Promise<void> {
  app.requireForAll('authenticated')

  app.get('/', { config: { access: mayView, docs: docs.list } }, async (request) => {
    const { limit: asked, before } = request.query as Record<string, unknown>
    const limit = Math.min(positive(asked) ?? defaultLimit, maxLimit)
    const found = await service.list({ before: positive(before) ?? Number.MAX_SAFE_INTEGER, limit: limit + 1 })
    return { data: found.slice(0, limit).map(toResource), meta: { limit, more: found.length > limit } }
  })

  for (const { method, url, access, event, act, ...rest } of actsOf(service)) {
    app.route({
      method,
      url,
      config: { access, audit: refusedAs(event), docs: rest.docs },
      async handler(request, reply) {
        await act(request)
        return reply.code(204).send()
      },
    })
  }
}

function actsOf(service: DeadLetters) {
  const retried = { access: mayRetry, event: 'dead_letter_retried' } as const
  const discarded = { access: mayDiscard, event: 'dead_letter_discarded' } as const
  const one = (act: (id: number | undefined, actor: Actor) => Promise<void>) => (request: FastifyRequest) =>
    act(idOf(request), actorOf(request))
  const all = (act: (actor: Actor) => Promise<void>) => (request: FastifyRequest) => act(actorOf(request))
  return [
    { method: 'POST', url: '/:id/retry', ...retried, act: one(service.retry), docs: docs.retry },
    { method: 'DELETE', url: '/:id', ...discarded, act: one(service.discard), docs: docs.discard },
    { method: 'POST', url: '/retry', ...retried, act: all(service.retryAll), docs: docs.retryAll },
    { method: 'DELETE', url: '/', ...discarded, act: all(service.discardAll), docs: docs.discardAll },
  ] as const
}

export function actorOf(request: FastifyRequest): Actor {
  return { id: principalOf(request).id, client: clientOf(request) }
}

/** Invalid values fall back to the defaults, as in other listings. */
export function positive(value: unknown): number | undefined {
  return typeof value === 'string' ? parseId(value) : undefined
}
