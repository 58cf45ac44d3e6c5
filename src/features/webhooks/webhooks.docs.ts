import { DateTime, Id, noContent, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { changeNoLongerKept } from './deliveries.service.ts'
import { deliveryStatuses } from './webhook.ts'
import { tooManyWebhooks } from './webhooks.service.ts'

const tag = {
  name: 'Webhooks',
  description:
    'Endpoints that are told what has changed, by the [Standard Webhooks](https://www.standardwebhooks.com) specification.',
}
const params = { id: Id }
const TimeOrNone = Type.Union([DateTime, Type.Null()])

const fields = {
  id: Id,
  url: Type.String(),
  types: Type.Array(Type.String(), { description: 'Such as `product.created`, `product.*` or `*`.' }),
  description: Type.String(),
  enabled: Type.Boolean(),
  off_reason: Type.Union([Type.String(), Type.Null()], {
    description:
      '`failures` after three days without success, `person` if somebody switched it off. Null while it is on.',
  }),
  off_since: TimeOrNone,
  failures: Type.Integer({ minimum: 0, description: 'Consecutive failed attempts.' }),
  failing_since: TimeOrNone,
  next_attempt_at: TimeOrNone,
  created_at: DateTime,
  updated_at: DateTime,
}
const Secret = Type.String({ description: '`whsec_` and base64. It is shown this once.' })
const Webhook = Type.Object(fields, { title: 'Webhook' })
const WebhookEnvelope = Type.Object({ data: Webhook }, { title: 'WebhookEnvelope' })
const WebhookList = Type.Object({ data: Type.Array(Webhook) }, { title: 'WebhookList' })
const WebhookMade = Type.Object(
  { data: Type.Object({ ...fields, secret: Secret }, { title: 'WebhookWithSecret' }), secret: Secret },
  { title: 'WebhookMade' },
)

const Delivery = Type.Object(
  {
    id: Id,
    message_id: Type.String({
      description:
        'The header `webhook-id`: the same in every attempt. For a product, it ends with the `version` of the change.',
    }),
    type: Type.String(),
    status: Type.String({ description: '`delivered` or `failed`, by the last attempt.' }),
    attempts: Type.Integer({ minimum: 1 }),
    response_status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Null if there was no answer; `error` then says why.',
    }),
    response: Type.String({ description: 'The beginning of the answer.' }),
    error: Type.Union([Type.String(), Type.Null()]),
    duration_ms: Type.Integer({ minimum: 0 }),
    created_at: DateTime,
    attempted_at: DateTime,
  },
  { title: 'WebhookDelivery' },
)
const DeliveryEnvelope = Type.Object({ data: Delivery }, { title: 'WebhookDeliveryEnvelope' })
const DeliveryList = Type.Object(
  {
    data: Type.Array(Delivery),
    meta: Type.Object({ limit: Type.Integer(), more: Type.Boolean({ description: 'There are older ones.' }) }),
  },
  { title: 'WebhookDeliveryList' },
)

const example = {
  id: 1,
  url: 'https://shop.example.com/hooks/latchkey',
  types: ['product.*'],
  description: 'Keeps the shop up to date.',
  enabled: true,
  off_reason: null,
  off_since: null,
  failures: 0,
  failing_since: null,
  next_attempt_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
}
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
const delivery = {
  id: 7,
  message_id: 'msg_5f3a9c0d7e1b4826a0c5d9e3f7182b64_3',
  type: 'product.created',
  status: 'delivered',
  attempts: 1,
  response_status: 204,
  response: '',
  error: null,
  duration_ms: 34,
  created_at: '2026-01-31T12:00:00.000Z',
  attempted_at: '2026-01-31T12:00:00.000Z',
}

export const docs = {
  list: {
    tag,
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    responses: { 200: response(WebhookList, { data: [example] }) },
  },
  create: {
    tag,
    operationId: 'createWebhook',
    summary: 'Make a webhook',
    description:
      'It is told of everything of these types that is committed from now on, in order and at least once. Only https, and only addresses of the public internet, unless `webhooks.allow_private` is set. At most 100.',
    body: {
      example: { url: example.url, types: example.types, description: example.description },
      fields: {
        url: 'Answers 2xx within ten seconds. Redirects are not followed.',
        types: 'Such as `product.created`, `product.*`, `user.locked`, `session.reuse_detected` or `*`.',
        description: 'What it is for.',
      },
    },
    responses: { 201: response(WebhookMade, { data: { ...example, secret }, secret }) },
    errors: [tooManyWebhooks()],
  },
  get: {
    tag,
    operationId: 'getWebhook',
    summary: 'Get a webhook',
    params,
    responses: { 200: response(WebhookEnvelope, { data: example }) },
  },
  change: {
    tag,
    operationId: 'updateWebhook',
    summary: 'Change a webhook, or switch it on or off',
    description:
      'Fields that are left out stay as they are. What waits is sent at once. Switched on again, it goes on where it stopped.',
    params,
    body: {
      example: { types: ['product.created'], enabled: true },
      fields: { enabled: 'False switches it off, true on again.' },
    },
    responses: { 200: response(WebhookEnvelope, { data: { ...example, types: ['product.created'] } }) },
  },
  remove: {
    tag,
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    params,
    responses: { 204: noContent },
  },
  replaceSecret: {
    tag,
    operationId: 'replaceWebhookSecret',
    summary: 'Replace the secret',
    description: 'For 24 hours messages carry signatures by both secrets.',
    params,
    responses: { 200: response(WebhookMade, { data: { ...example, secret }, secret }) },
  },
  test: {
    tag,
    operationId: 'testWebhook',
    summary: 'Send a test message',
    description: 'Sends a message of the type `webhook.test` now, and returns how that went. It is not repeated.',
    params,
    responses: { 200: response(DeliveryEnvelope, { data: { ...delivery, type: 'webhook.test' } }) },
  },
  deliveries: {
    tag,
    operationId: 'listWebhookDeliveries',
    summary: 'List deliveries',
    description: 'The newest first. They are kept for seven days after the last attempt.',
    params,
    query: {
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
      before: Type.Integer({ minimum: 1, description: 'The id of the last one of the page before.' }),
      'filter[status]': Type.Union(deliveryStatuses.map((status) => Type.Literal(status))),
    },
    responses: { 200: response(DeliveryList, { data: [delivery], meta: { limit: 20, more: false } }) },
    errors: [validationFailed({ 'filter[status]': [`Must be one of ${deliveryStatuses.join(', ')}`] })],
  },
  retry: {
    tag,
    operationId: 'retryWebhookDelivery',
    summary: 'Send a message again',
    description: 'Now, with the same `webhook-id`, and returns how that went.',
    params: { id: Id, delivery: Id },
    responses: { 200: response(DeliveryEnvelope, { data: { ...delivery, attempts: 2 } }) },
    errors: [changeNoLongerKept()],
  },
} satisfies Record<string, RouteDocs>
