/** The list of products. Scripts replace `#results` and `#count`, and write to `#live`, `#news` and `#connection`. */

import type { PageMeta } from '../../../platform/http/paging.ts'
import { columnForm } from '../../../platform/pages/components/columns.ts'
import { counted } from '../../../platform/pages/components/list-counts.ts'
import { hiddenFields } from '../../../platform/pages/components/list-fields.ts'
import { wholeListAddress } from '../../../platform/pages/components/list-links.ts'
import { pageJump } from '../../../platform/pages/components/page-jump.ts'
import { beyondLast, pager } from '../../../platform/pages/components/pager.ts'
import { type GoneRow, goneRow, rowEditScript } from '../../../platform/pages/components/row-edit.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Product } from '../product.ts'
import { productBulkBar } from './bulk.views.ts'
import { listAddress, listPath as path } from './list-address.ts'
import { listColumns } from './list-columns.ts'
import { countLink, countOfOrdered, emptyOrdered, orderedPager, orderFields, productWords } from './ordered.views.ts'
import { productsTable, type TableView } from './products-table.views.ts'
import { searchForm, type Wanted } from './search-form.views.ts'

/** Fast to read and render; users refine a search rather than page through it. */
export const foundPerPage = 100
export const maxFoundPages = 10

interface Found {
  products: readonly Product[]
  page: number
  hasMore: boolean
}

export interface ListView extends TableView {
  wanted: Wanted
  /** Where the change log was before the products were read. */
  cursor: string
  categories: readonly string[]
  /** A product whose deletion can be undone. */
  deleted: Pick<Product, 'id' | 'name'> | undefined
  /** Either a page of all products (`listed`), or search results (`found`), or a list in another order (`ordered`). */
  listed?: { products: readonly Product[]; meta: PageMeta }
  found?: Found
  gone?: GoneRow
}

export function listPage(view: ListView): Page {
  const { wanted, cursor, categories, mayWrite, deleted, listed, found, ordered, here, kept, gone } = view
  const products = listed?.products ?? found?.products ?? ordered?.page.rows ?? []
  // On later pages rows are only updated in place, so that the list does not move while it is read.
  const kind = found || ordered ? 'found' : listed?.meta.page === 1 ? 'newest' : 'later'
  return {
    title: 'Products',
    styles: ['tables.css', 'products.css'],
    content: html`${gone && goneRow(gone, { path, one: 'product' })}${deleted !== undefined && mayWrite && undoNote(deleted)}
<div class="row head"><h1>Products</h1><span id="live" hidden><span></span></span>${mayWrite && html`<a class="button main end" href="${path}/new" data-new>New product</a><a class="button" href="${path}/import">Import</a>`}</div>
${searchForm(wanted, categories, html`${hiddenFields(kept)}${orderFields(ordered, kept)}`)}
<p id="news" class="notice news" role="status" hidden></p>
<p id="connection" class="problem news" role="status"></p>
<p id="count" class="soft" role="status">${countOf(view)}</p>
<div id="results" data-list="${kind}" data-cursor="${cursor}">
${products.length > 0 && mayWrite && productBulkBar(here)}
${products.length > 0 ? productsTable(products, view) : empty(view)}
${listed && listed.meta.last_page > 1 && products.length > 0 && html`${pager(path, listed.meta, kept)}${pageJump(path, listed.meta, kept)}`}
${found && foundPager(found, view)}
${ordered && products.length > 0 && orderedPager(ordered)}
${found && html`<p class="hint">Only active products are searched${wanted.q !== undefined && ', and listed by name'}. <a href="${wholeListAddress(path, kept)}">Show all</a></p>`}
${products.length > 0 && foot(view)}
</div>
${mayWrite && rowEditScript}`,
  }
}

/** What can be done with the list as a whole. */
function foot({ columns, here, kept, wanted, found, ordered }: ListView): Html {
  const counted =
    found?.hasMore && wanted.q === undefined && wanted.category !== undefined
      ? html`<a href="${listAddress({ ...kept, category: wanted.category, 'filter[active]': 'true', sort: 'name', count: 'exact' })}">Count exactly</a>`
      : ordered && countLink(ordered)
  const { page: _page, cursor: _cursor, count: _count, columns: _columns, ...exported } = here
  return html`<div class="row foot">${columnForm({ path, query: here, columns: listColumns, chosen: columns })}
${counted}
<a href="${path}/export?${new URLSearchParams(exported).toString()}">Export as CSV</a></div>`
}

function undoNote({ id, name }: Pick<Product, 'id' | 'name'>): Html {
  return html`<div class="notice" role="status">“${name}” is deleted.
<form method="post" action="${path}/${id}/restore"><button>Undo</button></form></div>`
}

function countOf({ listed, found, ordered }: ListView): Html | string {
  if (ordered) return countOfOrdered(ordered)
  if (listed) return counted(listed.meta.total, productWords)
  if (!found || found.products.length === 0) return 'Nothing found'
  const start = (found.page - 1) * foundPerPage
  const end = start + found.products.length
  if (start === 0 && !found.hasMore) return `${counted(end, productWords)} found`
  const more = found.hasMore ? 'There are more.' : 'There are no more.'
  return start === 0 ? `The first ${end} found, by name. ${more}` : `Found, by name: ${start + 1} to ${end}. ${more}`
}

function empty({ wanted, mayWrite, listed, ordered, kept }: ListView): Html {
  if (ordered) return emptyOrdered(ordered)
  if (listed && listed.meta.total > 0) return beyondLast(path, listed.meta, kept)
  if (listed) {
    return html`<div class="card empty"><h2>No products yet</h2>
${mayWrite ? html`<p><a class="button main" href="${path}/new">Create the first one</a></p>` : html`<p>As soon as there are some, they are listed here.</p>`}</div>`
  }
  return html`<div class="card empty"><h2>Nothing found</h2>
<p>No active product${wanted.q !== undefined && html` with “${wanted.q}” in its name`}${
    wanted.category !== undefined && html` in the category “${wanted.category}”`
  }.</p></div>`
}

/** Without a total, because counting would take longer than finding the first results. */
function foundPager({ page, hasMore }: Found, { wanted, kept }: ListView): Html | false {
  const { q, category } = wanted
  const isLast = page === maxFoundPages
  if (page === 1 && !hasMore) return false
  const link = (to: number, rel: string, text: string) => {
    const query = {
      ...(q !== undefined && { q }),
      ...(category !== undefined && { category }),
      page: String(to),
      ...kept,
    }
    return html`<a rel="${rel}" href="${listAddress(query)}">${text}</a>`
  }
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && link(page - 1, 'prev', '← Previous')}
<span>${isLast && hasMore ? 'That is as far as it goes. Search for more of the name.' : `Page ${page}`}</span>
${hasMore && !isLast && link(page + 1, 'next', 'Next →')}
</nav>`
}
