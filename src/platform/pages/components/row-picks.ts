/**
 * Checkboxes to select the rows of a list, for one form that does something to all of them. The form may be anywhere: the
 * boxes name it. picks.js counts them and ticks those of a page; without scripts a link loads the page with all ticked.
 */
import { type Html, html } from '../html.ts'

export interface RowPick {
  /** The id of the form. */
  form: string
  /** What the form sends for this row. */
  value: string
  /** Of the row, for screen readers. */
  label: string
  isPicked: boolean
}

export function pickHead(): Html {
  return html`<th scope="col" class="pick"><span class="unseen">Selected</span><input type="checkbox" data-pick-all hidden aria-label="All on this page"></th>`
}

export function pickCell({ form, value, label, isPicked }: RowPick): Html {
  return html`<td class="pick"><input type="checkbox" name="pick" value="${value}" form="${form}" aria-label="Select ${label}"${isPicked && html` checked`}></td>`
}

/** `all` is the address of the list with every row selected. */
export function pickStatus({ all }: { all: string }): Html {
  return html`<a href="${all}" data-pick-link>Select all on this page</a><span data-picked role="status" hidden></span>
<script src="/console/assets/picks.js" type="module"></script>`
}
