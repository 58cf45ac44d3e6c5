/**
 * Lists of products in an order of choice, with filters. Their addresses have the parameters of the REST API, and the
 * `category` of the search form.
 */
import type { Sort } from '../../../platform/listing/list-definition.ts'
import type { SortedPage } from '../../../platform/listing/sorted-list.store.ts'
import { emptyList } from '../../../platform/pages/components/empty-list.ts'
import { countLine } from '../../../platform/pages/components/list-counts.ts'
import { hiddenFields, rangeFields, selectField } from '../../../platform/pages/components/list-fields.ts'
import {
  cursorPager,
  type ListParameters,
  positionAddress,
  sortableHead,
  wholeListAddress,
} from '../../../platform/pages/components/list-links.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Product } from '../product.ts'
import { listAddress, listPath as path } from './list-address.ts'

export interface Ordered {
  /** What was asked for, without blanks. */
  query: ListParameters
  sort: Sort
  page: SortedPage<Product>
  /** What is wrong with the query. */
  problem?: string | undefined
}

const sorts: readonly [sort: string, text: string][] = [
  ['', 'Newest first'],
  ['name', 'Name'],
  ['-name', 'Name, from Z to A'],
  ['price', 'Cheapest first'],
  ['-price', 'Dearest first'],
  ['stock', 'Lowest stock first'],
  ['-stock', 'Highest stock first'],
  ['-updated_at', 'Last changed first'],
  ['id', 'Oldest first'],
]

const states: readonly [value: string, text: string][] = [
  ['', 'Active or not'],
  ['true', 'Active'],
  ['false', 'Inactive'],
]

/** Fields of the search form. Open where they are in use. */
export function orderFields(ordered: Ordered | undefined, kept: ListParameters): Html {
  const query = ordered?.query ?? {}
  const isOpen = ordered !== undefined
  return html`<details class="orders"${isOpen && html` open`}><summary>Sort and filter</summary>
<div class="fields">
${selectField({ label: 'Sort by', name: 'sort', query }, sorts)}
${selectField({ label: 'Status', name: 'filter[active]', query }, states)}
${rangeFields('Price', 'price', query, { inputmode: 'decimal', maxlength: 20 })}
${rangeFields('Stock', 'stock', query, { inputmode: 'numeric', maxlength: 20 })}
<p class="row"><button class="main">Show</button> <a href="${wholeListAddress(path, kept)}">Show all, newest first</a></p>
</div></details>`
}

export interface SortedColumn {
  /** What it is sorted by. */
  field: string
  text: string
  isNumber: boolean
}

/** The head of a column that can be sorted by. */
export function sortedHead(
  { field, text, isNumber }: SortedColumn,
  ordered: Ordered | undefined,
  kept: ListParameters,
): Html {
  const list = { path, query: ordered?.query ?? kept, sort: ordered?.sort }
  return sortableHead({ field, text, className: isNumber ? 'number' : undefined }, list)
}

export const productWords = { none: 'Nothing', one: 'product', many: 'products' }

export function countOfOrdered({ page, problem }: Ordered): Html | string {
  const isNone = page.total !== null && page.rows.length === 0 && !page.next
  return countLine(productWords, { total: isNone ? 0 : page.total, problem })
}

export function emptyOrdered({ page, query, sort, problem }: Ordered): Html {
  const onward = page.next && positionAddress({ path, query, sort }, page.next)
  return emptyList({ ...productWords, problem, onward })
}

export function orderedPager({ page, query, sort }: Ordered): Html | false {
  const pager = cursorPager({ path, query, sort }, page)
  return (
    pager &&
    html`${pager}
${valueJump(query, sort)}`
  )
}

const starts: Readonly<Record<string, string>> = {
  id: 'Go to id',
  name: 'Go to names from',
  price: 'Go to prices from',
  stock: 'Go to stock from',
  updated_at: 'Go to changes from',
}

/** Pages of a sorted list have no numbers, but its values are known. */
function valueJump(query: ListParameters, { field }: Sort): Html {
  return html`<form method="get" action="${path}" class="jump">
${hiddenFields(query)}
<label for="jump">${starts[field] ?? 'Go to'}</label>
<input id="jump" name="from" required maxlength="100" autocomplete="off"${field === 'updated_at' && html` placeholder="2026-01-31"`}>
<button>Go</button></form>`
}

/** Where the number of products is not known. */
export function countLink({ page, query, problem }: Ordered): Html | false {
  return (
    page.total === null &&
    problem === undefined &&
    html`<a href="${listAddress({ ...query, count: 'exact' })}">Count exactly</a>`
  )
}
