/** The columns of the list beside the name, which is always there. */
import type { ChoosableColumn } from '../../../platform/pages/components/columns.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import { formatPrice, type Product } from '../product.ts'

export interface ListColumn extends ChoosableColumn {
  /** What the list can be sorted by. */
  sort?: string
  isNumber?: boolean
  /** Can be changed in the list. */
  isEditable?: boolean
  /** Its place in the two lines of a row on a phone, where columns without one are hidden. */
  place?: 'first-end' | 'second-start' | 'second-end'
  toText(product: Product): Html | string
}

export const listColumns: readonly ListColumn[] = [
  { name: 'id', label: 'ID', isExtra: true, sort: 'id', isNumber: true, toText: ({ id }) => String(id) },
  { name: 'slug', label: 'Slug', isExtra: true, toText: ({ slug }) => slug },
  { name: 'category', label: 'Category', place: 'second-start', toText: ({ category }) => category },
  {
    name: 'price',
    label: 'Price',
    sort: 'price',
    isNumber: true,
    isEditable: true,
    place: 'first-end',
    toText: ({ price_cents }) => formatPrice(price_cents),
  },
  {
    name: 'stock',
    label: 'Stock',
    sort: 'stock',
    isNumber: true,
    isEditable: true,
    toText: ({ stock }) => stock.toLocaleString('en'),
  },
  { name: 'status', label: 'Status', place: 'second-end', toText: statusBadge },
  { name: 'created', label: 'Created', isExtra: true, toText: ({ created_at }) => time(created_at) },
  {
    name: 'changed',
    label: 'Changed',
    isExtra: true,
    sort: 'updated_at',
    toText: ({ updated_at }) => time(updated_at),
  },
]

export function statusBadge({ active, stock }: Pick<Product, 'active' | 'stock'>): Html {
  if (!active) return html`<span class="badge">Inactive</span>`
  return stock > 0 ? html`<span class="badge good">In stock</span>` : html`<span class="badge bad">Sold out</span>`
}
