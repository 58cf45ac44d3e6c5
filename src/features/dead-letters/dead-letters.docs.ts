import { DateTime, Id, noContent, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'

const tag = {
  name: 'Dead letters',
  description:
    'Changes that a durable listener of an extension failed to handle, and mail that could not be delivered.',
}
const params = { id: Id }
const DeadLetterList = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          id: Id,
          listener: Type.String({ description: '`mail` for mail.' }),
          type: Type.String({
            description:
              'Type of the change, such as `product.created`, or of the mail, such as `mail.password_reset`.',
          }),
          entity_id: Type.Union([Type.Integer(), Type.Null()]),
          attempts: Type.Integer({ minimum: 1 }),
          error: Type.String({ description: 'Error of the last attempt.' }),
          failed_at: DateTime,
          retrying: Type.Boolean({ description: 'Another attempt was requested.' }),
        },
        { title: 'DeadLetter' },
      ),
    ),
    meta: Type.Object({ limit: Type.Integer(), more: Type.Boolean({ description: 'There are older ones.' }) }),
  },
  { title: 'DeadLetterList' },
)

const example = {
  id: 3,
  listener: 'search-index',
  type: 'product.created',
  entity_id: 7,
  attempts: 5,
  error: 'The index refused the document',
  failed_at: '2026-01-31T12:00:00.000Z',
  retrying: false,
}

export const docs = {
  list: {
    tag,
    operationId: 'listDeadLetters',
    summary: 'List dead letters',
    description:
      'Newest first. `limit` is 20 by default and at most 100; `before` is the id of the last one of the page before.',
    responses: { 200: response(DeadLetterList, { data: [example], meta: { limit: 20, more: false } }) },
  },
  retry: {
    tag,
    operationId: 'retryDeadLetter',
    summary: 'Retry a dead letter',
    description: 'Calls the listener, or sends the mail, once more. The dead letter is removed if this succeeds.',
    params,
    responses: { 204: noContent },
  },
  discard: {
    tag,
    operationId: 'discardDeadLetter',
    summary: 'Discard a dead letter',
    params,
    responses: { 204: noContent },
  },
  retryAll: {
    tag,
    operationId: 'retryAllDeadLetters',
    summary: 'Retry all dead letters',
    responses: { 204: noContent },
  },
  discardAll: {
    tag,
    operationId: 'discardAllDeadLetters',
    summary: 'Discard all dead letters',
    responses: { 204: noContent },
  },
} satisfies Record<string, RouteDocs>
