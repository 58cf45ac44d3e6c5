/** Documents the collections in the console: fields, rules, indexes, rows, and how to use them. */
import type { FastifyInstance } from 'fastify'
import type { Described } from '../../collections/declare/describe.ts'
import { actions, type Rule } from '../../collections/declare/rules.ts'
import { describeRule } from '../../collections/rules/sentence.ts'
import { indexesOf } from '../../collections/schema/tables.ts'
import type { Registry } from '../../collections/service.ts'
import type { CoreConfig } from '../../config/config.ts'
import { principalOf } from '../../platform/access/route-guards.ts'
import type { Database } from '../../platform/database/database.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { visitedAddress } from '../../platform/http/visited-address.ts'
import { factList } from '../../platform/pages/components/facts.ts'
import type { PageKit } from '../../platform/pages/console-pages.ts'
import { html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'
import { describeField } from './collections.show.ts'
import { type Extent, measure } from './collections.store.ts'
import { addNewCollectionPages, mayCreate } from './new-collection.ts'

export interface CollectionsPagesDeps extends PageKit {
  registry: Registry
  db: Database
  config: Pick<CoreConfig, 'directory' | 'isDevelopment' | 'server'>
  /** Of the list. */
  path: string
}

const mayView = { config: { access: { permission: 'collections.view' }, docs: false } } as const

export function addCollectionsPages(
  app: FastifyInstance,
  { send, registry, db, config, path }: CollectionsPagesDeps,
): void {
  const { directory, isDevelopment, server } = config
  if (isDevelopment) addNewCollectionPages(app, { send, db, directory, path })
  app.get('/collections', mayView, async (request, reply) => {
    const all = [...registry.keys()]
    const extents = await Promise.all(all.map((each) => measure(db, each)))
    const canCreate = isDevelopment && principalOf(request).can(mayCreate.permission)
    return send(request, reply, listPage(all, { extents, path, canCreate }))
  })

  app.get<{ Params: { name: string } }>('/collections/:name', mayView, async (request, reply) => {
    const collection = [...registry.keys()].find(({ name }) => name === request.params.name)
    if (!collection) throw httpErrors.notFound()
    const address = server.publicUrl ?? visitedAddress(request)
    return send(
      request,
      reply,
      collectionPage(collection, { extent: await measure(db, collection), address, dialect: db.dialect }),
    )
  })
}

const words = (name: string) => `${(name[0] ?? '').toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`

function sizeOf(bytes: number): string {
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024).toLocaleString('en')} KB`
  return `${Math.round(bytes / 1024 / 1024).toLocaleString('en')} MB`
}

const rowsOf = ({ rows, deleted }: Extent) =>
  `${(rows - deleted).toLocaleString('en')}${deleted === 0 ? '' : ` and ${deleted.toLocaleString('en')} deleted`}`

interface ListView {
  extents: readonly Extent[]
  path: string
  canCreate: boolean
}

function listPage(all: readonly Described[], { extents, path, canCreate }: ListView): Page {
  return {
    title: 'Collections',
    styles: ['tables.css'],
    content: html`<div class="row head"><h1>Collections</h1>${canCreate && html`<a class="button main" href="${path}/new" data-new>New collection</a>`}</div>
<p>Declared by your extensions. Each one has a REST API, GraphQL, a change log and console pages.</p>
${
  all.length === 0
    ? html`<div class="card empty"><h2>No collections yet</h2><p>Declare one in an extension.</p></div>`
    : html`<div class="card list"><table class="stack">
<thead><tr><th scope="col">Collection</th><th scope="col">Path</th><th scope="col">Fields</th><th scope="col">Rows</th><th scope="col">Size</th></tr></thead>
<tbody>
${all.map((each, i) => {
  const extent = extents[i] as Extent
  return html`<tr><td class="title"><a href="${path}/${each.name}">${words(each.name)}</a></td><td data-label="Path"><code>${each.path}</code></td><td data-label="Fields">${String(each.fields.size)}</td><td data-label="Rows">${rowsOf(extent)}</td><td data-label="Size">${sizeOf(extent.bytes)}</td></tr>
`
})}</tbody>
</table></div>`
}`,
  }
}

const conditionOf = (rule: Rule) => (rule.kind === 'never' ? 'never' : `if ${describeRule(rule)}`)

interface CollectionView {
  extent: Extent
  address: string
  dialect: Database['dialect']
}

function collectionPage(collection: Described, { extent, address, dialect }: CollectionView): Page {
  const { name, fields, rules, check, lists } = collection
  return {
    title: words(name),
    styles: ['tables.css'],
    content: html`<h1>${words(name)}</h1>
<section class="card" aria-labelledby="facts"><h2 id="facts">Overview</h2>
${factList([
  ['Path', html`<code>${collection.path}</code>`],
  ['Rows', rowsOf(extent)],
  ['Size', sizeOf(extent.bytes)],
  ['Sorted by', lists.sort.join(', ') || '–'],
  ['Filtered by', lists.filter.join(', ') || '–'],
  ['Searched in', lists.search.join(', ') || '–'],
])}
<p><a href="/console/${name}">Open the list</a></p></section>
<section class="card list" aria-labelledby="fields"><h2 id="fields">Fields</h2>
<table class="stack"><thead><tr><th scope="col">Field</th><th scope="col">Kind</th><th scope="col">Read</th><th scope="col">Written</th></tr></thead>
<tbody>
${[...fields.values()].map((field) => {
  const { readable, writable } = field.definition.options
  const written = writable?.kind === 'onCreate' ? 'only when a row is created' : writable ? conditionOf(writable) : ''
  return html`<tr><td class="title"><code>${field.name}</code></td><td data-label="Kind">${describeField(field)}</td><td data-label="Read">${readable && conditionOf(readable)}</td><td data-label="Written">${written}</td></tr>
`
})}</tbody></table></section>
<section class="card" aria-labelledby="rules"><h2 id="rules">Rules</h2>
${factList([
  ...actions.map((action) => [words(action), describeRule(rules?.[action] ?? { kind: 'never' })] as const),
  ...(check ? [['Check', `${describeRule(check.rule)}. Otherwise: “${check.message}”`] as const] : []),
])}</section>
<section class="card" aria-labelledby="indexes"><h2 id="indexes">Indexes</h2>
<ul>${indexesOf(collection, dialect).map(({ name: index, definition, isUnique }) => html`<li><code>${index}</code> ${isUnique && 'unique '}<span class="soft">${definition}</span></li>`)}</ul></section>
<section class="card" aria-labelledby="samples"><h2 id="samples">Samples</h2>
${samplesOf(collection, address).map(([title, code]) => html`<h3>${title}</h3><pre><code>${code}</code></pre>`)}</section>`,
  }
}

function samplesOf({ name, path, singular, lists }: Described, address: string): [title: string, code: string][] {
  const camel = (text: string) => text.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  const order = lists.sort[0] ?? 'id'
  return [
    ['curl', `curl "${address}${path}?sort=-${order}&per_page=10" \\\n  -H "Authorization: Bearer $TOKEN"`],
    ['TypeScript', `const { data } = await latchkey.collection('${name}').list({ sort: '-${order}', per_page: 10 })`],
    ['GraphQL', `{ ${camel(name)}(sort: "-${order}", perPage: 10) { data { id } meta { next } } }`],
    ['Live', `subscription { ${camel(singular)}Changes { type id at } }`],
  ]
}
