/** Does something to the rows that are selected. See row-picks.ts. */
import { type Html, html } from '../html.ts'

/** The form of the list that the boxes of its rows belong to. */
export const bulkFormId = 'bulk'

export interface BulkBar {
  /** What it posts to. */
  action: string
  /** The query of the list. */
  back: string
  /** The address of the list with every row selected. */
  all: string
  buttons: readonly Html[]
}

export function bulkBar({ action, back, all, buttons }: BulkBar): Html {
  return html`<form id="${bulkFormId}" class="bulk" method="post" action="${action}">
<input type="hidden" name="back" value="${back}">
<div class="row"><a href="${all}" data-pick-link>Select all on this page</a><span class="scripted" data-picked role="status">Nothing selected</span>
${buttons.map((button) => html`${button}\n`)}</div>
</form>
<script src="/console/assets/picks.js" type="module"></script>`
}
