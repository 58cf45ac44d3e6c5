/**
 * Who reaches every route, page, action and GraphQL field of the running service. A new one without a row in
 * test/support/access-matrix.ts fails, with the row to add: check it before you do.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { Dialect } from '../../src/platform/database/database.ts'
import { type AccessMatrix, expected, who } from '../support/access-matrix.ts'
import { type Owner, share, unlimitedRates } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { engines } from '../support/databases.ts'
import { openStream } from '../support/event-stream.ts'
import { send } from '../support/graphql.ts'
import { makeKey } from '../support/keys.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { isFull } from '../support/tiers.ts'

/** Of the key's owner, an administrator, unlike the roles. Undefined: all that the owner may. */
const keys: Readonly<Record<string, string[] | undefined>> = {
  'key without a list': undefined,
  'key with nothing': [],
  'key that reads': ['products.read', 'posts.read', 'orders.read'],
  'key for users': ['users.view', 'users.update'],
  'key with *': ['*'],
}

const firstKey = 'key without a list'

const verdicts = (reaches: readonly boolean[]) =>
  reaches.every(Boolean) ? 'all' : who.filter((_, i) => reaches[i]).join(', ') || 'nobody'

async function start(t: Owner, engine: Dialect = 'sqlite'): Promise<{ api: ApiWithRoles; routes: string[] }> {
  let app: FastifyInstance | undefined
  const api = await startApiWithRoles(t, {
    engine,
    env: { ...unlimitedRates, METRICS_TOKEN: 'a-token-for-the-metrics-only' },
    threads: 1,
    extend: (http) => {
      app = http
    },
  })
  const tree = (app as unknown as FastifyInstance).printRoutes({ commonPrefix: false })
  return { api, routes: readTree(tree) }
}

/** As `METHOD path`, without HEAD and OPTIONS, which follow GET. */
function readTree(tree: string): string[] {
  const prefixes: string[] = []
  const routes = tree.split('\n').flatMap((line) => {
    const [, indent = '', path = '', methods = ''] = /^([│├└─ ]*)(\S*?) ?(?:\(([^()]*)\))?$/.exec(line) ?? []
    const depth = indent.length / 4 - 1
    prefixes.length = Math.max(depth, 0)
    const whole = (prefixes.at(-1) ?? '') + path
    prefixes.push(whole)
    return methods
      .split(', ')
      .filter((method) => !['', 'HEAD', 'OPTIONS'].includes(method))
      .map((method) => `${method} ${whole}`)
  })
  return [...new Set(routes)].sort()
}

/** Those that end the session go last. */
const inOrder = (routes: readonly string[]) => {
  const endsSession = (route: string) => Number(/logout|sign-out-everywhere|console\/sign-out$/.test(route))
  return routes.toSorted((a, b) => endsSession(a) - endsSession(b))
}

/** Scripts and styles of pages. They need no rows: they are for all. */
const isFile = (route: string) => /^GET .*\.(?:js|css|svg)$/.test(route)

/** Of nothing that exists, so that little happens; but a policy needs a post to be asked about. */
async function sample(api: ApiWithRoles, path: string): Promise<string> {
  const id = path.startsWith('/api/posts/') ? await createPost(api) : '999999'
  const plain = path.replace(/:\w+\(\^\[0-9a-f\]\{64\}\$\)/g, 'a'.repeat(64)).replace(/\(\^\[0-9\]\+\$\)/g, '')
  return plain.replace(/:\w+/g, id).replace('*', 'nothing')
}

async function createPost(api: ApiWithRoles): Promise<string> {
  return String((await send(api, 'mutation { createPost(title: "A", body: "B") }')).body.data.createPost)
}

type Reach = (route: string) => Promise<boolean>

/** Over HTTP with a token, or with none. A wrong password is 401 too, but whoever may say one has reached the route. */
function byToken(api: ApiWithRoles, token?: string): Reach {
  return async (route) => {
    const [method = '', path = ''] = route.split(' ')
    const json = method === 'GET' ? {} : { json: {} }
    const { status, headers, body } = await api.request(method, await sample(api, path), { token, ...json })
    if (isSentToSignIn(status, headers.get('location'))) return false
    return !(status === 403 && body.error === 'Forbidden') && !(status === 401 && /access token/.test(body.error))
  }
}

async function byBrowser(api: ApiWithRoles, email?: string): Promise<Reach> {
  const browser = openConsole(api)
  if (email !== undefined) await browser.signIn(email)
  const page = await browser.open(email === undefined ? '/console/sign-in' : '/console/account')
  const token = page.hidden(email === undefined ? '/console/sign-in' : '/console/sign-out')
  return async (route) => {
    const [method = '', path = ''] = route.split(' ')
    const at = await sample(api, path)
    const { status, location } = await (method === 'GET' ? browser.open(at) : browser.post(at, token))
    return status !== 403 && !isSentToSignIn(status, location)
  }
}

function isSentToSignIn(status: number, location: string | null | undefined): boolean {
  return status === 303 && location?.startsWith('/console/sign-in?next=') === true
}

/** For each of `who`. */
async function principalsOf(api: ApiWithRoles) {
  const owner = await api.signInAs('admin')
  // A second one, so that nothing fails for the last administrator.
  await api.signInAs('admin')
  const people = [await api.signInAs(), await api.signInAs('editor'), await api.signInAs('admin')]
  const made = await Promise.all(
    Object.values(keys).map((permissions) => makeKey(api, owner.access, permissions && { permissions })),
  )
  const tokens = [undefined, ...people.map(({ access }) => access), ...made.map(({ key }) => key)]
  assert.equal(tokens.length, who.length)
  const browsers = await Promise.all(
    [undefined, ...people.map(({ email }) => email)].map((email) => byBrowser(api, email)),
  )
  return { tokens, browsers }
}

interface SchemaField {
  name: string
  args: { name: string; type: TypeRef }[]
  type: TypeRef
}

interface TypeRef {
  kind: string
  name: string | null
  ofType: TypeRef | null
}

const typeRef = 'kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }'
const field = `name args { name type { ${typeRef} } } type { ${typeRef} }`
const introspection = `{ __schema {
  queryType { fields { ${field} } } mutationType { fields { ${field} } } subscriptionType { fields { ${field} } }
  types { name inputFields { name type { ${typeRef} } } }
} }`

/** One document for each field of the root types, by `query name`. */
async function documentsOf(api: ApiWithRoles): Promise<Map<string, string>> {
  const { data } = (await send(api, introspection)).body
  const inputs = new Map<string, SchemaField['args']>(
    data.__schema.types.map((each: { name: string; inputFields: SchemaField['args'] | null }) => [
      each.name,
      each.inputFields ?? [],
    ]),
  )
  const named = (type: TypeRef): TypeRef => (type.ofType ? named(type.ofType) : type)
  const isList = (type: TypeRef): boolean => type.kind === 'LIST' || (type.ofType !== null && isList(type.ofType))
  const exampleOf = (type: TypeRef): string => {
    const { kind, name } = named(type)
    const one = kind === 'INPUT_OBJECT' ? objectOf(inputs.get(name ?? '') ?? []) : (scalars[name ?? ''] ?? '"x"')
    return isList(type) ? `[${one}]` : one
  }
  const required = (args: SchemaField['args']) =>
    args.filter(({ type }) => type.kind === 'NON_NULL').map(({ name, type }) => `${name}: ${exampleOf(type)}`)
  const objectOf = (args: SchemaField['args']): string => `{ ${required(args).join(', ')} }`
  const documents = new Map<string, string>()
  for (const kind of ['query', 'mutation', 'subscription'] as const) {
    for (const { name, args, type } of data.__schema[`${kind}Type`].fields as SchemaField[]) {
      const given = required(args)
      const selection = ['OBJECT', 'INTERFACE', 'UNION'].includes(named(type).kind) ? ' { __typename }' : ''
      documents.set(
        `${kind} ${name}`,
        `${kind} { ${name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selection} }`,
      )
    }
  }
  return documents
}

const scalars: Readonly<Record<string, string>> = { ID: '"999999"', Int: '1', Float: '1', Boolean: 'true' }

const isRefusal = (text: string) => /"code":"(?:FORBIDDEN|UNAUTHENTICATED)"/.test(text)

function compare(name: string, actual: AccessMatrix, wanted: AccessMatrix): void {
  const rows = Object.entries(actual).filter(([row, verdict]) => wanted[row] !== verdict)
  const lines = rows.map(
    ([row, verdict]) => `  '${row}': '${verdict}',${wanted[row] === undefined ? '' : ` // now: ${wanted[row]}`}`,
  )
  assert.equal(
    lines.length,
    0,
    `add or correct these rows of ${name} in test/support/access-matrix.ts:\n${lines.join('\n')}`,
  )
  const gone = Object.keys(wanted).filter((row) => actual[row] === undefined)
  assert.deepEqual(gone, [], `remove these rows of ${name}: there is no such route`)
}

const shared = share(start)

/** Pages ignore keys, so `npm test` tries only the first one on them. */
const isRepeatedKey = (i: number) => !isFull && who[i] !== firstKey && (who[i] ?? '') in keys

test('every route, page and action is reached by those in the matrix, and by nobody else', async () => {
  const { api, routes } = await shared()
  const { tokens, browsers } = await principalsOf(api)
  const actual: AccessMatrix = {}
  for (const route of inOrder(routes)) {
    const isPage = / \/console(?:\/|$)/.test(route)
    const reaches: boolean[] = []
    for (const [i, token] of tokens.entries()) {
      if (isPage && isRepeatedKey(i)) {
        reaches.push(reaches[who.indexOf(firstKey)] as boolean)
        continue
      }
      const browser = isPage ? browsers[i] : undefined
      reaches.push(await (browser ?? byToken(api, token))(route))
    }
    if (isFile(route)) assert.equal(verdicts(reaches), 'all', route)
    else actual[route] = verdicts(reaches)
  }
  compare('routes', actual, expected.routes)
})

test('every GraphQL field is reached by those in the matrix, and by nobody else', async (t) => {
  const { api } = await shared()
  const { tokens } = await principalsOf(api)
  const actual: AccessMatrix = {}
  for (const [name, document] of await documentsOf(api)) {
    const reaches = []
    for (const token of tokens) {
      if (!name.startsWith('subscription')) {
        const text = /Post\(id/.test(document) ? document.replace('999999', await createPost(api)) : document
        const { body } = await send(api, text, { token })
        assert.doesNotMatch(JSON.stringify(body), /GRAPHQL_VALIDATION_FAILED|Syntax Error/, document)
        reaches.push(!isRefusal(JSON.stringify(body)))
        continue
      }
      const stream = await openStream(t, api.url, document, { token })
      // What refuses the stream was sent before this is answered.
      for (let i = 0; i < 3; i++) await api.get('/health/live')
      reaches.push(!isRefusal(JSON.stringify(stream.events)))
      stream.close()
    }
    actual[name] = verdicts(reaches)
  }
  compare('fields', actual, expected.fields)
})

/** One of each kind, so that lists and pages of id 1 have something to show. Returns an administrator with a key. */
async function fill(api: ApiWithRoles) {
  const user = await api.signInAs('admin')
  const id = await createProduct(api, user.access)
  await api.put(`${productsPath}/${id}`, { stock: 5 }, user.access)
  await api.delete(`${productsPath}/${await createProduct(api, user.access)}`, user.access)
  await createPost(api)
  const webhook = { url: 'https://example.com/hook', types: ['product.created'] }
  assert.equal((await api.post('/api/admin/webhooks', webhook, user.access)).status, 201)
  const { key } = await makeKey(api, user.access)
  return { ...user, key }
}

/** What an administrator gets for each GET: the status, and of a page its title. */
async function answersOf(t: Owner, engine: Dialect): Promise<Record<string, string>> {
  const { api, routes } = await start(t, engine)
  const { email, key } = await fill(api)
  const browser = openConsole(api)
  await browser.signIn(email)
  const answers: Record<string, string> = {}
  for (const route of inOrder(routes).filter((each) => each.startsWith('GET ') && !isFile(each))) {
    const path = (await sample(api, route.slice('GET '.length))).replace('999999', '1')
    const isPage = path.startsWith('/console')
    const { status, text } = isPage ? await browser.open(path) : { ...(await api.get(path, key)), text: '' }
    assert.ok(status < 500, `${route}: ${status}`)
    answers[route] = `${status} ${isPage && status === 200 ? text.replaceAll(email, 'the user').slice(0, 40) : ''}`
  }
  return answers
}

test('every page and every list is there for an administrator, on each engine', async (t) => {
  const [first, ...others] = await Promise.all(engines.map((engine) => answersOf(t, engine)))
  const found = Object.values(first ?? {}).filter((answer) => answer.startsWith('200'))
  assert.ok(found.length > 50, `only ${found.length} have anything to show`)
  for (const each of others) assert.deepEqual(each, first)
})
