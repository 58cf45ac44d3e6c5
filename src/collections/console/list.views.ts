/** The list of a collection. */
import type { SortedPage } from '../../platform/listing/sorted-list.store.ts'
import { bulkBar } from '../../platform/pages/components/bulk-bar.ts'
import { type Column, columnForm, columnTable } from '../../platform/pages/components/columns.ts'
import { emptyList } from '../../platform/pages/components/empty-list.ts'
import { field as inputField } from '../../platform/pages/components/forms.ts'
import { countLine } from '../../platform/pages/components/list-counts.ts'
import { hiddenFields, rangeFields, selectField, textField } from '../../platform/pages/components/list-fields.ts'
import {
  cursorPager,
  type ListParameters,
  listAddress,
  type ShownList,
  wholeListAddress,
} from '../../platform/pages/components/list-links.ts'
import {
  type EditedRow,
  editLink,
  type GoneRow,
  goneRow,
  rowControl,
  rowEditScript,
  rowForm,
} from '../../platform/pages/components/row-edit.ts'
import { pickCell, pickHead } from '../../platform/pages/components/row-picks.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'
import type { Row } from '../actor.ts'
import { comparedTypeOf, type Described, type DescribedField, maxTextOf } from '../declare/describe.ts'
import { shownFieldsOf } from '../service.ts'
import { filtersOf, hasBounds, sortsOf } from '../store/lists.ts'
import { isLong, labelOf, one, pathOf, plural, showValue, type Titles, titleOf, words, wordsFor } from './fields.ts'
import { optionsOf, relationAttributes, relationScript, textOf } from './form-fields.ts'

export type BulkAction = readonly [value: string, words: string]

export interface ListView {
  page: Omit<SortedPage<Row>, 'rows'> & { rows: readonly Row[] }
  /** By id. */
  versions: ReadonlyMap<number, number>
  titles: Titles
  query: ListParameters
  /** `query`, and the page of the list. */
  here: ListParameters
  sort: ShownList['sort']
  columns: readonly Column<Row>[]
  chosen: readonly Column<Row>[]
  problem: string | undefined
  mayCreate: boolean
  /** What can be done to several rows at once: values of the form, and their words. */
  actions: readonly BulkAction[]
  isPicked: boolean
  /** The fields that can be edited in a row. */
  editable: readonly DescribedField[]
  edited: EditedRow | undefined
  gone: GoneRow | undefined
  /** A row whose deletion can be undone. */
  deleted: { id: number; name: string } | undefined
}

/** Beside the title and the time of the last change. More are for those who ask. */
const usualColumns = 7

export function columnsOf(collection: Described): Column<Row>[] {
  const path = pathOf(collection)
  const sorts = sortsOf(collection).map(({ name }) => name)
  const own = shownFieldsOf(collection).filter(({ name }) => name !== collection.title)
  const titleField = collection.fields.get(collection.title)
  const isUsual = (field: DescribedField, i: number) =>
    field.name === 'updated_at' || (i < usualColumns && !isLong(field) && field.name !== 'created_at')
  return [
    {
      name: collection.title,
      label: titleField && collection.title !== 'id' ? labelOf(titleField) : 'ID',
      className: 'title lead',
      ...(sorts.includes(collection.title) && { sort: collection.title }),
      cell: (row) => html`<a href="${path}/${row.id}">${titleOf(collection, row)}</a>`,
    },
    ...own.map(
      (field, i): Column<Row> => ({
        name: field.name,
        label: labelOf(field),
        ...(!isUsual(field, i) && { isExtra: true }),
        ...(sorts.includes(field.name) && { sort: field.name }),
        cell: (row) => showValue(field, row[field.name], new Map()),
      }),
    ),
  ]
}

/** With the titles of related rows; values that can be edited are links, or fields of the row that is a form. */
function shownColumns(collection: Described, view: ListView): Column<Row>[] {
  const { chosen, titles, editable, edited, here } = view
  const path = pathOf(collection)
  return chosen.map((column): Column<Row> => {
    const field = collection.fields.get(column.name)
    const isTitle = column.name === collection.title
    const isEditable = field !== undefined && editable.includes(field)
    return {
      ...column,
      cell(row) {
        if (edited?.id === row.id) {
          const control = isEditable && field.name in row && inlineControl(field, collection, { row, edited })
          if (!isTitle) return control || showValue(field as DescribedField, row[column.name], titles)
          return html`${control || column.cell(row)}${editForm(collection, edited, view)}`
        }
        if (isTitle) return column.cell(row)
        const shown = showValue(field as DescribedField, row[column.name], titles)
        return isEditable && field.name in row ? editLink({ path, query: here }, row.id, field.name, shown) : shown
      },
    }
  })
}

function inlineControl(
  field: DescribedField,
  collection: Described,
  { row, edited }: { row: Row; edited: EditedRow },
): Html {
  const { kind, definition, name } = field
  return rowControl(edited, {
    name,
    label: `${labelOf(field)} of ${titleOf(collection, row)}`,
    value: edited.typed?.[name] ?? textOf(field, row[name]),
    options: optionsOf(field),
    inputmode: kind === 'integer' ? 'numeric' : kind === 'decimal' ? 'decimal' : undefined,
    maxlength: kind === 'text' || kind === 'email' ? maxTextOf(definition) : 64,
  })
}

function editForm(collection: Described, row: EditedRow, { here, columns }: ListView): Html {
  const path = pathOf(collection)
  return rowForm({
    row,
    action: `${path}/${row.id}/quick`,
    list: { path, query: here },
    labels: columns.map(({ name, label }) => [name, label]),
    saved: `${words(one(collection))} saved`,
  })
}

export function listPage(collection: Described, view: ListView): Page {
  const { page, query, sort, columns, chosen, problem, mayCreate, actions, deleted, gone, editable } = view
  const path = pathOf(collection)
  const list: ShownList = { path, query, sort }
  const title = words(plural(collection))
  const table = {
    rows: page.rows,
    chosen: shownColumns(collection, view),
    list,
    leading: actions.length > 0 ? picks(collection, view) : undefined,
    attributes: ({ id }: Row) => html` data-id="${id}"${view.edited?.id === id && html` data-edited`}`,
  }
  return {
    title,
    styles: ['tables.css'],
    content: html`${gone && goneRow(gone, { path, one: one(collection) })}${deleted && undoNote(collection, deleted)}
<div class="row head"><h1>${title}</h1>
<a class="button end" href="${listAddress(`${path}/export`, query)}" download>Download as CSV</a>${
      mayCreate &&
      html`<a class="button" href="${path}/import">Import</a><a class="button main" href="${path}/new" data-new>New ${one(collection)}</a>`
    }</div>
${filterForm(collection, view)}
<p id="count" class="soft" role="status">${countLine(wordsFor(collection), { total: page.total, problem, exact: listAddress(path, { ...query, count: 'exact' }) })}</p>
<div id="results">
${
  page.rows.length > 0
    ? html`${actions.length > 0 && actionBar(collection, view)}
<div class="card list lines${chosen.length > 6 && ' many'}">${columnTable(table)}</div>
${cursorPager(list, page)}`
    : emptyList({ ...wordsFor(collection), problem, onward: undefined })
}
<div class="row foot">${columnForm({ path, query, columns, chosen })}</div>
</div>
${editable.length > 0 && rowEditScript}${collection.lists.filter.some((name) => collection.fields.get(name)?.target) && relationScript}`,
  }
}

function undoNote(collection: Described, { id, name }: { id: number; name: string }): Html {
  return html`<div class="notice" role="status">${words(one(collection))} deleted: “${name}”
<form method="post" action="${pathOf(collection)}/${id}/restore"><button>Undo</button></form></div>`
}

const picks = (collection: Described, { versions, isPicked }: ListView) => ({
  head: pickHead(),
  cell: (row: Row) =>
    pickCell({ value: `${row.id}:${versions.get(row.id) ?? ''}`, label: titleOf(collection, row), isPicked }),
})

function actionBar(collection: Described, { here, actions }: ListView): Html {
  const path = pathOf(collection)
  const back = listAddress('', here).slice(1)
  return bulkBar({
    action: `${path}/bulk`,
    back,
    all: listAddress(path, { ...here, select: 'page' }),
    buttons: [
      html`<select name="action" aria-label="Action">${actions.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select>`,
      html`<button>Apply to selected</button>`,
    ],
  })
}

function filterForm(collection: Described, view: ListView): Html {
  const { query } = view
  const path = pathOf(collection)
  const { search } = collection.lists
  const filters = filtersOf(collection)
  const isOpen = Object.keys(query).some((name) => name.startsWith('filter') || name === 'sort')
  return html`<form class="list-form" role="search" action="${path}">
${query.columns !== undefined && hiddenFields({ columns: query.columns })}
${
  search.length > 0 &&
  html`<div class="search">
${inputField({ label: `Search ${plural(collection)}`, name: 'q', type: 'search', value: query.q, maxlength: 255, autocomplete: 'off' })}
<button>Search</button>
${query.q !== undefined && html`<a class="button quiet" href="${wholeListAddress(path, query)}">Clear</a>`}
</div>`
}
<details class="orders"${isOpen && html` open`}><summary>Sort and filter</summary>
<div class="fields">
${filters.map((field) => filterField(collection, field, view))}
${selectField({ label: 'Order', name: 'sort', query }, orders(collection))}
<p class="row"><button class="main">Apply</button> <a href="${wholeListAddress(path, query)}">Clear filters</a></p>
</div></details>
</form>`
}

function orders(collection: Described): [string, string][] {
  const named = sortsOf(collection).filter(({ name }) => name !== 'id')
  return [
    ['', 'Oldest first'],
    ['-id', 'Newest first'],
    ...named.flatMap((field): [string, string][] => [
      [field.name, labelOf(field)],
      [`-${field.name}`, `${labelOf(field)}, descending`],
    ]),
  ]
}

function filterField(collection: Described, field: DescribedField, { query, titles }: ListView): Html {
  const { name, definition, kind } = field
  const at = { label: labelOf(field), name: `filter[${name}]`, query }
  if (kind === 'choice')
    return selectField(at, [
      ['', 'Any'],
      ...(definition.values ?? []).map((value): [string, string] => [value, words(value)]),
    ])
  if (kind === 'boolean')
    return selectField(at, [
      ['', 'Any'],
      ['true', 'Yes'],
      ['false', 'No'],
    ])
  if (field.target) {
    const attributes = relationAttributes(collection, field, { value: query[at.name], titles })
    return textField(at, { inputmode: 'numeric', maxlength: 255, attributes })
  }
  if (hasBounds(field))
    return rangeFields(labelOf(field), name, query, {
      inputmode: ['number', 'scaled'].includes(comparedTypeOf(field) ?? '') ? 'decimal' : 'numeric',
    })
  return textField(at, { maxlength: 255 })
}
