import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { idOf, parseId } from '../../../platform/http/ids.ts'
import type { Values } from '../../../platform/pages/components/forms.ts'
import { atListField, createRefuse, type Refusal } from '../../../platform/pages/components/refusals.ts'
import { reword } from '../../../platform/pages/components/reword.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { OrEmpty } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import { actorOf } from '../request-actor.ts'
import type { Delivery } from '../webhook.ts'
import { mayCreate, mayDelete, mayUpdate, mayView, refusedAs } from '../webhooks.access.ts'
import type { WebhooksService } from '../webhooks.create.ts'
import { readDeliveryStatus } from '../webhooks.schema.ts'
import { newWebhookPage, secretPage } from './new-webhook.views.ts'
import { webhookPage } from './webhook.views.ts'
import { chooseWebhooks } from './webhook-list.ts'
import { webhooksPage } from './webhooks.views.ts'

const path = '/console/webhooks'
const perPage = 20
const notDelivered = 'The message was not delivered. The list of deliveries says why.'
const sentences = {
  forbidden: 'Account events (*, user.*, session.*) need the permissions users.view and audit.view.',
  too_many_webhooks: 'There are as many webhooks as there may be. Delete one that is no longer needed.',
  change_is_no_longer_kept: 'The change is no longer in the log, so it cannot be sent again.',
}

const view = { access: mayView, docs: false } as const
const update = { access: [mayView, mayUpdate], docs: false } as const
const create = { access: [mayView, mayCreate], audit: refusedAs('webhook_created'), docs: false } as const
const remove = { access: [mayView, mayDelete], audit: refusedAs('webhook_deleted'), docs: false } as const
/** Validated below, where problems are shown with the form. */
const Form = Type.Object({ url: OrEmpty, types: OrEmpty, description: OrEmpty })

type Parts = PageKit & WebhooksService

export function addWebhookPages(app: FastifyInstance, parts: Parts): void {
  addNewPages(app, parts)
  const show = createShow(parts)
  addWebhookPage(app, parts, show)
  addActs(app, parts, show)
}

function addNewPages(app: FastifyInstance, { webhooks, validateNew, allowPrivate, listConsumers, send }: Parts): void {
  const refuse = createRefuse(send)
  const types = webhooks.knownTypes

  app.get<{ Querystring: Record<string, unknown> }>('/webhooks', { config: view }, async (request, reply) => {
    const canCreate = principalOf(request).can(mayCreate.permission)
    const [all, consumers] = await Promise.all([webhooks.list(), listConsumers()])
    const chosen = chooseWebhooks(all, request.query)
    return send(request, reply, webhooksPage({ chosen, hasAny: all.length > 0, consumers, canCreate }))
  })

  app.get('/webhooks/new', { config: create }, async (request, reply) =>
    send(request, reply, newWebhookPage({ knownTypes: types(), allowPrivate })),
  )

  app.post('/webhooks', { config: create, schema: { body: Form } }, async (request, reply) => {
    try {
      const made = await webhooks.create(validateNew(toBody(request.body)), actorOf(request))
      return send(request, reply.header('cache-control', 'no-store'), secretPage(made))
    } catch (error) {
      return refuse({ request, reply, error: reword(error, sentences) }, (refusal) =>
        newWebhookPage({
          knownTypes: types(),
          allowPrivate,
          values: request.body,
          refusal: atListField(refusal, 'types'),
        }),
      )
    }
  })
}

type Show = (request: FastifyRequest, refused?: { values?: Values; refusal?: Refusal }) => Promise<Page>

function createShow({ webhooks, deliveries, allowPrivate }: Parts): Show {
  return async (request, refused = {}) => {
    const id = idOf(request)
    const asked = request.query as Record<string, unknown>
    const from = typeof asked.before === 'string' ? parseId(asked.before) : undefined
    const status = readDeliveryStatus(asked['filter[status]'])
    const principal = principalOf(request)
    const [webhook, found] = await Promise.all([
      webhooks.find(id),
      deliveries.list(id, { before: from ?? Number.MAX_SAFE_INTEGER, limit: perPage + 1, status }, principal),
    ])
    return webhookPage({
      webhook,
      deliveries: found.slice(0, perPage),
      hasOlder: found.length > perPage,
      isFirst: from === undefined,
      status,
      canChange: principal.can(mayUpdate.permission),
      canDelete: principal.can(mayDelete.permission),
      knownTypes: webhooks.knownTypes(),
      allowPrivate,
      ...refused,
    })
  }
}

function addWebhookPage(app: FastifyInstance, { webhooks, validateEdit, notices, send }: Parts, show: Show): void {
  const refuse = createRefuse(send)

  app.get('/webhooks/:id', { config: view }, async (request, reply) => send(request, reply, await show(request)))

  app.post(
    '/webhooks/:id/edit',
    { config: { ...update, audit: refusedAs('webhook_changed') }, schema: { body: Form } },
    async (request, reply) => {
      try {
        const { id } = await webhooks.change(idOf(request), validateEdit(toBody(request.body)), actorOf(request))
        return notices.redirect(reply, { address: `${path}/${id}`, notice: 'webhook-saved' })
      } catch (error) {
        return refuse({ request, reply, error: reword(error, sentences) }, (refusal) =>
          show(request, { values: request.body, refusal: atListField(refusal, 'types') }),
        )
      }
    },
  )
}

function addActs(app: FastifyInstance, { webhooks, deliveries, notices, send }: Parts, show: Show): void {
  const refuse = createRefuse(send)
  const tell = async (request: FastifyRequest, reply: FastifyReply, { status }: Delivery) =>
    status === 'delivered'
      ? notices.redirect(reply, { address: `${path}/${idOf(request)}`, notice: 'webhook-delivered' })
      : send(request, reply, await show(request, { refusal: { problems: { message: notDelivered, fields: {} } } }))

  for (const [name, enabled] of [
    ['on', true],
    ['off', false],
  ] as const) {
    app.post(
      `/webhooks/:id/${name}`,
      { config: { ...update, audit: refusedAs('webhook_changed') } },
      async (request, reply) => {
        const { id } = await webhooks.change(idOf(request), { enabled }, actorOf(request))
        return notices.redirect(reply, { address: `${path}/${id}`, notice: `webhook-${name}` })
      },
    )
  }

  app.post('/webhooks/:id/test', { config: update }, async (request, reply) =>
    tell(request, reply, await deliveries.test(idOf(request))),
  )

  app.post(
    '/webhooks/:id/secret',
    { config: { ...update, audit: refusedAs('webhook_secret_replaced') } },
    async (request, reply) => {
      const made = await webhooks.replaceSecret(idOf(request), actorOf(request))
      return send(request, reply.header('cache-control', 'no-store'), secretPage({ ...made, isReplaced: true }))
    },
  )

  app.post(
    '/webhooks/:id/delete',
    { config: { ...remove, audit: refusedAs('webhook_deleted') } },
    async (request, reply) => {
      await webhooks.remove(idOf(request), actorOf(request))
      return notices.redirect(reply, { address: path, notice: 'webhook-deleted' })
    },
  )

  app.post<{ Params: { delivery: string } }>(
    '/webhooks/:id/deliveries/:delivery/retry',
    { config: update },
    async (request, reply) => {
      try {
        return tell(
          request,
          reply,
          await deliveries.retry(idOf(request), parseId(request.params.delivery), principalOf(request)),
        )
      } catch (error) {
        return refuse({ request, reply, error: reword(error, sentences) }, (refusal) => show(request, { refusal }))
      }
    },
  )
}

/** Converts the form to the body of the API. */
function toBody({ url, types, description }: { url: string; types: string; description: string }) {
  return { url: url.trim(), types: types.split(/[\s,]+/).filter((type) => type !== ''), description }
}
