/** What can be done to the thing that a page shows, as a list of buttons. */
import { type Html, html } from '../html.ts'

export interface Act {
  /** Below that of the thing. */
  path: string
  name: string
  description: string
  /** For the confirmation dialog. */
  question?: string
}

export function actsCard(given: { id: string; heading: string; path: string; acts: readonly Act[] }): Html {
  const { id, heading, path, acts } = given
  return html`<section class="card" aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
<ul class="helps">
${acts.map((act) => item(path, act))}
</ul>
</section>`
}

function item(base: string, { path, name, description, question }: Act): Html {
  const asks = question !== undefined && html` data-confirm="${question}" data-confirm-button="${name}"`
  return html`<li>
<div><h3>${name}</h3><p class="soft">${description}</p></div>
<form method="post" action="${base}/${path}"${asks}><button${asks && html` class="bad"`}>${name}</button></form>
</li>
`
}
