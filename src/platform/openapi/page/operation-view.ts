import { type Html, html, json } from '../../pages/html.ts'
import {
  type JsonSchema,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  type ResponseObject,
  resolveResponse,
} from '../document.ts'
import { breakable, fieldOf, fieldsOf, fieldTable, prose } from './fields.ts'
import { type Endpoint, languages, samplesOf } from './samples.ts'

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
<p class="route">${badge(method)} ${breakable(path)}</p>
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
${renderSamples({ method, path, operation }, base)}
<button type="button" class="scripted" data-try="${operationId}">Try it</button>
${successes.map(([status, success]) => renderResponse(status, success))}
</div>
</div>
</article>`
}

/** One is shown: the page has a choice of the language. */
function renderSamples(endpoint: Endpoint, base: string): Html[] {
  const samples = samplesOf(endpoint, base)
  return (Object.keys(languages) as (keyof typeof languages)[]).map(
    (name) => html`<div data-language="${name}">${panel(languages[name], html`${samples[name]}`)}</div>`,
  )
}

function panel(title: string | Html, code: Html): Html {
  return html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`
}

function renderParameters(document: OpenApiDocument, { parameters = [] }: Operation): Html | false {
  const rows = parameters.map(({ name, in: place, schema, description }) => ({
    ...fieldOf(document, schema, name, place),
    description,
  }))
  return rows.length > 0 && fieldTable('Parameters', rows)
}

function renderBody(document: OpenApiDocument, { requestBody }: Operation): Html | false {
  const [media] = Object.values(requestBody?.content ?? {})
  if (!requestBody || !media) return false
  const types = Object.keys(requestBody.content).map((type) => html`<code>${type}</code> `)
  const fields = fieldsOf(document, media.schema)
  return html`${fields.length > 0 && fieldTable('Body', fields)}<p class="types">Sent as ${types}</p>`
}

function renderResponseFields(document: OpenApiDocument, status: string, { content = {}, headers }: ResponseObject) {
  const fields = Object.values(content).flatMap(({ schema }) =>
    variantsOf(schema).flatMap((each) => fieldsOf(document, each)),
  )
  const named = Object.entries(headers ?? {}).map(([name, { schema, description }]) => ({
    ...fieldOf(document, schema, name, 'header'),
    description,
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
    html`<details><summary>Errors: ${[...new Set(rows.map(({ status }) => status))].join(', ')}</summary>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Body</th></tr></thead>
<tbody>${rows.map(
      ({ status, value }) =>
        html`<tr><th scope="row">${status}</th><td><code>${JSON.stringify(value, null, 1)}</code></td></tr>`,
    )}</tbody>
</table></details>`
  )
}
