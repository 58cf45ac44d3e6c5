/** Links of lists whose whole state is in their address, so that it can be shared. */
import { AppError } from '../../../core/app-error.ts'
import { writeListCursor, writeSort } from '../../listing/list-cursor.ts'
import type { Position, Sort } from '../../listing/list-definition.ts'
import type { SortedPage } from '../../listing/sorted-list.store.ts'
import { describeDetails } from '../../validation/body-validation.ts'
import { type Html, html } from '../html.ts'

/** Parameters of the address: those of the REST API, and what else a page has. */
export type ListParameters = Readonly<Record<string, string>>

export interface ShownList {
  path: string
  /** What was asked for, without blanks and without the cursor. */
  query: ListParameters
  /** Undefined if the list is in no order that a column has. */
  sort: Sort | undefined
}

/** Blank counts as absent. The first of several values counts. */
export function withoutBlanks(query: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = Object.entries(query).map(([name, value]) => [name, [value].flat()[0]])
  return Object.fromEntries(given.filter(([, text]) => typeof text === 'string' && text.trim() !== ''))
}

/** What is wrong with a query, to be shown in place of the rows. Rethrows any other error. */
export function queryProblemOf(error: unknown): string {
  const problem = error instanceof AppError && error.status === 422 ? describeDetails(error) : undefined
  if (problem === undefined) throw error
  return problem
}

export function listAddress(path: string, query: ListParameters): string {
  const text = new URLSearchParams(query).toString()
  return text === '' ? path : `${path}?${text}`
}

/** The whole list, in its usual order and with the same columns. */
export function wholeListAddress(path: string, { columns }: ListParameters): string {
  return listAddress(path, columns === undefined ? {} : { columns })
}

export interface SortableHead {
  field: string
  text: string
  className?: string | undefined
}

/** The head of a column that can be sorted by. */
export function sortableHead({ field, text, className }: SortableHead, { path, query, sort }: ShownList): Html {
  const isSorted = sort?.field === field
  const isDescending = isSorted && sort.isDescending
  const next = writeSort({ field, isDescending: isSorted && !isDescending })
  const [state, arrow] = isDescending ? ['descending', '↓'] : ['ascending', '↑']
  return html`<th scope="col"${className !== undefined && html` class="${className}"`}${isSorted && html` aria-sort="${state}"`}>
<a href="${listAddress(path, { ...query, sort: next })}">${text}${isSorted && html`<span aria-hidden="true"> ${arrow}</span>`}</a></th>`
}

/** The same list from this position on. */
export function positionAddress({ path, query, sort }: ShownList, position: Position): string {
  return listAddress(path, { ...query, ...(sort && { cursor: writeListCursor(sort, position) }) })
}

export function cursorPager(list: ShownList, { previous, next }: Pick<SortedPage<unknown>, 'previous' | 'next'>) {
  if (!previous && !next) return false
  return html`<nav class="pager" aria-label="Pages">
${previous && html`<a rel="prev" href="${positionAddress(list, previous)}">← Previous</a>`}
<span></span>
${next && html`<a rel="next" href="${positionAddress(list, next)}">Next →</a>`}
</nav>`
}
