/** How values of fields are shown and edited in the console. */
import type { Principal } from '../../platform/access/route-guards.ts'
import { field as inputField, type Problems, type Values } from '../../platform/pages/components/forms.ts'
import { time } from '../../platform/pages/components/times.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import { actorOf, type Row } from '../actor.ts'
import { type Described, type DescribedField, maxTextOf, valuesOf } from '../declare/describe.ts'
import { decideRule } from '../rules/values.ts'
import { isMarker, writableFieldsOf } from '../store/values.ts'

/** What rows refer to, by collection and id. */
export type Titles = ReadonlyMap<Described, ReadonlyMap<number, string>>

const shownItems = 5
const shownCharacters = 120

export function labelOf({ name, definition }: DescribedField): string {
  const words = definition.options.label ?? name.replaceAll('_', ' ')
  return `${(words[0] ?? '').toUpperCase()}${words.slice(1)}`
}

/** What stands for a row: its title, or its id. */
export function titleOf({ title, singular }: Described, row: Row): string {
  const text = row[title]
  const words = singular.replaceAll('-', ' ')
  return typeof text === 'string' && text.trim() !== ''
    ? text
    : `${(words[0] ?? '').toUpperCase()}${words.slice(1)} ${row.id}`
}

const idWords = ({ singular }: Described) => `${words(singular)} IDs`

export const pathOf = ({ name }: Described) => `/console/${name}`

/** Undefined for a field that the reader may not see. */
export function showValue(field: DescribedField, value: unknown, titles: Titles): Html | string {
  if (value === undefined) return html`<span class="soft">Hidden</span>`
  if (value === null || value === '') return html`<span class="soft">–</span>`
  if (Array.isArray(value)) {
    const [shown, more] = [value.slice(0, shownItems), value.length - shownItems]
    if (value.length === 0) return html`<span class="soft">–</span>`
    return html`${shown.map((each, i) => html`${i > 0 && ', '}${showOne(field, each, titles)}`)}${more > 0 && ` and ${more} more`}`
  }
  return showOne(field, value, titles)
}

function showOne({ definition, target }: DescribedField, value: unknown, titles: Titles): Html | string {
  if (target) {
    const title = titles.get(target)?.get(value as number)
    if (title === undefined) return html`<span class="soft">${String(value)}</span>`
    const path = target.rules ? pathOf(target) : '/console/users'
    return target.rules ? html`<a href="${path}/${value as number}">${title}</a>` : title
  }
  const { kind } = definition.computed?.type ?? valuesOf(definition)
  if (kind === 'time') return time(String(value))
  if (kind === 'boolean') return value ? 'Yes' : 'No'
  if (kind === 'url') return html`<a href="${String(value)}" rel="noreferrer nofollow">${shorten(String(value))}</a>`
  if (kind === 'choice') return words(String(value))
  return shorten(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** For the page of a row: items of JSON that has a schema as a table. */
export function showWhole(field: DescribedField, value: unknown, titles: Titles): Html | string {
  const { items } = (field.definition.options.schema ?? {}) as { items?: { properties?: object } }
  const names = Object.keys(items?.properties ?? {})
  if (names.length === 0 || !Array.isArray(value)) return showValue(field, value, titles)
  return html`<table class="stack">
<thead><tr>${names.map((name) => html`<th scope="col">${words(name)}</th>`)}</tr></thead>
<tbody>${value.map((item) => html`<tr>${names.map((name) => html`<td data-label="${words(name)}">${String(item[name] ?? '–')}</td>`)}</tr>`)}</tbody>
</table>`
}

const shorten = (text: string) => (text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text)

export function words(text: string): string {
  const spaced = text.replaceAll(/[-_]/g, ' ')
  return `${(spaced[0] ?? '').toUpperCase()}${spaced.slice(1)}`
}

/** The fields that a form has for this user; of the others, the service sets what it needs. */
export function editableFields(collection: Described, principal: Principal, isNew: boolean): DescribedField[] {
  const rules = actorOf(principal).principal
  return writableFieldsOf(collection).filter(({ definition: { options } }) => {
    if (options.writable?.kind === 'onCreate') return isNew
    return !options.writable || !rules || decideRule(options.writable, rules) !== false
  })
}

export interface FormField {
  values: Values
  problems: Problems
  titles: Titles
}

/** An input, or a choice. Without scripts, relations are given by their id. */
export function formField(field: DescribedField, { values, problems, titles }: FormField): Html {
  const { name, kind, definition, target } = field
  const { optional, help, multiline, min, max } = definition.options
  const value = values[name]
  const shared = {
    label: labelOf(field),
    name,
    problems: { ...problems, fields: withItems(problems.fields, name) },
    required: !optional && kind !== 'list',
    autocomplete: 'off',
  }
  if (kind === 'choice')
    return choiceField(
      field,
      shared,
      [...(definition.values ?? [])].map((each) => [each, words(each)]),
      value,
    )
  if (kind === 'boolean')
    return choiceField(
      field,
      shared,
      [
        ['true', 'Yes'],
        ['false', 'No'],
      ],
      value,
    )
  if (kind === 'list') {
    const lines = Array.isArray(value) ? value.join('\n') : (value ?? '')
    return inputField({
      ...shared,
      type: 'textarea',
      value: lines,
      hint: help ?? (target ? `${idWords(target)}, one per line` : 'One per line'),
    })
  }
  if (target) {
    const title = typeof value === 'number' ? titles.get(target)?.get(value) : undefined
    return inputField({
      ...shared,
      inputmode: 'numeric',
      value,
      hint: help ?? (title === undefined ? `ID of a ${target.singular.replaceAll('-', ' ')}` : `Currently ${title}`),
    })
  }
  if (kind === 'json')
    return inputField({
      ...shared,
      type: 'textarea',
      value:
        value === null || value === undefined || typeof value === 'string' ? value : JSON.stringify(value, null, 2),
      hint: help ?? 'JSON',
    })
  if (kind === 'integer' || kind === 'decimal') {
    const range = [min !== undefined && `at least ${min}`, max !== undefined && `at most ${max}`]
      .filter(Boolean)
      .join(', ')
    const hint = help ?? (range === '' ? undefined : range[0]?.toUpperCase() + range.slice(1))
    return inputField({
      ...shared,
      inputmode: kind === 'integer' ? 'numeric' : 'decimal',
      value,
      ...(hint !== undefined && { hint }),
    })
  }
  const hint = help ?? { day: 'YYYY-MM-DD', time: 'Such as 2026-12-24T18:00:00Z' }[kind as 'day']
  const isLong = multiline === true
  return inputField({
    ...shared,
    type: isLong ? 'textarea' : kind === 'email' ? 'email' : 'text',
    value,
    ...(hint !== undefined && { hint }),
    ...(['text', 'email', 'url'].includes(kind) && { maxlength: maxTextOf(definition) }),
  })
}

type Shared = Pick<Parameters<typeof inputField>[0], 'label' | 'name' | 'problems' | 'required'>

function choiceField(
  { definition }: DescribedField,
  { label, name, problems, required }: Shared,
  options: readonly (readonly [value: string, text: string])[],
  value: unknown,
): Html {
  const errors = problems?.fields[name] ?? []
  const id = `field-${name}`
  const chosen = value ?? ''
  const all = definition.options.optional || chosen === '' ? [['', '–'] as const, ...options] : options
  return html`<div class="field">
<label for="${id}">${label}${!required && html` <span class="optional">optional</span>`}</label>
<select id="${id}" name="${name}"${errors.length > 0 && html` aria-invalid="true" aria-describedby="${id}-error"`}>${all.map(
    ([each, text]) => html`<option value="${each}"${each === String(chosen) && html` selected`}>${text}</option>`,
  )}</select>
${errors.length > 0 && html`<p class="error" id="${id}-error">${errors.join('. ')}.</p>`}
</div>`
}

/** Problems of the items of a list are shown with the list. */
function withItems(fields: Problems['fields'], name: string): Problems['fields'] {
  const items = Object.entries(fields).filter(([path]) => path.startsWith(`${name}.`))
  if (items.length === 0) return fields
  const messages = items.flatMap(([path, problems]) =>
    problems.map((each) => `${placeOf(path.slice(name.length + 1))}: ${each}`),
  )
  return { ...fields, [name]: [...(fields[name] ?? []), ...messages] }
}

/** The line of an item, or where something is in JSON. */
const placeOf = (path: string) => (/^\d+$/.test(path) ? `Line ${Number(path) + 1}` : path)

/** What a form for a new row begins with. */
export function defaultValues(fields: readonly DescribedField[]): Values {
  return Object.fromEntries(
    fields.flatMap(({ name, definition: { options } }) =>
      options.default === undefined || isMarker(options.default) ? [] : [[name, options.default]],
    ),
  )
}

/** A body as the API takes it, from the texts of a form. */
export function readForm(
  body: Readonly<Record<string, unknown>>,
  fields: readonly DescribedField[],
): Record<string, unknown> {
  const given = fields.flatMap(({ name, kind }): [string, unknown][] => {
    const sent = body[name]
    if (sent === undefined) return []
    if (kind !== 'list') return [[name, sent]]
    return [
      [
        name,
        String(sent)
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      ],
    ]
  })
  return Object.fromEntries(given)
}

/** The fields of a list, the longest of which are shown only to those who ask. */
export function isLong({ definition }: DescribedField): boolean {
  const { kind, options } = definition.computed?.type ?? definition
  return kind === 'json' || options.multiline === true
}
