import { type Html, html } from '../html.ts'
import type { ListWords } from './list-counts.ts'

export interface EmptyList extends ListWords {
  /** What is wrong with the query. */
  problem: string | undefined
  /** The address of the next page, if so far none of many rows has passed the filters. */
  onward: string | undefined
}

/** What is shown instead of the rows of a list with filters. */
export function emptyList({ none, one, many, problem, onward }: EmptyList): Html {
  if (problem !== undefined)
    return html`<div class="card empty"><h2>This filter cannot be used</h2><p>${problem}</p></div>`
  if (onward === undefined)
    return html`<div class="card empty"><h2>${none} found</h2><p>No ${one} passes all of these filters.</p></div>`
  return html`<div class="card empty"><h2>${none} so far</h2>
<p>Many ${many} were looked at, and none of them passes all filters.
<a rel="next" href="${onward}">Look on</a></p></div>`
}
