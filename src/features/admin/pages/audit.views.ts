/** The page of the audit trail. */
import type { PageMeta } from '../../../platform/http/paging.ts'
import type { Sort } from '../../../platform/listing/list-definition.ts'
import type { SortedPage } from '../../../platform/listing/sorted-list.store.ts'
import { type Column, columnForm, columnTable } from '../../../platform/pages/components/columns.ts'
import { emptyList } from '../../../platform/pages/components/empty-list.ts'
import { counted, countLine } from '../../../platform/pages/components/list-counts.ts'
import { hiddenFields, rangeFields, selectField, textField } from '../../../platform/pages/components/list-fields.ts'
import {
  cursorPager,
  type ListParameters,
  listAddress,
  positionAddress,
  type ShownList,
  wholeListAddress,
} from '../../../platform/pages/components/list-links.ts'
import { pageJump } from '../../../platform/pages/components/page-jump.ts'
import { beyondLast, pager } from '../../../platform/pages/components/pager.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { AuditRow } from '../audit-trail.store.ts'
import { outcomeWords } from './audit-words.ts'

export interface AuditView {
  /** Either a page by its number, or a page of what is sorted and filtered. */
  listed?: { rows: readonly AuditRow[]; meta: PageMeta }
  sorted?: SortedPage<AuditRow>
  /** What is wrong with the query. */
  problem?: string | undefined
  /** The parameters of the address, without the position. */
  query: ListParameters
  sort: Sort
  columns: readonly Column<AuditRow>[]
  chosen: readonly Column<AuditRow>[]
  canSeeUsers: boolean
  /** By code. */
  events: Readonly<Record<string, string>>
  /** 0: for ever. */
  retentionDays: number
}

const path = '/console/audit'

export function auditPage(view: AuditView): Page {
  const { listed, sorted, query, columns, chosen, retentionDays } = view
  const rows = listed?.rows ?? sorted?.rows ?? []
  return {
    title: 'Audit trail',
    styles: ['tables.css'],
    content: html`<div class="row head"><h1>Audit trail</h1>
<a class="button end" href="${listAddress(`${path}/export`, query)}" download>Download as CSV</a></div>
<p class="soft">${retentionDays === 0 ? 'Entries are kept for ever.' : `Entries are kept for ${days(retentionDays)}.`}</p>
${form(view)}
<p id="count" class="soft" role="status">${countOf(view)}</p>
<div id="results">
${rows.length > 0 ? table(rows, view) : empty(view)}
${rows.length > 0 && listed && html`${pager(path, listed.meta, query)}${pageJump(path, listed.meta, query)}`}
${rows.length > 0 && sorted && cursorPager(listOf(view), sorted)}
${rows.length > 0 && html`<div class="row foot">${columnForm({ path, query, columns, chosen })}</div>`}
</div>`,
  }
}

const entryWords = { none: 'Nothing', one: 'entry', many: 'entries' }

const days = (count: number) => counted(count, { one: 'day', many: 'days' })

const listOf = ({ query, sort }: AuditView): ShownList => ({ path, query, sort })

function form({ query, events, canSeeUsers, listed }: AuditView): Html {
  const byLabel = Object.entries(events).toSorted(([, a], [, b]) => (a < b ? -1 : 1))
  const who = canSeeUsers ? 'email or number' : 'number'
  const isOpen = listed === undefined
  return html`<form method="get" action="${path}" role="search" class="list-form">
${query.columns !== undefined && hiddenFields({ columns: query.columns })}
<details class="orders"${isOpen && html` open`}><summary>Sort and filter</summary>
<div class="fields">
${selectField({ label: 'Event', name: 'filter[event]', query }, [['', 'All events'], ...byLabel])}
${selectField({ label: 'Outcome', name: 'filter[outcome]', query }, [['', 'All outcomes'], ...Object.entries(outcomeWords)])}
${textField({ label: `User (${who})`, name: 'filter[user]', query }, { maxlength: 255 })}
${textField({ label: `By (${who})`, name: 'filter[actor]', query }, { maxlength: 255 })}
${textField({ label: 'Address', name: 'filter[address]', query }, { maxlength: 45 })}
${rangeFields('Time in UTC,', 'at', query, { type: 'datetime-local' })}
${selectField({ label: 'Order', name: 'sort', query }, [
  ['', 'Newest first'],
  ['at', 'Oldest first'],
])}
<p class="row"><button class="main">Show</button> <a href="${wholeListAddress(path, query)}">Show all, newest first</a></p>
</div></details>
</form>`
}

function countOf({ listed, sorted, problem, query }: AuditView): Html | string {
  const total = listed?.meta.total ?? sorted?.total ?? null
  return countLine(entryWords, { total, problem, exact: listAddress(path, { ...query, count: 'exact' }) })
}

function table(rows: readonly AuditRow[], view: AuditView): Html {
  const { chosen } = view
  return html`<div class="card list lines${chosen.length > 6 && ' many'}">
${columnTable({ rows, chosen, list: listOf(view) })}
</div>`
}

function empty(view: AuditView): Html {
  const { listed, sorted, problem, query } = view
  if (problem === undefined && listed) return beyondLast(path, listed.meta, query)
  const onward = sorted?.next && positionAddress(listOf(view), sorted.next)
  return emptyList({ ...entryWords, problem, onward })
}
