/** The buttons below a text that users copy, such as a secret that is shown only once. */
import { type Html, html } from '../html.ts'

export interface CopyActions {
  /** Id of the element to copy, one line for each of its children. */
  target: string
  canPrint?: boolean
  /** Where users go on once they have stored the text. */
  next?: { label: string; href: string }
}

/** Without scripts there is nothing to press: a click on the text selects it (`user-select: all`). */
export function copyActions({ target, canPrint = false, next }: CopyActions): Html {
  return html`<div class="row actions no-print">
<button type="button" class="scripted" data-copy="${target}">Copy</button>
${canPrint && html`<button type="button" class="scripted" data-print>Print</button>`}
${next && html`<a class="button main" href="${next.href}">${next.label}</a>`}
<span class="soft" role="status" data-copied></span>
</div>
<script src="/console/assets/copy.js" type="module"></script>`
}
