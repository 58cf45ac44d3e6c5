/** How values of fields are edited in the console: as texts, which a form submits. */
import type { Principal } from '../../platform/access/route-guards.ts'
import { field as inputField, type Problems, type Values } from '../../platform/pages/components/forms.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import { actorOf } from '../actor.ts'
import { type Described, type DescribedField, maxTextOf, valuesOf } from '../declare/describe.ts'
import { decideRule } from '../rules/values.ts'
import { isMarker, writableFieldsOf } from '../store/values.ts'
import { labelOf, pathOf, plural, type Titles, words } from './fields.ts'

export type Form = Readonly<Record<string, unknown>>

/** The fields that a form has for this user; of the others, the service sets what it needs. */
export function editableFields(collection: Described, principal: Principal, isNew: boolean): DescribedField[] {
  const rules = actorOf(principal).principal
  return writableFieldsOf(collection).filter(({ definition: { options } }) => {
    if (options.writable?.kind === 'onCreate') return isNew
    return !options.writable || !rules || decideRule(options.writable, rules) !== false
  })
}

/** The values and texts of a field with a choice. */
export function optionsOf({
  kind,
  definition,
}: DescribedField): (readonly [value: string, text: string])[] | undefined {
  const options: [string, string][] | undefined =
    kind === 'boolean'
      ? [
          ['true', 'Yes'],
          ['false', 'No'],
        ]
      : kind === 'choice'
        ? (definition.values ?? []).map((each) => [each, words(each)])
        : undefined
  return options && definition.options.optional ? [['', '–'], ...options] : options
}

/** The value of a field as its form has it. Undefined if a form would change it. */
export function textOf(field: DescribedField, value: unknown): string | undefined {
  if (value === undefined || value === null) return ''
  const { kind } = valuesOf(field.definition)
  if (field.kind === 'list') {
    const lines = (value as unknown[]).map((item) => (kind === 'json' ? JSON.stringify(item) : String(item)))
    return lines.every((line) => line !== '' && line === line.trim() && !line.includes('\n'))
      ? lines.join('\n')
      : undefined
  }
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value)
}

/** A form of 128 kB holds so much. */
const maxEncoded = 100_000

/** The texts of a row's form. Without what is too long for it: a field that is not submitted is left as it is. */
export function textsOf(fields: readonly DescribedField[], row: Values): Record<string, string> {
  let left = maxEncoded
  return Object.fromEntries(
    fields.flatMap((field): [string, string][] => {
      const text = textOf(field, row[field.name])
      const length = text === undefined ? Number.POSITIVE_INFINITY : encodeURIComponent(text.toWellFormed()).length
      if (text === undefined || length > left) return []
      left -= length
      return [[field.name, text]]
    }),
  )
}

/** What a form for a new row begins with. */
export function defaultTexts(fields: readonly DescribedField[]): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap((field): [string, string][] => {
      const { default: given } = field.definition.options
      return given === undefined || isMarker(given) ? [] : [[field.name, textOf(field, given) ?? '']]
    }),
  )
}

/** The texts of the fields that were submitted. Browsers submit line breaks as CRLF. */
export function readTexts(form: Form, fields: readonly DescribedField[]): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap(({ name }): [string, string][] => {
      const [sent] = [form[name]].flat()
      return sent === undefined ? [] : [[name, String(sent).replaceAll('\r\n', '\n')]]
    }),
  )
}

/** A body as the API takes it, of what differs from the row. */
export function toBody(
  texts: Readonly<Record<string, string>>,
  fields: readonly DescribedField[],
  row?: Values,
): Record<string, unknown> {
  const given = fields.flatMap((field): [string, unknown][] => {
    const text = texts[field.name]
    if (text === undefined || (row && text === textOf(field, row[field.name]))) return []
    return [[field.name, field.kind === 'list' ? linesOf(text) : text]]
  })
  return Object.fromEntries(given)
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The titles of what relations refer to, by id. */
function titlesOf({ target }: DescribedField, value: unknown, titles: Titles): Record<string, string> {
  const known = target && titles.get(target)
  const ids = String(value ?? '').split('\n')
  return Object.fromEntries(
    ids.flatMap((id) => {
      const title = known?.get(Number(id))
      return title === undefined ? [] : [[id, title]]
    }),
  )
}

/** With scripts, what relations refer to is found by searching at this address, and shown by its title. */
export function relationAttributes(
  collection: Described,
  field: DescribedField,
  { value, titles }: { value: unknown; titles: Titles },
): Html {
  const shown = JSON.stringify(titlesOf(field, value, titles))
  const isList = field.kind === 'list'
  return html` data-relation="${pathOf(collection)}/relations/${field.name}" data-titles="${shown}"${isList && html` data-many`}`
}

export const relationScript = html`<script src="/console/assets/relations.js" type="module"></script>`

export interface FormField {
  collection: Described
  values: Values
  problems: Problems
  titles: Titles
  /** Instead of that of the field. */
  name?: string
  isNew: boolean
}

export function formField(field: DescribedField, form: FormField): Html {
  const { kind, definition, target } = field
  const { name = field.name, values, titles, collection, isNew } = form
  const { optional, help, multiline, min, max } = definition.options
  const value = values[name]
  const label = labelOf(field)
  if (value === undefined && !isNew) return leftAsItIs(label)
  const problems = { ...form.problems, fields: withItems(form.problems.fields, field.name, name) }
  const isRequired = !optional && kind !== 'list'
  const shared = { label, name, problems, value, required: isRequired, autocomplete: 'off' }
  const hinted = (hint: string | undefined) => (help ?? hint) !== undefined && { hint: help ?? (hint as string) }
  const options = optionsOf(field)
  if (options) return choiceField({ ...shared, ...hinted(undefined) }, options)
  if (target) {
    const what = target.singular.replaceAll('-', ' ')
    const known = Object.values(titlesOf(field, value, titles))
    const attributes = relationAttributes(collection, field, { value, titles })
    if (kind === 'list')
      return inputField({
        ...shared,
        type: 'textarea',
        attributes,
        ...hinted(`IDs of ${plural(target)}, one per line`),
      })
    const hint = known[0] === undefined ? `ID of a ${what}` : `Currently ${known[0]}`
    return inputField({ ...shared, inputmode: 'numeric', attributes, ...hinted(hint) })
  }
  if (kind === 'list') return inputField({ ...shared, type: 'textarea', ...hinted('One per line') })
  if (kind === 'json') return inputField({ ...shared, type: 'textarea', ...hinted('JSON') })
  if (kind === 'integer' || kind === 'decimal') {
    const inputmode = kind === 'integer' && (min ?? -1) >= 0 ? 'numeric' : 'decimal'
    return inputField({ ...shared, inputmode, ...hinted(rangeOf(min, max)) })
  }
  const hint = { day: 'YYYY-MM-DD', time: 'Such as 2026-12-24T18:00:00Z' }[kind as 'day']
  return inputField({
    ...shared,
    type: multiline ? 'textarea' : kind === 'email' ? 'email' : 'text',
    ...hinted(hint),
    ...(['text', 'email', 'url'].includes(kind) && { maxlength: maxTextOf(definition) }),
  })
}

function rangeOf(min: number | undefined, max: number | undefined): string | undefined {
  if (min !== undefined && max !== undefined) return `From ${min} to ${max}`
  if (min !== undefined) return `At least ${min}`
  return max === undefined ? undefined : `At most ${max}`
}

/** Instead of a field that a form would change, or that is too long for it. */
function leftAsItIs(label: string): Html {
  return html`<div class="field"><p class="label">${label}</p>
<p class="hint">Too long to edit here. Saving leaves it as it is; to change it, use the API.</p></div>`
}

type Shared = Pick<Parameters<typeof inputField>[0], 'label' | 'name' | 'problems' | 'required' | 'value' | 'hint'>

function choiceField(
  { label, name, problems, required, value, hint }: Shared,
  options: readonly (readonly [value: string, text: string])[],
): Html {
  const errors = problems?.fields[name] ?? []
  const id = `field-${name}`
  const chosen = String(value ?? '')
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(errors.length > 0 ? [`${id}-error`] : [])]
  // What was sent may be none of them.
  const all = options.some(([each]) => each === chosen) ? options : [[chosen, chosen || '–'] as const, ...options]
  return html`<div class="field">
<label for="${id}">${label}${!required && html` <span class="optional">optional</span>`}</label>
<select id="${id}" name="${name}"${errors.length > 0 && html` aria-invalid="true"`}${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}>${all.map(
    ([each, text]) => html`<option value="${each}"${each === chosen && html` selected`}>${text}</option>`,
  )}</select>
${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
${errors.length > 0 && html`<p class="error" id="${id}-error">${errors.join('. ')}.</p>`}
</div>`
}

/** The line of an item, or where something is in JSON. */
const placeOf = (path: string) => (/^\d+$/.test(path) ? `Line ${Number(path) + 1}` : path)

/** Problems of the items of a list are shown with the list. */
function withItems(fields: Problems['fields'], name: string, shownName: string): Problems['fields'] {
  const items = Object.entries(fields).filter(([path]) => path.startsWith(`${name}.`))
  const messages = items.flatMap(([path, problems]) =>
    problems.map((each) => `${placeOf(path.slice(name.length + 1))}: ${each}`),
  )
  const all = [...(fields[name] ?? []), ...messages]
  return all.length === 0 ? fields : { ...fields, [shownName]: all }
}
