import { accountErrors } from '../../core/account-errors.ts'
import { PageMeta, pageQuery } from '../../platform/http/paging.ts'
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

export const tag = { name: 'Administration', description: 'Users as administrators see them, and the audit trail.' }
const params = { id: Id }
export const nobodyAbove = 'It is refused where the user holds a permission that you lack.'

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
const Roles = Type.Array(Type.String())
const TextOrNone = Type.Union([Type.String(), Type.Null()])
const Changes = Type.Object({
  roles: Type.Optional(Type.Object({ from: Roles, to: Roles })),
  name: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() })),
  email: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
  api_key: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
  api_key_name: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
})
const AuditEntry = Type.Object(
  {
    at: DateTime,
    event: Type.String(),
    user_id: Type.Union([Type.Integer({ format: 'int64' }), Type.Null()], { description: 'The affected user.' }),
    address: Type.String(),
    user_agent: Type.String(),
    outcome: Type.String({
      description: '`success`, `failure`, `locked`, `refused`, `second_factor_required` or `reuse`.',
    }),
    actor_id: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The authenticated user who did it. Null for the command line and for anonymous attempts.',
    }),
    changes: Type.Union([Changes, Type.Null()], { description: 'Old and new values, also of a refused change.' }),
  },
  { title: 'AuditEntry' },
)
const UserPage = Type.Object({ data: Type.Array(ListedUser), meta: PageMeta }, { title: 'UserPage' })
export const UserEnvelope = Type.Object({ data: ListedUser }, { title: 'UserEnvelope' })
const AuditPage = Type.Object({ data: Type.Array(AuditEntry), meta: PageMeta }, { title: 'AuditPage' })

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
    query: { q: Type.String({ description: 'A part of the email or the name.' }), ...pageQuery },
    responses: { 200: response(UserPage, { data: [user], meta }) },
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
    description: `Ends a lock-out. ${nobodyAbove}`,
    params,
    responses: { 204: noContent },
  },
  '2fa': {
    tag,
    operationId: 'resetUserTwoFactor',
    summary: "Reset a user's second factor",
    description: `Turns it off, for users who have lost the app and the recovery codes. ${nobodyAbove}`,
    params,
    responses: { 204: noContent },
  },
  sessions: {
    tag,
    operationId: 'endUserSessions',
    summary: "End a user's sessions",
    description: nobodyAbove,
    params,
    responses: { 204: noContent },
  },
  audit: {
    tag,
    operationId: 'listAuditEntries',
    summary: 'Read the audit trail',
    description: 'What happened to accounts, the newest first.',
    query: pageQuery,
    responses: {
      200: response(AuditPage, {
        data: [
          {
            at: '2026-01-01T00:00:00.000Z',
            event: 'login',
            user_id: 2,
            address: '203.0.113.7',
            user_agent: 'curl/8.14.1',
            outcome: 'success',
            actor_id: 2,
            changes: null,
          },
          {
            at: '2026-01-01T00:00:00.000Z',
            event: 'roles_changed',
            user_id: 2,
            address: '203.0.113.7',
            user_agent: 'curl/8.14.1',
            outcome: 'success',
            actor_id: 1,
            changes: { roles: { from: ['viewer'], to: ['editor'] } },
          },
        ],
        meta,
      }),
    },
  },
} satisfies Record<string, RouteDocs>
