/** The list of products. Scripts replace `#results` and `#count`, and write to `#news` and `#connection`. */

import type { PageMeta } from '../../../platform/http/paging.ts'
import { beyondLast, pager } from '../../../platform/pages/components/pager.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Product } from '../product.ts'
import { searchForm, type Wanted } from './search-form.views.ts'

/** Fast to read and render; users refine a search rather than page through it. */
export const foundPerPage = 100
export const maxFoundPages = 10

interface Found {
  products: readonly Product[]
  page: number
  hasMore: boolean
}

export interface ListView {
  wanted: Wanted
  categories: readonly string[]
  mayWrite: boolean
  /** A product whose deletion can be undone. */
  deleted: Pick<Product, 'id' | 'name'> | undefined
  formatPrice(cents: number): string
  /** Either a page of all products (`listed`), or search results (`found`). */
  listed?: { products: readonly Product[]; meta: PageMeta }
  found?: Found
}

const path = '/console/products'

export function listPage(view: ListView): Page {
  const { wanted, categories, mayWrite, deleted, listed, found } = view
  const products = listed?.products ?? found?.products ?? []
  // On later pages rows are only updated in place, so that the list does not move while it is read.
  const isLive = found !== undefined || listed?.meta.page === 1
  return {
    title: 'Products',
    content: html`${deleted !== undefined && mayWrite && undoNote(deleted)}
<div class="row head"><h1>Products</h1>${mayWrite && html`<a class="button main end" href="${path}/new">New product</a>`}</div>
${searchForm(wanted, categories)}
<p id="news" class="notice news" role="status" hidden></p>
<p id="connection" class="problem news" role="status"></p>
<p id="count" class="soft" role="status">${countOf(view)}</p>
<div id="results"${isLive && html` data-live`}>
${products.length > 0 ? table(products, view.formatPrice) : empty(view)}
${listed && listed.meta.last_page > 1 && products.length > 0 && pager(path, listed.meta)}
${found && foundPager(found, wanted)}
${found && html`<p class="hint">Only active products are searched. <a href="${path}">Show all</a></p>`}
</div>`,
  }
}

function undoNote({ id, name }: Pick<Product, 'id' | 'name'>): Html {
  return html`<div class="notice" role="status">“${name}” is deleted.
<form method="post" action="${path}/${id}/restore"><button>Undo</button></form></div>`
}

function countOf({ listed, found }: ListView): string {
  if (listed) return `${listed.meta.total.toLocaleString('en')} ${listed.meta.total === 1 ? 'product' : 'products'}`
  if (!found || found.products.length === 0) return 'Nothing found'
  const start = (found.page - 1) * foundPerPage
  const end = start + found.products.length
  if (start === 0 && !found.hasMore) return `${end} ${end === 1 ? 'product' : 'products'} found`
  const more = found.hasMore ? 'There are more.' : 'There are no more.'
  return start === 0 ? `The first ${end} found, by name. ${more}` : `Found, by name: ${start + 1} to ${end}. ${more}`
}

function table(products: readonly Product[], formatPrice: ListView['formatPrice']): Html {
  return html`<div class="card list"><table class="stack two-lines">
<thead><tr><th scope="col">Name</th><th scope="col">Category</th><th scope="col" class="number">Price</th>
<th scope="col" class="number">Stock</th><th scope="col">Status</th></tr></thead>
<tbody>
${products.map(
  (product) => html`<tr data-id="${product.id}">
<td class="title"><a href="${path}/${product.id}">${product.name}</a></td>
<td class="second-start">${product.category}</td>
<td class="number first-end">${formatPrice(product.price_cents)}</td>
<td class="number wide-only">${product.stock.toLocaleString('en')}</td>
<td class="second-end">${statusBadge(product)}</td>
</tr>`,
)}
</tbody></table></div>`
}

export function statusBadge({ active, stock }: Pick<Product, 'active' | 'stock'>): Html {
  if (!active) return html`<span class="badge">Inactive</span>`
  return stock > 0 ? html`<span class="badge good">In stock</span>` : html`<span class="badge bad">Sold out</span>`
}

function empty({ wanted, mayWrite, listed }: ListView): Html {
  if (listed && listed.meta.total > 0) return beyondLast(path, listed.meta)
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
function foundPager({ page, hasMore }: Found, { q, category }: Wanted): Html | false {
  const isLast = page === maxFoundPages
  if (page === 1 && !hasMore) return false
  const link = (to: number, rel: string, text: string) => {
    const query = { ...(q !== undefined && { q }), ...(category !== undefined && { category }), page: String(to) }
    return html`<a rel="${rel}" href="${path}?${new URLSearchParams(query).toString()}">${text}</a>`
  }
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && link(page - 1, 'prev', '← Previous')}
<span>${isLast && hasMore ? 'That is as far as it goes. Search for more of the name.' : `Page ${page}`}</span>
${hasMore && !isLast && link(page + 1, 'next', 'Next →')}
</nav>`
}
