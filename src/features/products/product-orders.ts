/** What products can be sorted and filtered by. */
import type { ListDefinition } from '../../platform/listing/list-definition.ts'
import { toNameKey } from './product.ts'

export const productOrders: ListDefinition = {
  table: 'products',
  condition: 'deleted_at IS NULL',
  fields: {
    id: { column: 'id', type: 'integer', isSortable: true },
    name: { column: 'name_key', type: 'text', isSortable: true },
    price: { column: 'price_cents', type: 'cents', isSortable: true, filter: 'range' },
    stock: { column: 'stock', type: 'integer', isSortable: true, filter: 'range' },
    updated_at: { column: 'updated_at', type: 'time', isSortable: true, filter: 'range' },
    category: { column: 'category', type: 'text', filter: 'equal' },
    active: { column: 'active', type: 'boolean', filter: 'equal' },
  },
  indexes: [
    { equal: [], order: 'id' },
    { equal: ['active'], order: 'name' },
    { equal: ['category'], order: 'price' },
    { equal: ['active'], order: 'price' },
    { equal: ['active'], order: 'stock' },
    { equal: ['active'], order: 'updated_at' },
    { equal: ['category', 'active'], order: 'name' },
  ],
  search: { parameter: 'q', column: 'name_key', toKey: toNameKey },
  defaultSort: { field: 'id', isDescending: false },
}
