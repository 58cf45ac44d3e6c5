import type { PageMeta } from '../../http/paging.ts'
import { type Html, html } from '../html.ts'
import { hiddenFields } from './list-fields.ts'
import type { ListParameters } from './list-links.ts'

/** Goes to a page by its number. For lists whose pages are found, not skipped to. */
export function pageJump(path: string, { page, last_page }: PageMeta, query: ListParameters = {}): Html | false {
  if (last_page < 3) return false
  return html`<form method="get" action="${path}" class="jump">
${hiddenFields(query)}
<label for="jump">Go to page</label>
<input id="jump" name="page" value="${page}" inputmode="numeric" autocomplete="off" maxlength="9" required>
<button>Go</button>
</form>`
}
