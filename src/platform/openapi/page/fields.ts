/** Renders the fields of a schema as a table of paths, types and rules. */
import { type Html, html, prose } from '../../pages/html.ts'
import { type JsonSchema, type OpenApiDocument, resolveSchema } from '../document.ts'

export interface Field {
  /** `data[].id` */
  path: string
  kind: string
  isRequired: boolean
  rules: string[]
  description: string | undefined
}

export function fieldsOf(document: OpenApiDocument, given: JsonSchema, path = ''): Field[] {
  const schema = resolveSchema(document, given)
  const items = schema.items && resolveSchema(document, schema.items)
  if (items?.properties) return fieldsOf(document, items, `${path}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = fieldsOf(document, property, path === '' ? name : `${path}.${name}`)
    if (inner.length > 0) return inner
    return [{ ...describeField(document, property, schema, name), path: path === '' ? name : `${path}.${name}` }]
  })
}

function describeField(document: OpenApiDocument, given: JsonSchema, parent: JsonSchema, name: string) {
  const property = resolveSchema(document, given)
  return {
    kind: kindOf(document, property),
    isRequired: parent.required?.includes(name) ?? false,
    rules: rulesOf(property),
    description: property.description,
  }
}

export function kindOf(document: OpenApiDocument, given: JsonSchema): string {
  const schema = resolveSchema(document, given)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf) return schema.anyOf.map((each) => kindOf(document, each)).join(' or ')
  if (schema.type === 'array') return `list of ${plural(schema.items ? kindOf(document, schema.items) : 'value')}`
  if (schema.format === 'date-time') return 'date-time'
  return schema.type === undefined ? 'any' : [schema.type].flat().join(' or ')
}

function plural(kind: string): string {
  return kind === 'any' ? 'values' : `${kind}s`
}

export function rulesOf(schema: JsonSchema): string[] {
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

/** `tag` is shown after the name: `required`, or the location of a parameter. */
export function fieldTable(caption: string, rows: readonly (Field & { tag: string })[]): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="fields">
<caption>${caption}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Rules</th></tr></thead>
<tbody>${rows.map(
    ({ path, kind, tag, rules, description }) => html`<tr>
<th scope="row"><code>${path}</code>${tag !== '' && html` <small>${tag}</small>`}</th>
<td>${kind}</td>
<td>${rules.join(', ')}${rules.length > 0 && description !== undefined && html`<br>`}${prose(description ?? '')}</td>
</tr>`,
  )}</tbody>
</table></div>`
}
