import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { DateTime, Id, noContent, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { tooManyKeys } from './api-keys.service.ts'

const tag = { name: 'API keys', description: 'For programs that act as a user.' }
const administration = 'Administration'

const ApiKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    hint: Type.String({ description: 'The first seven and the last four characters of the key.' }),
    permissions: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'Such as `posts.view` or `posts.*`. Null: all that the owner may.',
    }),
    expires_at: Type.Union([DateTime, Type.Null()], { description: 'Null: never.' }),
    created_at: DateTime,
    last_used_at: Type.Union([DateTime, Type.Null()], { description: 'To the minute. Null: never.' }),
  },
  { title: 'ApiKey' },
)
const ApiKeyList = Type.Object({ data: Type.Array(ApiKey) }, { title: 'ApiKeyList' })
const ApiKeyMade = Type.Object(
  { data: ApiKey, key: Type.String({ description: 'The key itself. It is shown this once.' }) },
  { title: 'ApiKeyMade' },
)

const example = {
  id: '8Qm2cV1xRr6Yt0aZkLw3Ng',
  name: 'Deploy',
  hint: 'lk_4fT9…0Xb2',
  permissions: ['posts.view', 'products.*'],
  expires_at: '2030-01-31T12:00:00.000Z',
  created_at: '2026-01-31T12:00:00.000Z',
  last_used_at: null,
}
const list = { responses: { 200: response(ApiKeyList, { data: [example] }) } }

export const docs = {
  list: {
    tag,
    operationId: 'listApiKeys',
    summary: 'List my API keys',
    description: 'The newest first. A key that has expired stays in the list for 30 days.',
    ...list,
  },
  create: {
    tag,
    operationId: 'createApiKey',
    summary: 'Make an API key',
    description:
      'The key is a Bearer token that acts as you. It may do what both you and its permissions allow at that time; with permissions it holds no roles, and changes only data that they name (`products.create`, `posts.*`), also where you need only a token. With `[]` it reads public data. Nothing below `/api/auth` but `GET /api/auth/me` takes it. At most 50 that have not expired.',
    body: {
      example: { name: 'Deploy', permissions: ['posts.view', 'products.*'], expires_at: '2099-01-31T12:00:00Z' },
      fields: {
        name: 'What it is for.',
        permissions: 'Such as `posts.view`, `posts.*` or `*`. Left out or null: all that you may.',
        expires_at: 'In ISO 8601 with a time zone, in the future. Left out or null: never.',
      },
    },
    responses: {
      201: response(ApiKeyMade, { data: example, key: 'lk_4fT9sKq0Zp3VbN7xWc2RdY8mHj5LgA1uE6o1K0Xb2' }),
    },
    errors: [tooManyKeys(), tooManyAttempts(30)],
  },
  end: {
    tag,
    operationId: 'endApiKey',
    summary: 'End an API key',
    description: 'From the next request on it is refused, and connections that it holds open are closed.',
    responses: { 204: noContent },
  },
  listOfUser: {
    tag: administration,
    operationId: 'listUserApiKeys',
    summary: "List a user's API keys",
    params: { id: Id },
    ...list,
  },
  endOfUser: {
    tag: administration,
    operationId: 'endUserApiKey',
    summary: "End a user's API key",
    description:
      'Refused (403) for a user who has permissions that you lack, and for yourself: use `DELETE /api/auth/keys/{id}`.',
    params: { id: Id },
    responses: { 204: noContent },
  },
} satisfies Record<string, RouteDocs>
