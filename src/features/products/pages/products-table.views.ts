/** The rows of the list. Price and stock are links that make their row a form; with scripts, it does so in place. */

import type { ListParameters } from '../../../platform/pages/components/list-links.ts'
import { pickCell, pickHead } from '../../../platform/pages/components/row-picks.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Product } from '../product.ts'
import { valuesOf } from './form-fields.ts'
import { listAddress, listPath } from './list-address.ts'
import { type ListColumn, listColumns } from './list-columns.ts'
import { type Ordered, sortedHead } from './ordered.views.ts'

/** A row that is a form. */
export interface EditedRow {
  id: number
  /** The ETag of the product that is edited. */
  tag: string
  /** What was typed, by column. As it is saved where nothing was. */
  typed?: Readonly<Record<string, unknown>>
  /** What is wrong, by column. */
  problems?: Readonly<Record<string, readonly string[]>>
  note?: string
}

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
  if (!isEditable || !mayWrite) return html`${text}`
  const address = listAddress({ ...here, edit: String(product.id) })
  return html`<a class="edit" href="${address}" title="Change it" data-edit="${name}">${text}</a>`
}

const formIdOf = (id: number) => `edit-${id}`

function editCell(product: Product, { name, label, isEditable, toText }: ListColumn, form: EditedRow): Html {
  if (!isEditable) return html`${toText(product)}`
  const value = form.typed?.[name] ?? valuesOf(product)[name]
  const isWrong = form.problems?.[name] !== undefined
  return html`<input form="${formIdOf(product.id)}" name="${name}" value="${String(value ?? '')}" aria-label="${label} of ${product.name}" inputmode="${name === 'price' ? 'decimal' : 'numeric'}" autocomplete="off" maxlength="64"${
    isWrong && html` aria-invalid="true" aria-describedby="${formIdOf(product.id)}-note"`
  }>`
}

function editForm({ id, tag, problems = {}, note }: EditedRow, { here }: TableView): Html {
  const wrong = listColumns.flatMap(({ name, label }) =>
    problems[name] ? [`${label}: ${problems[name].join('. ')}.`] : [],
  )
  const told = [...(note === undefined ? [] : [note]), ...wrong]
  return html`<form id="${formIdOf(id)}" class="row edit-row" method="post" action="${listPath}/${id}/quick">
<input type="hidden" name="tag" value="${tag}"><input type="hidden" name="back" value="${new URLSearchParams(here).toString()}">
${told.length > 0 && html`<p class="error" id="${formIdOf(id)}-note" role="alert">${told.join(' ')}</p>`}
<button class="main">Save</button><a class="button quiet" href="${listAddress(here)}" data-edit-cancel>Cancel</a></form>`
}
