/** Oversized requests are refused quickly, while other clients are served. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import type { ClientResponse } from '../../src/testing/client.ts'
import { type Api, share, shareApi, startApi } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine } from '../support/databases.ts'
import { ask, codeOf, graphqlPath, send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount } from '../support/tiers.ts'

const newer = { accept: 'application/graphql-response+json' }

const nested = (depth: number) => `${'{ a'.repeat(depth)}${' }'.repeat(depth)}`
const aliased = (count: number) => `{ ${many(count, (i) => `a${i}: __typename`)} }`
const exploding = (levels: number) =>
  `{ posts { ...F0 } } ${many(levels, (i) => `fragment F${i} on Post { ...F${i + 1} ...F${i + 1} }`)}
   fragment F${levels} on Post { id title }`

test('depth, aliases, tokens, bytes and cost are limited, and documents up to the limits work', async (t) => {
  const config = createConfig(t, {
    graphql: 'graphql { limits { bytes = 4000, tokens = 300, depth = 3, aliases = 5, cost = 1000 } }'.replaceAll(
      ',',
      '\n',
    ),
  })
  const api = await startApi(t, { config })
  const list = '{ products { data { name } } }'
  for (const document of [
    list,
    aliased(5),
    `{ __typename ${'# comment '.repeat(150)}\n }`,
    `{ ${'__typename '.repeat(190)} }`,
    '{ posts(limit: 499) { id title } }',
    // Introspection is deep by nature.
    '{ __schema { types { fields { type { ofType { ofType { name } } } } } } }',
  ]) {
    const { status, body } = await send(api, document, { headers: newer })
    assert.equal(status, 200, JSON.stringify(body).slice(0, 300))
  }
  for (const [document, message] of [
    ['{ products { data { name { x } } } }', 'The document is more than 3 fields deep'],
    ['{ ...A } fragment A on Query { products { data { name { x } } } }', 'The document is more than 3 fields deep'],
    [aliased(6), 'The document has more than 5 aliases'],
    [`{ ${'__typename '.repeat(300)} }`, 'The document has more than 300 tokens'],
    [`{ __typename # ${'é'.repeat(2000)}\n }`, 'The document is longer than 4000 bytes; long values go into variables'],
  ] as const) {
    const { status, body } = await send(api, document, { headers: newer })
    assert.deepEqual([status, codeOf(body), body.errors[0].message], [400, 'DOCUMENT_TOO_LARGE', message])
  }
  for (const [document, variables] of [
    ['{ posts(limit: 500) { id title } }', {}],
    ['query ($n: Int) { posts(limit: $n) { id title } }', { n: 500 }],
    ['query ($n: Int = 500) { posts(limit: $n) { id title } }', {}],
    ['query ($q: String = "x") { products(q: $q) { data { id } } }', {}],
    ['{ a: posts(limit: 300) { id } b: posts(limit: 400) { id } c: posts(limit: 400) { id } }', {}],
  ] as const) {
    for (let i = 0; i < 4; i++) {
      const { status, body } = await send(api, document, { variables, headers: newer })
      assert.deepEqual([status, codeOf(body)], [400, 'OPERATION_TOO_EXPENSIVE'], document)
    }
  }
})

const abuses: [title: string, code: string, body: () => string | Uint8Array][] = [
  ['a document 10,000 levels deep', 'DOCUMENT_TOO_LARGE', () => JSON.stringify({ query: nested(10_000) })],
  ['10,000 brackets', 'DOCUMENT_TOO_LARGE', () => JSON.stringify({ query: `{ a(b: ${'['.repeat(10_000)}` })],
  ['10,000 aliases', 'DOCUMENT_TOO_LARGE', () => JSON.stringify({ query: aliased(10_000) })],
  ['fragments that double 40 times', 'DOCUMENT_TOO_LARGE', () => JSON.stringify({ query: exploding(40) })],
  [
    'a fragment that leads to itself',
    'GRAPHQL_VALIDATION_FAILED',
    () => JSON.stringify({ query: '{ posts { ...F } } fragment F on Post { ...G } fragment G on Post { ...F }' }),
  ],
  ['a body of 5 MB', 'REQUEST_TOO_LARGE', () => JSON.stringify({ query: '{ __typename }', x: 'x'.repeat(5_000_000) })],
  ['invalid UTF-8', 'BAD_REQUEST', () => Buffer.concat([Buffer.from('{"query":"{ a'), Buffer.from([0xc3, 0x28])])],
  ['variables nested 100,000 deep', 'BAD_USER_INPUT', deepVariables],
  [
    '5,000 unknown variables that are declared',
    'DOCUMENT_TOO_LARGE',
    () => JSON.stringify({ query: `query (${Array.from({ length: 5000 }, (_, i) => `$v${i}: Int`)}) { __typename }` }),
  ],
]

function deepVariables(): string {
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  return `{"query":"mutation ($i: UpdateProductInput!) { updateProduct(id: 1, input: $i) { id } }","variables":{"i":${deep}}}`
}

/** With the limits that it has by default. */
const usual = shareApi()

test('abusive documents are refused quickly, and other clients are served meanwhile', async () => {
  const api = await usual()
  for (const [title, code, body] of abuses) {
    const sent = body()
    const refusals = Array.from({ length: amount({ full: 10, otherwise: 3 }) }, () =>
      api.request('POST', graphqlPath, { body: sent, headers: { 'content-type': 'application/json', ...newer } }),
    )
    // The connection is closed during a body that is too large.
    const responses = await Promise.all(refusals.map((each) => each.catch(() => undefined)))
    for (const response of responses) {
      if (response)
        assert.deepEqual([response.status >= 400, response.body.errors[0].extensions.code], [true, code], title)
    }
    await requireAlive(api, title)
  }
})

test('repeated fields return the same, count each time, and are refused beyond a limit', async () => {
  const api = await usual()
  const few = await send(
    api,
    `{ posts(limit: 1) { ${'id '.repeat(100)} ${'...F '.repeat(100)} } } fragment F on Post { id }`,
  )
  assert.deepEqual([few.status, few.body], [200, { data: { posts: [] } }])
  assert.equal(
    codeOf((await send(api, `{ posts(limit: 1000) { ${'id '.repeat(60)} } }`)).body),
    'OPERATION_TOO_EXPENSIVE',
  )
  for (const document of [
    `{ posts(limit: 1) { ${'id '.repeat(1000)} } }`,
    `{ ${'me { id } '.repeat(300)} }`,
    `{ ${many(300, (i) => `...F${i}`)} } ${many(300, (i) => `fragment F${i} on Query { me { id } }`)}`,
    `${many(300, (i) => `query A${i} { ...F }`)} fragment F on Query { ${'me { id } '.repeat(60)} }`,
  ]) {
    assert.equal(codeOf((await send(api, document)).body), 'DOCUMENT_TOO_LARGE', document.slice(0, 60))
  }
})

describe('beside seventy long posts', () => {
  const shared = share(async (owner) => {
    const api = await startApi(owner)
    const create = 'mutation ($body: String!) { createPost(title: "long", body: $body) }'
    for (let i = 0; i < 70; i++) await send(api, create, { variables: { body: 'x'.repeat(65_536) } })
    return api
  })

  testInFull('a small query for a very long response is refused, and other clients are served meanwhile', async () => {
    const api = await shared()
    const few = await send(api, '{ posts(limit: 60) { body } }')
    assert.equal(few.body.data.posts.length, 60)
    const greedy = `{ ${many(16, (i) => `a${i}: posts(limit: 1000) { body }`)} me { id } }`
    const [{ status, body }] = await Promise.all([send(api, greedy), requireAlive(api, 'meanwhile')])
    assert.equal(status, 200)
    const codes = body.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code)
    assert.deepEqual(codes, Array(16).fill('ANSWER_TOO_LARGE'))
  })

  test('long posts do not slow down others: unselected fields cost nothing', async () => {
    const api = await shared()
    for (const document of [
      '{ posts { id } }',
      '{ posts { a: id ...F } } fragment F on Post { b: title }',
      'query ($no: Boolean = false) { posts { id body @include(if: $no) } }',
      'query ($no: Boolean = false) { posts { id ... @include(if: $no) { body } } }',
    ]) {
      assert.equal((await ask(api, document)).data.posts.length, 70, document)
    }
    assert.equal((await send(api, '{ posts(limit: 60) { body } }')).body.data.posts.length, 60)
    assert.equal((await send(api, '{ posts { id title body } }')).body.data.posts.length, 70)
    const twice = await ask(api, '{ posts(limit: 65) { body again: body } }')
    assert.equal(codeOf(twice), 'ANSWER_TOO_LARGE', 'what is answered twice counts twice')
  })

  testInFull('the responses of a batch share the size limit of one', async () => {
    const api = await shared()
    const list = { query: '{ posts(limit: 48) { body } }' }
    // Fails when compiled and runs again: the discarded reads must not count.
    const withError = { query: '{ posts(limit: 48) { body } post(id: "999") { id } }' }
    const batch = async (requests: object[]): Promise<ClientResponse['body'][]> =>
      (await api.request('POST', graphqlPath, { json: requests })).body
    for (let i = 0; i < 5; i++) {
      for (const { data } of await batch([withError, withError])) assert.equal(data.posts.length, 48)
      for (const requests of [
        [list, list, list],
        [{ query: 'mutation { deletePost(id: "999") }' }, list, list, list],
      ]) {
        const responses = (await batch(requests)).slice(-3)
        assert.equal(responses.filter(({ data }) => data.posts?.length === 48).length, 2)
        assert.deepEqual(
          responses.filter(({ data }) => data.posts === null).map((refused) => codeOf(refused)),
          ['ANSWER_TOO_LARGE'],
        )
      }
    }
  })
})

test('createPost is limited in bytes, too', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_POST_BYTES: '1000/60' } })
  const create = 'mutation ($body: String!) { createPost(title: "a", body: $body) }'
  const write = async (length: number) => (await send(api, create, { variables: { body: 'ü'.repeat(length) } })).body
  assert.equal((await write(400)).data.createPost, 1)
  const refused = await write(200)
  assert.equal(codeOf(refused), 'TOO_MANY_REQUESTS')
  assert.ok(refused.errors[0].extensions.retryAfter > 0)
})

onAnyEngine('collections', (engine) => {
  test('GraphQL finds the same products as REST, with collection_limit = 0 and with any other', async (t) => {
    for (const [limit, found] of [
      [0, 1200],
      [1100, 1100],
    ] as const) {
      const config = createConfig(t, { products: `products { collection_limit = ${limit} }` })
      const api = await startApiWithRoles(t, { engine, config })
      const names = Array.from({ length: 1200 }, (_, i) => `Lamp ${i}`)
      const common = { ...sampleRow, description: 'd' }
      const products = names.map((name) => ({ ...common, name }))
      await api.db.write(insertMany(engine, products, '2026-01-01T00:00:00.000Z'))
      const fields = 'id name slug description price formattedPrice category stock inStock active createdAt updatedAt'
      for (const args of ['q: "lamp"', 'category: "general"']) {
        const document = `{ products(${args}) { data { ${fields} } meta { total truncated } } }`
        const { data } = await ask(api, document)
        assert.deepEqual(data.products.meta, { total: found, truncated: limit > 0 }, args)
        const { body } = await api.get(`${productsPath}?${args.startsWith('q') ? 'q=lamp' : 'category=general'}`)
        assert.deepEqual(
          data.products.data.map(({ id }: { id: string }) => id),
          body.data.map(({ id }: { id: number }) => String(id)),
        )
      }
    }
  })

  test('descriptions of a megabyte do not slow down queries that do not select them', async (t) => {
    const api = await startApi(t, { engine })
    const { access } = await signIn(api)
    for (let i = 0; i < 10; i++)
      await createProduct(api, access, { category: 'general', description: 'd'.repeat(900_000) })
    for (const args of ['q: "lamp"', 'category: "general"', 'page: 1']) {
      const few = await ask(api, `{ products(${args}) { data { name } } }`)
      assert.equal(few.data.products.data.length, 10, args)
      const all = await ask(api, `{ products(${args}) { data { description } } }`)
      assert.equal(codeOf(all), 'ANSWER_TOO_LARGE', args)
    }
    const some = await ask(api, '{ products(perPage: 4) { data { id description } } }')
    assert.deepEqual(
      some.data.products.data.map(({ description }: { description: string }) => description.length),
      Array(4).fill(900_000),
    )
    const aliases = many(10, (i) => `d${i}: description`)
    assert.equal(codeOf(await ask(api, `{ product(id: 1) { ${aliases} } }`)), 'ANSWER_TOO_LARGE')
  })
})

test('the cost of a batch is that of all its requests', async () => {
  const api = await usual()
  const list = { query: '{ posts(limit: 1000) { id title body } }' }
  const batch = (count: number) => api.request('POST', graphqlPath, { json: Array(count).fill(list) })
  assert.equal((await batch(10)).status, 200)
  const wide = { query: '{ a: posts(limit: 1000) { id title body } b: posts(limit: 1000) { id title body } }' }
  const { body } = await api.request('POST', graphqlPath, { json: Array(10).fill(wide) })
  assert.equal(codeOf(body), 'OPERATION_TOO_EXPENSIVE')
})

test('createPost has a rate limit of its own', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_POSTS: '3/60' } })
  const create = 'mutation { createPost(title: "a", body: "b") }'
  for (let i = 0; i < 3; i++) assert.ok((await send(api, create)).body.data.createPost > 0)
  const { body } = await send(api, create)
  assert.deepEqual([codeOf(body), body.errors[0].message], ['TOO_MANY_REQUESTS', 'Too many attempts'])
  assert.ok(body.errors[0].extensions.retryAfter > 0 && body.errors[0].extensions.retryAfter <= 60)
  const many = await send(api, 'mutation { a: createPost(title: "a", body: "b") b: createPost(title: "a", body: "b") }')
  assert.equal(many.body.errors.length, 2)
  assert.equal((await send(api, '{ posts { id } }')).body.data.posts.length, 3)
})

function many(count: number, write: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => write(i)).join(' ')
}

async function requireAlive(api: Api, title: string): Promise<void> {
  const { status, body } = await send(api, '{ __typename }')
  assert.deepEqual([status, body], [200, { data: { __typename: 'Query' } }], title)
}

test('a mutation whose response would be too long is not stored, and a stored one gets its response', async (t) => {
  const api = await startApiWithRoles(t, {})
  const { access: token } = await api.signInAs('editor')
  const names = Array.from({ length: 10 }, (_, i) => `a${i}: description`).join(' ')
  const create = `mutation ($input: CreateProductInput!) { createProduct(input: $input) { ${names} } }`
  const input = { name: 'Long', description: 'x'.repeat(900_000), price: 1 }
  assert.equal(codeOf((await send(api, create, { variables: { input }, token })).body), 'ANSWER_TOO_LARGE')
  assert.equal((await api.get('/api/v2/products')).body.meta.total, 0)
  const once = 'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id description } }'
  const { body } = await send(api, once, { variables: { input }, token })
  assert.equal(body.data.createProduct.description.length, 900_000)
})
