import { copyActions } from '../../../platform/pages/components/copy-actions.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Snippet } from './snippets.ts'

/** One is open at a time, without scripts too. */
export function snippetsCard(snippets: readonly Snippet[]): Html {
  return html`<section class="card snippets" aria-labelledby="snippets">
<h2 id="snippets">In programs</h2>
${snippets.map(
  ({ id, name, hint, text }) => html`<details name="snippet">
<summary>As ${name}</summary>
<p class="hint">${hint}</p>
<pre id="as-${id}" tabindex="0" role="region" aria-label="As ${name}"><code>${text}</code></pre>
${copyActions({ target: `as-${id}` })}
</details>
`,
)}
</section>`
}
