import { type Html, html } from '../../../platform/pages/html.ts'

export interface Wanted {
  q: string | undefined
  category: string | undefined
}

/** Works without scripts; with them it searches while the user types. */
export function searchForm({ q, category }: Wanted, categories: readonly string[], more: Html): Html {
  // The selected category may be missing in the list, which is limited.
  const known = category === undefined || categories.includes(category) ? categories : [category, ...categories]
  return html`<form method="get" action="/console/products" role="search" class="filter" data-search>
<div class="field grow"><label for="q">Part of the name</label>
<input type="search" id="q" name="q" value="${q ?? ''}" maxlength="255" autocomplete="off" spellcheck="false"></div>
<div class="field"><label for="category">Category</label>
<select id="category" name="category"><option value="">All categories</option>
${known.map((each) => html`<option value="${each}"${each === category && html` selected`}>${each}</option>`)}
</select></div>
<button>Search</button>
${more}
</form>`
}
