/** The pages of one row: forms to create and edit it, what is known of it, and its history. */
import { conflictNote } from '../../platform/pages/components/conflict.ts'
import { excerpts } from '../../platform/pages/components/excerpts.ts'
import { factList } from '../../platform/pages/components/facts.ts'
import { noProblems, type Problems, problemNote, type Values } from '../../platform/pages/components/forms.ts'
import { time } from '../../platform/pages/components/times.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'
import type { Row } from '../actor.ts'
import type { Described, DescribedField } from '../declare/describe.ts'
import { type CollectionService, shownFieldsOf } from '../service.ts'
import { labelOf, one, pathOf, plural, showValue, showWhole, type Titles, titleOf, words } from './fields.ts'
import { formField, relationScript, textOf } from './form-fields.ts'

export interface FormView {
  /** Texts of the form. */
  values: Values
  problems?: Problems | undefined
  titles: Titles
  fields: readonly DescribedField[]
  /** Above the form. */
  note?: Html | undefined
}

/** Names of hidden fields, which no field has. */
export const formNames = { tag: '_tag', key: '_key' } as const

/** `key`: of a new row, which is created once however often the form is sent. */
export function newPage(collection: Described, { key, ...view }: FormView & { key: string }): Page {
  const heading = `New ${one(collection)}`
  return {
    title: heading,
    address: `${pathOf(collection)}/new`,
    content: html`<section class="medium card">
<h1>${heading}</h1>
${form(collection, view, { action: pathOf(collection), isNew: true, hidden: [formNames.key, key], button: 'Create' })}
</section>`,
  }
}

export interface EditView extends FormView {
  row: Row
  tag: string
  history: readonly HistoryEntry[]
  mayDelete: boolean
}

export function editPage(collection: Described, view: EditView): Page {
  const { row, tag, note } = view
  const heading = titleOf(collection, row)
  const path = `${pathOf(collection)}/${row.id}`
  const button = note ? 'Save mine' : 'Save'
  return {
    title: heading,
    address: path,
    content: html`<section class="medium card">
<h1>${heading}</h1>
${form(collection, view, { action: path, isNew: false, hidden: [formNames.tag, tag], button })}
</section>
${factsCard(collection, view)}
${besideCards(collection, view)}`,
  }
}

interface FormParts {
  action: string
  isNew: boolean
  hidden: readonly [name: string, value: string]
  button: string
}

function form(collection: Described, view: FormView, { action, isNew, hidden, button }: FormParts): Html {
  const { values, titles, fields, note, problems = noProblems } = view
  const [name, value] = hidden
  return html`${note}${problemNote(problems)}
<form method="post" action="${action}">
<input type="hidden" name="${name}" value="${value}">
${fields.map((field) => formField(field, { collection, values, problems, titles, isNew }))}
<p class="row"><button class="main">${button}</button> <a class="button quiet" href="${pathOf(collection)}" data-back>Back to the list</a></p>
</form>
${fields.some(({ target }) => target) && relationScript}`
}

/** The fields that this user cannot edit. */
function factsCard(collection: Described, { row, fields, titles }: EditView): Html {
  const others = shownFieldsOf(collection).filter((field) => !fields.includes(field))
  return html`<section class="medium card" aria-labelledby="details">
<h2 id="details">Details</h2>
${factList([['ID', String(row.id)], ...factsOf(others, row, titles)])}
</section>`
}

const factsOf = (fields: readonly DescribedField[], row: Row, titles: Titles) =>
  fields.map((field) => [labelOf(field), showWhole(field, row[field.name], titles)] as const)

export type RowView = Pick<EditView, 'row' | 'titles' | 'history' | 'mayDelete'>
export type HistoryEntry = Awaited<ReturnType<CollectionService['versions']>>[number]

export function detailsPage(collection: Described, view: RowView): Page {
  const { row, titles } = view
  const heading = titleOf(collection, row)
  return {
    title: heading,
    content: html`<section class="medium card">
<h1>${heading}</h1>
${factList([['ID', String(row.id)], ...factsOf(shownFieldsOf(collection), row, titles)])}
<p class="row"><a href="${pathOf(collection)}" data-back>Back to the list</a></p>
</section>
${besideCards(collection, view)}`,
  }
}

/** On the page of a row. */
const newestVersions = 10

function besideCards(collection: Described, { row, history, titles, mayDelete }: RowView): Html {
  const path = `${pathOf(collection)}/${row.id}`
  const what = one(collection)
  return html`<section class="medium card" aria-labelledby="history">
<h2 id="history">History</h2>
${versionList(collection, history.slice(0, newestVersions), titles)}
${history.length > newestVersions && html`<p class="beside"><a href="${path}/history">Older versions</a></p>`}
</section>
${
  mayDelete &&
  html`<section class="medium card" aria-labelledby="deletion">
<h2 id="deletion">Delete</h2>
<p class="soft">${collection.keptMs === undefined ? 'You can’t undo this.' : 'You can undo this right after.'}</p>
<form method="post" action="${path}/delete" data-confirm="Delete “${titleOf(collection, row)}”?" data-confirm-button="Delete"><button class="bad">Delete ${what}</button></form>
</section>`
}`
}

export function historyPage(collection: Described, { row, history, titles }: RowView): Page {
  const heading = `History of “${titleOf(collection, row)}”`
  return {
    title: heading,
    content: html`<section class="medium card">
<h1>${heading}</h1>
${versionList(collection, history, titles)}
<p class="beside"><a href="${pathOf(collection)}/${row.id}">Back to the ${one(collection)}</a></p>
</section>`,
  }
}

function versionList(collection: Described, history: readonly HistoryEntry[], titles: Titles): Html {
  if (history.length === 0) return html`<p class="soft">No versions yet</p>`
  return html`<ol class="history">${history.map((entry) => historyItem(collection, entry, titles))}</ol>`
}

const kinds: Readonly<Record<string, string>> = {
  created: 'Created',
  updated: 'Edited',
  deleted: 'Deleted',
  restored: 'Restored',
}

function historyItem({ fields }: Described, { type, at, actor, changes }: HistoryEntry, titles: Titles): Html {
  const kind = type.slice(type.indexOf('.') + 1)
  const lines = kind === 'updated' ? Object.entries(changes) : []
  return html`<li>
<p><strong>${kinds[kind] ?? type}</strong> by ${actor ? actor.name || `user ${actor.id}` : 'a command or a program'} <span class="soft">${time(at)}</span></p>
${
  lines.length > 0 &&
  html`<dl>${lines.map(([name, [from, to]]) => {
    const field = fields.get(name) as DescribedField
    const [before, after] = shownChange(field, [from, to], titles)
    return html`<div><dt>${labelOf(field)}</dt><dd><del>${before}</del> <span class="soft">→</span> <ins>${after}</ins></dd></div>`
  })}</dl>`
}
</li>
`
}

/** Long texts are cut to where they differ. */
function shownChange(field: DescribedField, [from, to]: readonly [unknown, unknown], titles: Titles) {
  const isText = typeof from === 'string' && typeof to === 'string' && field.kind === 'text'
  return isText ? excerpts(from, to) : [showValue(field, from, titles), showValue(field, to, titles)]
}

/** Above a form with what was typed, if somebody else has saved meanwhile. */
export function changedNote(
  collection: Described,
  { row, typed, fields }: { row: Row; typed: Readonly<Record<string, string>>; fields: readonly DescribedField[] },
): Html {
  const differing = fields.flatMap((field) => {
    const [yours, saved] = [typed[field.name], textOf(field, row[field.name])]
    if (yours === undefined || saved === undefined || yours === saved) return []
    return [{ label: labelOf(field), yours, saved }]
  })
  const at = row.updated_at === undefined ? '' : html` at ${time(String(row.updated_at))}`
  const lead = html`<strong>Someone else changed this while you were editing</strong>${at}.`
  return conflictNote({ lead, differing, address: `${pathOf(collection)}/${row.id}` })
}

/** Above the form of a new row with what was typed for one that is no longer there. */
export const goneNote = (collection: Described): Html =>
  html`<p class="problem" role="alert">This ${one(collection)} has been deleted, or you can no longer see it. Your changes are not saved, but still
here: you can create a new ${one(collection)} from them.</p>`

/** In place of a row that is deleted. */
export function deletedPage(collection: Described, { id, name }: { id: number; name: string }): Page {
  const path = pathOf(collection)
  return {
    title: name,
    content: html`<section class="medium card">
<h1>${name}</h1>
<p>${words(one(collection))} deleted</p>
<form method="post" action="${path}/${id}/restore"><p class="row"><button class="main">Restore ${one(collection)}</button> <a class="button quiet" href="${path}">Back to the ${plural(collection)}</a></p></form>
</section>`,
  }
}
