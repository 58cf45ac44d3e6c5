/** What is asked before many rows are changed, and what came of it. */
import { noProblems, type Problems, problemNote } from '../../platform/pages/components/forms.ts'
import { counted } from '../../platform/pages/components/list-counts.ts'
import { listAddress } from '../../platform/pages/components/list-links.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'
import type { Row } from '../actor.ts'
import type { Described, DescribedField } from '../declare/describe.ts'
import { labelOf, pathOf, plural, type Titles, titleOf, words, wordsFor } from './fields.ts'
import { formField, relationScript } from './form-fields.ts'

export interface BulkForm {
  action: string
  /** As they were sent. */
  picks: readonly string[]
  /** The query of the list. */
  back: string
}

export interface AskedValue extends BulkForm {
  field: DescribedField
  rows: readonly Row[]
  value: string
  titles: Titles
  problems?: Problems
}

const maxNamed = 10
/** No field has this name. */
export const valueName = '_value'

const backAddress = (collection: Described, back: string) =>
  listAddress(pathOf(collection), Object.fromEntries(new URLSearchParams(back)))

export function askPage(collection: Described, asked: AskedValue): Page {
  const { field, rows, value, titles, problems = noProblems, back } = asked
  const heading = `Set ${labelOf(field)} of ${counted(rows.length, wordsFor(collection))}`
  const shown = rows.slice(0, maxNamed).map((row) => titleOf(collection, row))
  const form = { collection, values: { [valueName]: value }, problems, titles, name: valueName, isNew: true }
  return {
    title: heading,
    address: backAddress(collection, back),
    content: html`<section class="medium card">
<h1>${heading}</h1>
${problemNote(problems)}
<p class="soft">${shown.join(', ')}${rows.length > shown.length && ` and ${rows.length - shown.length} more`}</p>
<form method="post" action="${pathOf(collection)}/bulk">
${hiddenPicks(asked)}
${formField(field, form)}
<div class="row"><button class="main" name="step" value="confirmed">Set ${labelOf(field)}</button><a class="button quiet" href="${backAddress(collection, back)}">Cancel</a></div>
</form>
</section>
${field.target && relationScript}`,
  }
}

function hiddenPicks({ action, picks, back }: BulkForm): Html {
  return html`<input type="hidden" name="action" value="${action}"><input type="hidden" name="back" value="${back}">
${picks.map((pick) => html`<input type="hidden" name="pick" value="${pick}">`)}`
}

export interface BulkResult {
  /** In the past tense. */
  done: string
  ids: readonly number[]
  refused: readonly { id: number; title: string; reason: string }[]
  back: string
  canBeUndone: boolean
}

export function bulkResultPage(collection: Described, { done, ids, refused, back, canBeUndone }: BulkResult): Page {
  const path = pathOf(collection)
  const told = `${counted(ids.length, wordsFor(collection))} ${done}`
  return {
    title: words(plural(collection)),
    address: backAddress(collection, back),
    content: html`<section class="medium card">
<h1>${words(plural(collection))}</h1>
<p role="status">${ids.length === 0 && refused.length === 0 ? 'Nothing was selected.' : told}</p>
${
  refused.length > 0 &&
  html`<h2>Not changed</h2>
<ul>${refused.map(({ id, title, reason }) => html`<li><a href="${path}/${id}">${title}</a>: ${reason}</li>`)}</ul>`
}
${
  canBeUndone &&
  ids.length > 0 &&
  html`<form method="post" action="${path}/bulk">${hiddenPicks({ action: 'restore', picks: ids.map(String), back })}
<button>Undo</button></form>`
}
<p class="row"><a href="${backAddress(collection, back)}">Back to the list</a></p>
</section>`,
  }
}
