import type { PageMeta } from '../../http/paging.ts'
import { type Html, html } from '../html.ts'

type Query = Readonly<Record<string, string>>

/** Links to the previous and next page. `query` has the other parameters of the URL. */
export function pager(path: string, { page, last_page, total }: PageMeta, query: Query = {}): Html {
  const link = (to: number, rel: string, text: string) =>
    html`<a rel="${rel}" href="${addressOf(path, query, to)}">${text}</a>`
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && link(page - 1, 'prev', '← Previous')}
<span>Page ${page.toLocaleString('en')} of ${last_page.toLocaleString('en')} · ${total.toLocaleString('en')} in all</span>
${page < last_page && link(page + 1, 'next', 'Next →')}
</nav>`
}

/** For a page number beyond the last page. */
export function beyondLast(path: string, { page, last_page }: PageMeta, query: Query = {}): Html {
  return html`<div class="card empty"><h2>There is no page ${page.toLocaleString('en')}</h2>
<p><a href="${addressOf(path, query, last_page)}">Go to the last page</a></p></div>`
}

function addressOf(path: string, query: Query, page: number): string {
  return `${path}?${new URLSearchParams({ ...query, page: String(page) }).toString()}`
}
