/**
 * Rows of a list that are edited in place. The service renders a row as a form, and as a row again; row-edit.js replaces it
 * on the page, and without scripts the whole page is loaded.
 */
import { type Html, html } from '../html.ts'
import { type ListParameters, listAddress } from './list-links.ts'

/** A row that is a form. */
export interface EditedRow {
  id: number
  /** The ETag of what is edited. */
  tag: string
  /** What was typed; by default what is saved. */
  typed?: Readonly<Record<string, unknown>>
  /** What is wrong, by column. */
  problems?: Readonly<Record<string, readonly string[]>>
  note?: string
}

/** Names of hidden fields, which no column has. */
export const rowFormNames = { tag: '_tag', back: '_back', inPlace: '_in_place' } as const

const formIdOf = (id: number) => `edit-${id}`

/** The value of a cell, as a link that makes the row a form. */
export function editLink(
  list: { path: string; query: ListParameters },
  id: number,
  column: string,
  value: Html | string,
) {
  const address = listAddress(list.path, { ...list.query, edit: String(id) })
  return html`<a class="edit" href="${address}" title="Change it" data-edit="${column}">${value}</a>`
}

export interface RowControl {
  name: string
  label: string
  value: unknown
  inputmode?: 'numeric' | 'decimal' | undefined
  maxlength?: number
  /** Values and their texts. Without them it is an input. */
  options?: readonly (readonly [value: string, text: string])[] | undefined
}

export function rowControl({ id, problems = {} }: EditedRow, control: RowControl): Html {
  const { name, label, value, inputmode, maxlength = 64, options } = control
  const text = String(value ?? '')
  const wrong = problems[name] && html` aria-invalid="true" aria-describedby="${formIdOf(id)}-note"`
  if (options)
    return html`<select form="${formIdOf(id)}" name="${name}" aria-label="${label}"${wrong}>${options.map(
      ([each, words]) => html`<option value="${each}"${each === text && html` selected`}>${words}</option>`,
    )}</select>`
  return html`<input form="${formIdOf(id)}" name="${name}" value="${text}" aria-label="${label}"${
    inputmode !== undefined && html` inputmode="${inputmode}"`
  } autocomplete="off" maxlength="${maxlength}"${wrong}>`
}

export interface RowForm {
  row: EditedRow
  action: string
  list: { path: string; query: ListParameters }
  /** The labels of the columns, by name. */
  labels: readonly (readonly [name: string, label: string])[]
  /** What is said when it is saved. */
  saved: string
}

export function rowForm({ row: { id, tag, problems = {}, note }, action, list, labels, saved }: RowForm): Html {
  const wrong = labels.flatMap(([name, label]) => (problems[name] ? [`${label}: ${problems[name].join('. ')}.`] : []))
  const told = [...(note === undefined ? [] : [note]), ...wrong]
  return html`<form id="${formIdOf(id)}" class="row edit-row" method="post" action="${action}" data-saved="${saved}">
<input type="hidden" name="${rowFormNames.tag}" value="${tag}"><input type="hidden" name="${rowFormNames.back}" value="${new URLSearchParams(list.query).toString()}">
${told.length > 0 && html`<p class="error" id="${formIdOf(id)}-note" role="alert">${told.join(' ')}</p>`}
<button class="main">Save</button><a class="button quiet" href="${listAddress(list.path, list.query)}" data-edit-cancel>Cancel</a></form>`
}

export const rowEditScript = html`<script src="/console/assets/row-edit.js" type="module"></script>`

/** A row that was a form, of what is deleted by now: nothing typed is lost. */
export interface GoneRow {
  /** Undefined if its deletion cannot be undone. */
  deleted: { id: number; name: string } | undefined
  /** By column. Those that were not sent are not shown. */
  typed: Readonly<Record<string, unknown>>
}

export function goneRow({ deleted, typed }: GoneRow, { path, one }: { path: string; one: string }): Html {
  const told = Object.entries(typed).flatMap(([column, value]) =>
    typeof value === 'string' ? [`${column} ${value === '' ? 'empty' : value}`] : [],
  )
  return html`<div class="problem" role="alert" data-gone>
<p>${deleted ? html`“${deleted.name}”` : `This ${one}`} has been deleted meanwhile, so nothing is saved.${
    told.length > 0 && ` You typed: ${told.join(', ')}.`
  }</p>
${deleted && html`<form method="post" action="${path}/${deleted.id}/restore"><button>Undo the deletion</button></form>`}
</div>`
}
