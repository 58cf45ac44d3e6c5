/** The pages of a collection: its list, the form, and the page of a row. */
import type { SortedPage } from '../../platform/listing/sorted-list.store.ts'
import { bulkBar } from '../../platform/pages/components/bulk-bar.ts'
import { type Column, columnForm, columnTable } from '../../platform/pages/components/columns.ts'
import { emptyList } from '../../platform/pages/components/empty-list.ts'
import { factList } from '../../platform/pages/components/facts.ts'
import {
  field as inputField,
  noProblems,
  type Problems,
  problemNote,
  type Values,
} from '../../platform/pages/components/forms.ts'
import { counted, countLine } from '../../platform/pages/components/list-counts.ts'
import { hiddenFields, rangeFields, selectField, textField } from '../../platform/pages/components/list-fields.ts'
import {
  cursorPager,
  type ListParameters,
  listAddress,
  type ShownList,
  wholeListAddress,
} from '../../platform/pages/components/list-links.ts'
import { pickCell, pickHead } from '../../platform/pages/components/row-picks.ts'
import { time } from '../../platform/pages/components/times.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'
import type { Row } from '../actor.ts'
import { comparedTypeOf, type Described, type DescribedField } from '../declare/describe.ts'
import { type CollectionService, shownFieldsOf } from '../service.ts'
import { filtersOf, hasBounds, sortsOf } from '../store/lists.ts'
import { formField, isLong, labelOf, pathOf, showValue, showWhole, type Titles, titleOf, words } from './fields.ts'

export type BulkAction = readonly [value: string, words: string]

export interface ListView {
  page: Omit<SortedPage<Row>, 'rows'> & { rows: readonly Row[] }
  titles: Titles
  query: ListParameters
  sort: ShownList['sort']
  columns: readonly Column<Row>[]
  chosen: readonly Column<Row>[]
  problem: string | undefined
  mayCreate: boolean
  /** What can be done to several rows at once: values of the form, and their words. */
  actions: readonly BulkAction[]
  isPicked: boolean
}

/** Beside the title and the time of the last change. More are for those who ask. */
const usualColumns = 7

const plural = ({ name }: Described) => name.replaceAll('-', ' ')
const one = ({ singular }: Described) => singular.replaceAll('-', ' ')
const wordsFor = (collection: Described) => ({
  none: `No ${plural(collection)}`,
  one: one(collection),
  many: plural(collection),
})

export function columnsOf(collection: Described, titlesOf: () => Titles): Column<Row>[] {
  const path = pathOf(collection)
  const sorts = sortsOf(collection).map(({ name }) => name)
  const own = shownFieldsOf(collection).filter(({ name }) => name !== collection.title)
  const titleField = collection.fields.get(collection.title)
  return [
    {
      name: collection.title,
      label: titleField && collection.title !== 'id' ? labelOf(titleField) : 'Id',
      className: 'title',
      ...(sorts.includes(collection.title) && { sort: collection.title }),
      cell: (row) => html`<a href="${path}/${row.id}">${titleOf(collection, row)}</a>`,
    },
    ...own.map(
      (field, i): Column<Row> => ({
        name: field.name,
        label: labelOf(field),
        ...((isLong(field) || field.name === 'created_at' || (i >= usualColumns && field.name !== 'updated_at')) && {
          isExtra: true,
        }),
        ...(sorts.includes(field.name) && { sort: field.name }),
        cell: (row) => showValue(field, row[field.name], titlesOf()),
      }),
    ),
  ]
}

export function listPage(collection: Described, view: ListView): Page {
  const { page, query, sort, columns, chosen, problem, mayCreate, actions, isPicked } = view
  const path = pathOf(collection)
  const list: ShownList = { path, query, sort }
  const title = words(plural(collection))
  return {
    title,
    styles: ['tables.css'],
    content: html`<div class="row head"><h1>${title}</h1>
<a class="button end" href="${listAddress(`${path}/export`, query)}" download>Download as CSV</a>${
      mayCreate && html`<a class="button main" href="${path}/new" data-new>New ${one(collection)}</a>`
    }</div>
${filterForm(collection, view)}
<p id="count" class="soft" role="status">${countLine(wordsFor(collection), { total: page.total, problem, exact: listAddress(path, { ...query, count: 'exact' }) })}</p>
<div id="results">
${
  page.rows.length > 0
    ? html`${actions.length > 0 && actionBar(collection, view)}
<div class="card list lines${chosen.length > 6 && ' many'}">${columnTable({ rows: page.rows, chosen, list, leading: actions.length > 0 ? picks(collection, isPicked) : undefined })}</div>
${cursorPager(list, page)}`
    : emptyList({ ...wordsFor(collection), problem, onward: undefined })
}
<div class="row foot">${columnForm({ path, query, columns, chosen })}</div>
</div>`,
  }
}

const picks = (collection: Described, isPicked: boolean) => ({
  head: pickHead(),
  cell: (row: Row) => pickCell({ value: String(row.id), label: titleOf(collection, row), isPicked }),
})

function actionBar(collection: Described, { query, actions }: ListView): Html {
  const path = pathOf(collection)
  const back = listAddress('', query).slice(1)
  return bulkBar({
    action: `${path}/bulk`,
    back,
    all: listAddress(path, { ...query, select: 'page' }),
    buttons: [
      html`<select name="action" aria-label="Action">${actions.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select>`,
      html`<button>Apply to selected</button>`,
    ],
  })
}

export interface BulkResult {
  /** In the past tense. */
  done: string
  count: number
  refused: readonly { id: number; title: string; reason: string }[]
  back: string
}

export function bulkResultPage(collection: Described, { done, count, refused, back }: BulkResult): Page {
  const path = pathOf(collection)
  const told = `${counted(count, wordsFor(collection))} ${done}`
  return {
    title: words(plural(collection)),
    content: html`<section class="medium card">
<h1>${words(plural(collection))}</h1>
<p role="status">${count === 0 && refused.length === 0 ? 'Nothing was selected.' : told}</p>
${
  refused.length > 0 &&
  html`<h2>Not changed</h2>
<ul>${refused.map(({ id, title, reason }) => html`<li><a href="${path}/${id}">${title}</a>: ${reason}</li>`)}</ul>`
}
<p class="row"><a href="${back === '' ? path : `${path}?${back}`}">Back to the list</a></p>
</section>`,
  }
}

function filterForm(collection: Described, { query }: ListView): Html {
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
${filters.map((field) => filterField(field, query))}
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

function filterField(field: DescribedField, query: ListParameters): Html {
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
  if (hasBounds(field))
    return rangeFields(labelOf(field), name, query, {
      inputmode: ['number', 'scaled'].includes(comparedTypeOf(field) ?? '') ? 'decimal' : 'numeric',
    })
  return textField(at, { maxlength: 255 })
}

export interface FormView {
  values: Values
  problems?: Problems
  titles: Titles
  fields: readonly DescribedField[]
  /** Undefined for a new row. */
  row?: { id: number; etag: string } | undefined
  /** Of a new row, which is created once however often the form is sent. */
  key?: string
}

export function formPage(collection: Described, view: FormView & { beside?: Html; note?: string }): Page {
  const { row, key, values, beside, note, problems = noProblems } = view
  const path = pathOf(collection)
  const name = row ? titleOf(collection, { ...values, id: row.id }) : `New ${one(collection)}`
  return {
    title: name,
    content: html`<section class="medium card">
<h1>${name}</h1>
${problemNote(problems)}
${note !== undefined && html`<p class="problem" role="alert">${note}</p>`}
<form method="post" action="${row ? `${path}/${row.id}` : path}">
${row ? html`<input type="hidden" name="etag" value="${row.etag}">` : html`<input type="hidden" name="key" value="${key}">`}
${view.fields.map((field) => formField(field, { values, problems, titles: view.titles }))}
<p class="row"><button class="main">${row ? 'Save' : 'Create'}</button> <a href="${path}">Back to the list</a></p>
</form>
</section>
${beside}`,
  }
}

export interface RowView {
  row: Row
  titles: Titles
  history: readonly HistoryEntry[]
  mayDelete: boolean
}

export type HistoryEntry = Awaited<ReturnType<CollectionService['versions']>>[number]

export function detailsPage(collection: Described, view: RowView): Page {
  const name = titleOf(collection, view.row)
  return {
    title: name,
    content: html`<section class="medium card">
<h1>${name}</h1>
${facts(shownFieldsOf(collection), view)}
<p class="row"><a href="${pathOf(collection)}">Back to the list</a></p>
</section>
${besideCards(collection, view)}`,
  }
}

function facts(fields: readonly DescribedField[], { row, titles }: Pick<RowView, 'row' | 'titles'>): Html {
  return factList(fields.map((field) => [labelOf(field), showWhole(field, row[field.name], titles)] as const))
}

/** The fields that the form beside it does not have. */
export function detailsCard(collection: Described, edited: readonly DescribedField[], view: RowView): Html {
  const fields = shownFieldsOf(collection).filter((field) => !edited.includes(field))
  return html`<section class="medium card" aria-labelledby="details">
<h2 id="details">Details</h2>
${facts(fields, view)}
</section>`
}

export function besideCards(collection: Described, { row, history, titles, mayDelete }: RowView): Html {
  const path = `${pathOf(collection)}/${row.id}`
  return html`<section class="medium card" aria-labelledby="history">
<h2 id="history">History</h2>
${
  history.length > 0
    ? html`<ol class="history">${history.map((entry) => historyItem(collection, entry, titles))}</ol>`
    : html`<p class="soft">No versions yet</p>`
}
</section>
${
  mayDelete &&
  html`<section class="medium card" aria-labelledby="deletion">
<h2 id="deletion">Delete</h2>
<p>${collection.keptMs === undefined ? 'This cannot be undone.' : 'You can undo this on the next page.'}</p>
<form method="post" action="${path}/delete"><button class="danger">Delete ${one(collection)}</button></form>
</section>`
}`
}

function historyItem(collection: Described, { type, at, actor, changes }: HistoryEntry, titles: Titles): Html {
  const kind = type.slice(type.indexOf('.') + 1)
  const names: Readonly<Record<string, string>> = {
    created: 'Created',
    updated: 'Edited',
    deleted: 'Deleted',
    restored: 'Restored',
  }
  const lines = kind === 'updated' ? Object.entries(changes) : []
  return html`<li>
<p><strong>${names[kind] ?? type}</strong> by ${actor ? actor.name || `user ${actor.id}` : 'a command or a program'} <span class="soft">${time(at)}</span></p>
${
  lines.length > 0 &&
  html`<dl>${lines.map(([name, [from, to]]) => {
    const field = collection.fields.get(name) as DescribedField
    return html`<div><dt>${labelOf(field)}</dt><dd><del>${showValue(field, from, titles)}</del> <span class="soft">→</span> <ins>${showValue(field, to, titles)}</ins></dd></div>`
  })}</dl>`
}
</li>
`
}

export function deletedPage(collection: Described, id: number): Page {
  const path = pathOf(collection)
  return {
    title: `${words(one(collection))} deleted`,
    content: html`<section class="medium card">
<h1>${words(one(collection))} deleted</h1>
<form method="post" action="${path}/${id}/restore"><p class="row"><button>Undo</button> <a href="${path}">Back to the list</a></p></form>
</section>`,
  }
}
