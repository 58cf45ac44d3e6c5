/**
 * Checkboxes to select the rows of a list, for the form of bulk-bar.ts, which may be anywhere: the boxes name it. picks.js
 * counts them and ticks those of a page; without scripts a link loads the page with all ticked.
 */
import { type Html, html } from '../html.ts'
import { bulkFormId } from './bulk-bar.ts'

export interface RowPick {
  /** What the form sends for this row. */
  value: string
  /** Of the row, for screen readers. */
  label: string
  isPicked: boolean
}

export function pickHead(): Html {
  return html`<th scope="col" class="pick"><span class="unseen">Selected</span><input type="checkbox" class="scripted" data-pick-all aria-label="All on this page"></th>`
}

export function pickCell({ value, label, isPicked }: RowPick): Html {
  return html`<td class="pick"><input type="checkbox" name="pick" value="${value}" form="${bulkFormId}" aria-label="Select ${label}"${isPicked && html` checked`}></td>`
}

/** Whether the address asks for all rows to be selected. */
export function isAllPicked({ select }: Readonly<Record<string, unknown>>): boolean {
  return select === 'page'
}
