import { accountErrors } from '../../core/account-errors.ts'
import { PageMeta, pageQuery } from '../../platform/http/paging.ts'
import { CursorMeta, listQueryDocs } from '../../platform/listing/list-responses.ts'
import {
  DateTime,
  Email,
  Id,
  noContent,
  type RouteDocs,
  response,
  unixSeconds,
} from '../../platform/openapi/route-docs.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { userOrders, userStatuses } from './user-orders.ts'

export const tag = { name: 'Administration', description: 'Users as administrators see them, and the audit trail.' }
const params = { id: Id }
const nobodyAbove = 'Refused (403) if the user has a permission that you lack.'
export const othersOnly = `${nobodyAbove} Refused for yourself too: use the endpoints below /api/auth.`

export const ListedUser = Type.Object(
  {
    id: Id,
    email: Email,
    name: Type.String(),
    roles: Type.Array(Type.String()),
    two_factor: Type.Boolean({ description: 'Whether it is on.' }),
    locked_until: Type.Union([Type.Integer(unixSeconds), Type.Null()], { description: 'In Unix seconds.' }),
    disabled_at: Type.Union([DateTime, Type.Null()], { description: 'Null while the user may sign in.' }),
    email_verified_at: Type.Union([DateTime, Type.Null()]),
    created_at: DateTime,
  },
  { title: 'ListedUser' },
)
const UserPage = Type.Object({ data: Type.Array(ListedUser), meta: PageMeta }, { title: 'UserPage' })
const SortedUsers = Type.Object({ data: Type.Array(ListedUser), meta: CursorMeta }, { title: 'SortedUsers' })
export const UserEnvelope = Type.Object({ data: ListedUser }, { title: 'UserEnvelope' })

export const user = {
  id: 2,
  email: 'bob@example.com',
  name: 'Bob',
  roles: ['editor'],
  two_factor: false,
  locked_until: null,
  disabled_at: null,
  email_verified_at: '2026-01-01T00:00:00.000Z',
  created_at: '2026-01-01T00:00:00.000Z',
}
const meta = { total: 1, page: 1, per_page: 20, last_page: 1 }

export const docs = {
  users: {
    tag,
    operationId: 'listUsers',
    summary: 'List users',
    description:
      'In the order of registration. With `sort`, `filter[…]` or `cursor`, pages in that order, of who passes all filters: go ' +
      'on from `meta.next` until it is null. A page may have fewer users than `per_page` before that, where many have to be ' +
      'looked at. `active` are those who are not disabled.',
    query: {
      q: Type.String({ description: 'A part of the email or the name. Not together with `sort` or `filter[…]`.' }),
      ...pageQuery,
      ...listQueryDocs(userOrders),
    },
    responses: {
      200: {
        schema: Type.Union([UserPage, SortedUsers]),
        examples: {
          listing: { data: [user], meta },
          sorted: { data: [user], meta: { total: 1, per_page: 20, next: null, prev: null } },
        },
        headers: {
          link: Type.String({ description: 'Of a sorted page: the previous and the next one, by RFC 8288.' }),
        },
      },
    },
    errors: [validationFailed({ 'filter[status]': [`Must be one of ${userStatuses.join(', ')}`] })],
  },
  setRoles: {
    tag,
    operationId: 'setUserRoles',
    summary: "Set a user's roles",
    description: `You can grant and remove only roles whose permissions you have. ${nobodyAbove}`,
    params,
    body: { example: { roles: ['editor'] } },
    responses: { 200: response(UserEnvelope, { data: user }) },
    errors: [accountErrors.lastAdministrator(), validationFailed({ roles: ['Unknown role: typist'] })],
  },
  lock: {
    tag,
    operationId: 'unlockUser',
    summary: 'Unlock a user',
    description: `Ends a lock-out. ${othersOnly}`,
    params,
    responses: { 204: noContent },
  },
  '2fa': {
    tag,
    operationId: 'resetUserTwoFactor',
    summary: "Reset a user's second factor",
    description: `Turns it off and removes all passkeys, for users who have lost the app and the recovery codes. ${othersOnly}`,
    params,
    responses: { 204: noContent },
  },
  sessions: {
    tag,
    operationId: 'endUserSessions',
    summary: "End a user's sessions",
    description: othersOnly,
    params,
    responses: { 204: noContent },
  },
} satisfies Record<string, RouteDocs>
