import { type Html, html, json, prose } from '../../pages/html.ts'
import {
  type JsonSchema,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  type ResponseObject,
  resolveResponse,
} from '../document.ts'
import { type Field, fieldsOf, fieldTable, kindOf, rulesOf } from './fields.ts'

export interface Endpoint {
  method: string
  path: string
  operation: Operation
}

/** Longer examples are indented over several lines, because the panel is narrow. */
const maxLine = 50

export function badge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`
}

export function renderEndpoint(document: OpenApiDocument, { method, path, operation }: Endpoint, base: string): Html {
  const { operationId, summary, description } = operation
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolveResponse(document, response)] as const,
  )
  const successes = responses.filter(([status]) => status.startsWith('2') || status.startsWith('3'))
  const errors = responses.filter(([status]) => status.startsWith('4') || status.startsWith('5'))
  return html`<article id="${operationId}" aria-labelledby="${operationId}-title">
<h3 id="${operationId}-title"><a href="#${operationId}">${summary}</a></h3>
<p class="route">${badge(method)} <code>${path}</code></p>
<div class="columns">
<div class="told">
${description !== undefined && html`<p>${prose(description)}</p>`}
<p class="access"><span>For</span> ${prose(operation['x-access'])}</p>
${renderParameters(document, operation)}
${renderBody(document, operation)}
${successes.map(([status, success]) => renderResponseFields(document, status, success))}
${renderErrors(errors)}
</div>
<div class="shown">
${panel('Request', html`${curl({ method, path, operation }, base)}`)}
${successes.map(([status, success]) => renderResponse(status, success))}
</div>
</div>
</article>`
}

function panel(title: string | Html, code: Html): Html {
  return html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`
}

function renderParameters(document: OpenApiDocument, { parameters = [] }: Operation): Html | false {
  const rows = parameters.map((each) => ({
    path: each.name,
    kind: kindOf(document, each.schema),
    isRequired: each.required,
    rules: rulesOf(each.schema),
    description: each.description,
    tag: each.in,
  }))
  return rows.length > 0 && fieldTable('Parameters', rows)
}

function renderBody(document: OpenApiDocument, { requestBody }: Operation): Html | false {
  const [media] = Object.values(requestBody?.content ?? {})
  if (!requestBody || !media) return false
  const types = Object.keys(requestBody.content).map((type) => html`<code>${type}</code> `)
  const fields = fieldsOf(document, media.schema)
  return html`${fields.length > 0 && fieldTable('Body', fields.map(tagRequired))}<p class="types">Sent as ${types}</p>`
}

function tagRequired(field: Field): Field & { tag: string } {
  return { ...field, tag: field.isRequired ? 'required' : '' }
}

function renderResponseFields(document: OpenApiDocument, status: string, { content = {}, headers }: ResponseObject) {
  const fields = Object.values(content).flatMap(({ schema }) =>
    variantsOf(schema).flatMap((each) => fieldsOf(document, each)),
  )
  const named = Object.entries(headers ?? {}).map(([name, header]) => ({
    path: name,
    kind: kindOf(document, header.schema),
    isRequired: false,
    rules: rulesOf(header.schema),
    description: header.description,
    tag: 'header',
  }))
  const rows = [...fields.map((field) => ({ ...field, tag: '' })), ...named]
  return (
    rows.length > 0 &&
    html`<details><summary>What a ${status} holds</summary>${fieldTable(`Answer ${status}`, rows)}</details>`
  )
}

function variantsOf(schema: JsonSchema): JsonSchema[] {
  return schema.anyOf ?? [schema]
}

function renderResponse(status: string, { description, content = {} }: ResponseObject): Html {
  const [media] = Object.values(content)
  const title = html`<b class="status">${status}</b> ${description}`
  if (!media) return html`<figure><figcaption>${title}</figcaption></figure>`
  return html`${examplesOf(media).map(([name, value]) =>
    panel(
      html`${title}${name !== '' && html` <em>${name.replaceAll('_', ' ')}</em>`}`,
      typeof value === 'string' ? html`${value}` : json(value),
    ),
  )}`
}

function examplesOf({ example, examples }: MediaType): [name: string, value: unknown][] {
  if (examples) return Object.entries(examples).map(([name, { value }]) => [name, value])
  return example === undefined ? [] : [['', example]]
}

function renderErrors(errors: readonly (readonly [string, ResponseObject])[]): Html | false {
  const rows = errors.flatMap(([status, { content = {} }]) =>
    Object.values(content).flatMap((media) => examplesOf(media).map(([, value]) => ({ status, value }))),
  )
  return (
    rows.length > 0 &&
    html`<details class="errors"><summary>Errors: ${[...new Set(rows.map(({ status }) => status))].join(', ')}</summary>
<div class="scroll" role="region" aria-label="Errors" tabindex="0"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Body</th></tr></thead>
<tbody>${rows.map(
      ({ status, value }) =>
        html`<tr><th scope="row">${status}</th><td><code>${JSON.stringify(value)}</code></td></tr>`,
    )}</tbody>
</table></div></details>`
  )
}

/** A command for the shell. */
function curl({ method, path, operation }: Endpoint, base: string): string {
  const filled = (operation.parameters ?? [])
    .filter((each) => each.in === 'path')
    .reduce((url, { name, schema }) => url.replace(`{${name}}`, String(sampleOf(schema) ?? `<${name}>`)), path)
  const needsToken = operation.security.some((each) => 'bearer' in each)
  const isOptional = operation.security.some((each) => Object.keys(each).length === 0)
  const [[type = '', media] = []] = Object.entries(operation.requestBody?.content ?? {})
  const example = media?.example
  const words = [
    `curl${method === 'get' || (method === 'post' && example !== undefined) ? '' : ` -X ${method.toUpperCase()}`} ${quote(base + filled)}`,
    ...(needsToken && !isOptional ? ['-H "authorization: Bearer $ACCESS_TOKEN"'] : []),
    ...(example === undefined ? [] : [`-H 'content-type: ${type}'`, `-d ${quote(toText(example))}`]),
  ]
  return words.join(' \\\n  ')
}

function sampleOf({ examples }: JsonSchema): unknown {
  return Array.isArray(examples) ? examples[0] : undefined
}

function toText(example: unknown): string {
  if (typeof example === 'string') return example
  const line = JSON.stringify(example)
  return line.length <= maxLine ? line : JSON.stringify(example, null, 2).replaceAll('\n', '\n  ')
}

/** Quotes for the shell, unless the text has no special characters. */
function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
