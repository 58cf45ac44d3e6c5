/** Renders the fields of a schema as a table of paths, types and rules. */
import { type Html, html } from '../../pages/html.ts'
import { type JsonSchema, type OpenApiDocument, resolveSchema } from '../document.ts'

/** A row of a table. */
export interface Field {
  /** `data[].id` */
  path: string
  /** Shown after the name: `required`, or the location of a parameter. */
  tag: string
  kind: string
  rules: string[]
  description: string | undefined
}

export function fieldsOf(document: OpenApiDocument, given: JsonSchema, path = ''): Field[] {
  const schema = resolveSchema(document, given)
  const items = schema.items && resolveSchema(document, schema.items)
  if (items?.properties) return fieldsOf(document, items, `${path}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const place = path === '' ? name : `${path}.${name}`
    const inner = fieldsOf(document, property, place)
    return inner.length > 0
      ? inner
      : [fieldOf(document, property, place, schema.required?.includes(name) && 'required')]
  })
}

export function fieldOf(document: OpenApiDocument, given: JsonSchema, path: string, tag: string | false = ''): Field {
  const schema = resolveSchema(document, given)
  const kind = kindOf(document, schema)
  return { path, tag: tag || '', kind, rules: rulesOf(schema), description: schema.description }
}

function kindOf(document: OpenApiDocument, given: JsonSchema): string {
  const schema = resolveSchema(document, given)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf) return schema.anyOf.map((each) => kindOf(document, each)).join(' or ')
  if (schema.type === 'array') return `list of ${schema.items ? kindOf(document, schema.items) : 'value'}s`
  if (schema.format === 'date-time') return 'date-time'
  return schema.type === undefined ? 'any value' : [schema.type].flat().join(' or ')
}

function rulesOf(schema: JsonSchema): string[] {
  const isNeverBlank = schema.pattern === '\\S'
  const length = between(isNeverBlank && schema.minLength === 1 ? undefined : schema.minLength, schema.maxLength)
  const size = between(schema.minimum, schema.maximum)
  return [
    ...(isNeverBlank ? ['not blank'] : []),
    ...(length === undefined ? [] : [`${length} characters`]),
    ...(size === undefined ? [] : [size]),
    ...(Array.isArray(schema.enum) ? [`one of ${schema.enum.map((each) => JSON.stringify(each)).join(', ')}`] : []),
    ...(schema.default === undefined || schema.default === '' ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ]
}

function between(least: unknown, most: unknown): string | undefined {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`
  if (least !== undefined) return `at least ${least}`
  return most === undefined ? undefined : `at most ${most}`
}

/** A path or a name in code. Lines end after its signs, or before a capital letter, and nowhere else. */
export function breakable(text: string): Html {
  const parts = text.split(/(?<=[/._\-\]])|(?<=[a-z])(?=[A-Z])/)
  return html`<code>${parts.map((part, i) => html`${i > 0 && html`<wbr>`}${part}`)}</code>`
}

/** Renders text between backticks as code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, i) => (i % 2 === 1 ? breakable(part) : part))}`
}

export function fieldTable(caption: string, rows: readonly Field[]): Html {
  return html`<table>
<caption>${caption}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Rules</th></tr></thead>
<tbody>${rows.map(
    ({ path, kind, tag, rules, description }) => html`<tr>
<th scope="row">${breakable(path)}${tag !== '' && html` <small>${tag}</small>`}</th>
<td>${kind}</td>
<td>${rules.join(', ')}${rules.length > 0 && description !== undefined && html`<br>`}${prose(description ?? '')}</td>
</tr>`,
  )}</tbody>
</table>`
}
