/** The rows of the list. Price and stock are links that make their row a form; with scripts, it does so in place. */

import type { ListParameters } from '../../../platform/pages/components/list-links.ts'
import { type EditedRow, editLink, rowControl, rowForm } from '../../../platform/pages/components/row-edit.ts'
import { pickCell, pickHead } from '../../../platform/pages/components/row-picks.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Product } from '../product.ts'
import { valuesOf } from './form-fields.ts'
import { listPath } from './list-address.ts'
import { type ListColumn, listColumns } from './list-columns.ts'
import { type Ordered, sortedHead } from './ordered.views.ts'

export interface TableView {
  /** What the list shows, and those of it that every link keeps. */
  here: ListParameters
  kept: ListParameters
  /** A search by name, which becomes a sorted list of active products. */
  found?: object
  columns: readonly ListColumn[]
  mayWrite: boolean
  ordered?: Ordered | undefined
  isPicked: boolean
  edited?: EditedRow | undefined
}

export function productsTable(products: readonly Product[], view: TableView): Html {
  const { columns, mayWrite } = view
  return html`<div class="card list"><table class="stack two-lines${mayWrite && ' picks'}">
<thead><tr>${mayWrite && pickHead()}${head({ label: 'Name', sort: 'name' }, view)}${columns.map((column) => head(column, view))}</tr></thead>
<tbody>
${products.map((product) => row(product, columns, view))}
</tbody></table></div>`
}

function head({ label, sort, isNumber = false }: Partial<ListColumn> & { label: string }, view: TableView): Html {
  const { ordered, found, here, kept } = view
  if (sort === undefined) {
    return html`<th scope="col"${isNumber && html` class="number"`}>${label}</th>`
  }
  const { page: _page, ...searched } = here
  return sortedHead(
    { field: sort, text: label, isNumber },
    ordered,
    found ? { ...searched, 'filter[active]': 'true' } : kept,
  )
}

function row(product: Product, shown: readonly ListColumn[], view: TableView): Html {
  const { id, name, version } = product
  const { mayWrite, isPicked, edited } = view
  const form = edited?.id === id ? edited : undefined
  return html`<tr data-id="${id}" data-version="${version}"${form && html` data-edited`}>
${mayWrite && pickCell({ value: `${id}:${version}`, label: name, isPicked })}
<td class="title"><a href="${listPath}/${id}">${name}</a>${form && editForm(form, view)}</td>
${shown.map((column) => html`<td${classOf(column)}>${form ? editCell(product, column, form) : cell(product, column, view)}</td>\n`)}</tr>
`
}

function classOf({ isNumber, place }: ListColumn): Html {
  return html` class="${isNumber && 'number '}${place ?? 'wide-only'}"`
}

function cell(product: Product, { name, isEditable, toText }: ListColumn, { mayWrite, here }: TableView): Html {
  const text = toText(product)
  return isEditable && mayWrite ? editLink({ path: listPath, query: here }, product.id, name, text) : html`${text}`
}

function editCell(product: Product, { name, label, isEditable, toText }: ListColumn, form: EditedRow): Html {
  if (!isEditable) return html`${toText(product)}`
  const value = form.typed?.[name] ?? valuesOf(product)[name]
  const inputmode = name === 'price' ? 'decimal' : 'numeric'
  return rowControl(form, { name, label: `${label} of ${product.name}`, value, inputmode })
}

function editForm(row: EditedRow, { here }: TableView): Html {
  const labels = listColumns.map(({ name, label }) => [name, label] as const)
  const list = { path: listPath, query: here }
  return rowForm({ row, action: `${listPath}/${row.id}/quick`, list, labels, saved: 'The product is saved.' })
}
