import { PageMeta, pageQuery } from '../../platform/http/paging.ts'
import { CursorMeta, listQueryDocs } from '../../platform/listing/list-responses.ts'
import { DateTime, type RouteDocs } from '../../platform/openapi/route-docs.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { tag } from './admin.docs.ts'
import { auditOrders } from './audit-orders.ts'

const Roles = Type.Array(Type.String())
const IdOrNone = Type.Union([Type.Integer(), Type.Null()])
const TextOrNone = Type.Union([Type.String(), Type.Null()])
/** How many credentials a new password or a reset of two-factor removed. */
const Removed = Type.Object({ from: Type.Integer(), to: Type.Integer() })
/** One field for each that features write. Extensions may have more. */
const Changes = Type.Object(
  {
    roles: Type.Optional(Type.Object({ from: Roles, to: Roles })),
    name: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() })),
    email: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
    api_key: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
    api_key_name: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
    passkey: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
    passkey_name: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
    passkeys: Type.Optional(Removed),
    api_keys: Type.Optional(Removed),
    pending_two_factor: Type.Optional(Removed),
    webhook: Type.Optional(Type.Object({ from: IdOrNone, to: IdOrNone })),
    url: Type.Optional(Type.Object({ from: TextOrNone, to: TextOrNone })),
    types: Type.Optional(Type.Object({ from: Type.Union([Roles, Type.Null()]), to: Roles })),
    description: Type.Optional(Type.Object({ from: Type.String(), to: Type.String() })),
    enabled: Type.Optional(Type.Object({ from: Type.Boolean(), to: Type.Boolean() })),
  },
  { additionalProperties: Type.Object({ from: Type.Unknown(), to: Type.Unknown() }) },
)
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
    changes: Type.Union([Changes, Type.Null()], {
      description:
        'Old and new values by field, also of a refused change. Without `users.view` emails and names are left out.',
    }),
  },
  { title: 'AuditEntry' },
)
const AuditPage = Type.Object({ data: Type.Array(AuditEntry), meta: PageMeta }, { title: 'AuditPage' })
const SortedAuditPage = Type.Object({ data: Type.Array(AuditEntry), meta: CursorMeta }, { title: 'SortedAuditPage' })

const entries = [
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
]

export const docs = {
  audit: {
    tag,
    operationId: 'listAuditEntries',
    summary: 'Read the audit trail',
    description:
      'What happened to accounts, the newest first. With `sort`, `filter[…]` or `cursor`, pages in that order, of what passes ' +
      'all filters: go on from `meta.next` until it is null. A page may have fewer entries than `per_page` before that, where ' +
      'many have to be looked at. `filter[user]` is the number of the affected user, `filter[actor]` that of who did it.',
    query: { ...pageQuery, ...listQueryDocs(auditOrders) },
    responses: {
      200: {
        schema: Type.Union([AuditPage, SortedAuditPage]),
        examples: {
          listing: { data: entries, meta: { total: 2, page: 1, per_page: 20, last_page: 1 } },
          sorted: { data: entries, meta: { total: 2, per_page: 20, next: null, prev: null } },
        },
        headers: {
          link: Type.String({ description: 'Of a sorted page: the previous and the next one, by RFC 8288.' }),
        },
      },
    },
    errors: [validationFailed({ 'filter[user]': ['Must be an integer'] })],
  },
} satisfies Record<string, RouteDocs>
