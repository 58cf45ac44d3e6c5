/** What users can be sorted and filtered by. */
import type { ListDefinition, ListQuery } from '../../platform/listing/list-definition.ts'
import { readListQuery } from '../../platform/listing/list-query.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'

export const userStatuses = ['active', 'disabled', 'locked', 'invited'] as const
export type UserStatus = (typeof userStatuses)[number]

/** Read by user-list.store.ts: what users are filtered by is in several tables. */
export const userOrders: ListDefinition = {
  table: 'users',
  condition: 'TRUE',
  fields: {
    // Ids are in the order of registration.
    created_at: { column: 'id', type: 'integer', isSortable: true },
    email: { column: 'email', type: 'text', isSortable: true },
    name: { column: 'name_key', type: 'text', isSortable: true },
    status: { column: 'status', type: 'text', filter: 'equal', values: userStatuses },
    role: { column: 'roles', type: 'text', filter: 'equal' },
    two_factor: { column: 'two_factor', type: 'boolean', filter: 'equal' },
  },
  indexes: [],
  defaultSort: { field: 'created_at', isDescending: false },
}

/** A search reads all users, so it is not sorted too. Throws 422 with all that is wrong. */
export function readUserQuery(query: Readonly<Record<string, unknown>>): ListQuery {
  const { q } = query
  if (typeof q === 'string' && q.trim() !== '') {
    throw validationFailed({ q: ['Cannot be combined with sort, filter or cursor'] })
  }
  return readListQuery(query, userOrders)
}
