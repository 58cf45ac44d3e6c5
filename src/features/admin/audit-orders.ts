/** What the audit trail can be sorted and filtered by. */
import type { ListDefinition } from '../../platform/listing/list-definition.ts'

export const auditOrders: ListDefinition = {
  table: 'audit',
  condition: 'TRUE',
  fields: {
    at: { column: 'at', type: 'time', isSortable: true, filter: 'range' },
    event: { column: 'event', type: 'text', filter: 'equal' },
    outcome: { column: 'outcome', type: 'text', filter: 'equal' },
    user: { column: 'user_id', type: 'integer', filter: 'equal' },
    actor: { column: 'actor_id', type: 'integer', filter: 'equal' },
    address: { column: 'address', type: 'text', filter: 'equal' },
  },
  indexes: [
    { equal: [], order: 'at' },
    { equal: ['user'], order: 'at' },
    { equal: ['actor'], order: 'at' },
    { equal: ['address'], order: 'at' },
    { equal: ['event'], order: 'at' },
    { equal: ['outcome'], order: 'at', except: { field: 'outcome', value: 'success' } },
  ],
  defaultSort: { field: 'at', isDescending: true },
}
