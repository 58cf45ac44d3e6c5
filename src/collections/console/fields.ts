/** How values of fields are shown in the console. */
import { time } from '../../platform/pages/components/times.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import type { Row } from '../actor.ts'
import { type Described, type DescribedField, valuesOf } from '../declare/describe.ts'

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

export const plural = ({ name }: Described) => name.replaceAll('-', ' ')
export const one = ({ singular }: Described) => singular.replaceAll('-', ' ')
export const wordsFor = (collection: Described) => ({
  none: `No ${plural(collection)}`,
  one: one(collection),
  many: plural(collection),
})

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

/** The fields of a list, the longest of which are shown only to those who ask. */
export function isLong({ definition }: DescribedField): boolean {
  const { kind, options } = definition.computed?.type ?? definition
  return kind === 'json' || options.multiline === true
}
