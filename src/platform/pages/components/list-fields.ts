/** Fields of the form that sorts and filters a list. Their names are the parameters of the address. */
import { type Html, html } from '../html.ts'
import type { ListParameters } from './list-links.ts'

export type Options = readonly (readonly [value: string, text: string])[]

export interface ListField {
  label: string
  name: string
  query: ListParameters
}

export function selectField({ label, name, query }: ListField, options: Options): Html {
  const id = idOf(name)
  const chosen = query[name] ?? ''
  // What was asked for may be none of them.
  const all = options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen] as const]
  return html`<div class="field"><label for="${id}">${label}</label>
<select id="${id}" name="${name}">${all.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select></div>`
}

/** What the form keeps of the address. */
export function hiddenFields(query: ListParameters): Html[] {
  return Object.entries(query).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
}

export interface TextFieldOptions {
  type?: 'text' | 'datetime-local'
  inputmode?: 'decimal' | 'numeric'
  maxlength?: number
  /** More attributes, for scripts. */
  attributes?: Html
}

export function textField({ label, name, query }: ListField, options: TextFieldOptions = {}): Html {
  const { type = 'text', inputmode, maxlength, attributes } = options
  const id = idOf(name)
  return html`<div class="field"><label for="${id}">${label}</label>
<input${type !== 'text' && html` type="${type}"`} id="${id}" name="${name}" value="${query[name] ?? ''}"${
    inputmode !== undefined && html` inputmode="${inputmode}"`
  } autocomplete="off"${maxlength !== undefined && html` maxlength="${maxlength}"`}${attributes}></div>`
}

/** From and to. */
export function rangeFields(label: string, field: string, query: ListParameters, options: TextFieldOptions): Html {
  return html`${(['gte', 'lte'] as const).map((operator) =>
    textField(
      { label: `${label} ${operator === 'gte' ? 'from' : 'to'}`, name: `filter[${field}][${operator}]`, query },
      options,
    ),
  )}`
}

function idOf(name: string): string {
  return `by-${name.replaceAll('[', '-').replaceAll(']', '')}`
}
