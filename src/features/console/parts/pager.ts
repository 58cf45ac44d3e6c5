import { type Html, html } from '../../../platform/html/html.ts'
import type { PageMeta } from '../../../platform/http/paging.ts'

/** Links to the pages around. `query` is what else the address holds. */
export function pager(path: string, { page, last_page, total }: PageMeta, query: Record<string, string> = {}): Html {
  const link = (to: number, rel: string, text: string) =>
    html`<a rel="${rel}" href="${path}?${new URLSearchParams({ ...query, page: String(to) }).toString()}">${text}</a>`
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && link(Math.min(page - 1, last_page), 'prev', '← Previous')}
<span>Page ${page.toLocaleString('en')} of ${last_page.toLocaleString('en')} · ${total.toLocaleString('en')} in all</span>
${page < last_page && link(page + 1, 'next', 'Next →')}
</nav>`
}
