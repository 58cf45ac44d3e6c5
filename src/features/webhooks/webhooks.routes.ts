import type { FastifyInstance, FastifyReply } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { idOf, parseId } from '../../platform/http/ids.ts'
import { actorOf } from './request-actor.ts'
import { mayCreate, mayDelete, mayUpdate, mayView, refusedAs } from './webhooks.access.ts'
import type { WebhooksService } from './webhooks.create.ts'
import { docs } from './webhooks.docs.ts'
import { readDeliveryStatus } from './webhooks.schema.ts'
import type { WithSecret } from './webhooks.service.ts'

export const webhooksPath = '/api/admin/webhooks'

type Served = Pick<WebhooksService, 'webhooks' | 'deliveries' | 'schemas'>

/** A plugin, so that all its routes require a token, including future ones. */
export async function webhookRoutes(app: FastifyInstance, service: Served): Promise<void> {
  app.requireForAll('authenticated')
  addEndpointRoutes(app, service)
  addDeliveryRoutes(app, service)
}

function addEndpointRoutes(app: FastifyInstance, { webhooks, schemas }: Served): void {
  app.get('/', { config: { access: mayView, docs: docs.list } }, async () => ({ data: await webhooks.list() }))

  app.post(
    '/',
    {
      config: { access: mayCreate, audit: refusedAs('webhook_created'), docs: docs.create },
      schema: { body: schemas.NewWebhook },
    },
    async (request, reply) => sendSecret(reply.code(201), await webhooks.create(request.body, actorOf(request))),
  )

  app.get('/:id', { config: { access: mayView, docs: docs.get } }, async (request) => ({
    data: await webhooks.find(idOf(request)),
  }))

  app.put(
    '/:id',
    {
      config: { access: mayUpdate, audit: refusedAs('webhook_changed'), docs: docs.change },
      schema: { body: schemas.WebhookEdit },
    },
    async (request) => ({ data: await webhooks.change(idOf(request), request.body, actorOf(request)) }),
  )

  app.delete(
    '/:id',
    { config: { access: mayDelete, audit: refusedAs('webhook_deleted'), docs: docs.remove } },
    async (request, reply) => {
      await webhooks.remove(idOf(request), actorOf(request))
      return reply.code(204).send()
    },
  )

  app.post(
    '/:id/secret',
    { config: { access: mayUpdate, audit: refusedAs('webhook_secret_replaced'), docs: docs.replaceSecret } },
    async (request, reply) => sendSecret(reply, await webhooks.replaceSecret(idOf(request), actorOf(request))),
  )
}

const defaultLimit = 20
const maxLimit = 100

function addDeliveryRoutes(app: FastifyInstance, { deliveries }: Served): void {
  app.post('/:id/test', { config: { access: mayUpdate, docs: docs.test } }, async (request) => ({
    data: await deliveries.test(idOf(request)),
  }))

  app.get<{ Querystring: Record<string, unknown> }>(
    '/:id/deliveries',
    { config: { access: mayView, docs: docs.deliveries } },
    async (request) => {
      const limit = Math.min(positive(request.query.limit) ?? defaultLimit, maxLimit)
      const before = positive(request.query.before) ?? Number.MAX_SAFE_INTEGER
      const status = readDeliveryStatus(request.query['filter[status]'])
      const found = await deliveries.list(idOf(request), { before, limit: limit + 1, status }, principalOf(request))
      const data = found.slice(0, limit)
      return { data, meta: { limit, more: found.length > limit } }
    },
  )

  app.post<{ Params: { delivery: string } }>(
    '/:id/deliveries/:delivery/retry',
    { config: { access: mayUpdate, docs: docs.retry } },
    async (request) => ({
      data: await deliveries.retry(idOf(request), parseId(request.params.delivery), principalOf(request)),
    }),
  )
}

/** Invalid values fall back to the defaults, as in other listings. */
function positive(given: unknown): number | undefined {
  return typeof given === 'string' ? parseId(given) : undefined
}

/** The secret is also beside the endpoint, where the key of a new API key is. */
function sendSecret(reply: FastifyReply, { webhook, secret }: WithSecret): FastifyReply {
  return reply.header('cache-control', 'no-store').send({ data: { ...webhook, secret }, secret })
}
