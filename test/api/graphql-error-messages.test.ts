/** How much of a request errors repeat, and the cost of finding them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, graphqlPath, send } from '../support/graphql.ts'
import { openSocket, shareSocketApi } from '../support/sockets.ts'

const long = 'x'.repeat(60_000)
const name = 'x'.repeat(255)
const create = 'mutation ($i: CreateProductInput!) { createProduct(input: $i) { id } }'
const list = 'query ($n: Int) { posts(limit: $n) { id } }'

interface Request {
  query: string
  variables?: Record<string, unknown>
  operationName?: string
}

const wrong: [title: string, code: string, request: Request][] = [
  ['a very long name', 'DOCUMENT_TOO_LARGE', { query: `{ a${name}: me { id } }` }],
  ['an unknown field', 'GRAPHQL_VALIDATION_FAILED', { query: `{ ${name} }` }],
  ['an unknown type', 'GRAPHQL_VALIDATION_FAILED', { query: `query ($a: ${name}) { posts(limit: $a) { id } }` }],
  ['an unknown argument', 'GRAPHQL_VALIDATION_FAILED', { query: `{ posts(${name}: 1) { id } }` }],
  ['a literal of another type', 'GRAPHQL_VALIDATION_FAILED', { query: `{ posts(limit: "${long}") { id } }` }],
  ['an enum value', 'GRAPHQL_VALIDATION_FAILED', { query: `{ posts(limit: ${name}) { id } }` }],
  ['an unknown fragment', 'GRAPHQL_VALIDATION_FAILED', { query: `{ ...${name} }` }],
  ['what cannot be parsed', 'GRAPHQL_PARSE_FAILED', { query: `{ me { id } } ${name}` }],
  ['a variable of another type', 'BAD_USER_INPUT', { query: list, variables: { n: long } }],
  ['a variable that is a list', 'BAD_USER_INPUT', { query: list, variables: { n: [long, long] } }],
  ['a variable that is an object', 'BAD_USER_INPUT', { query: list, variables: { n: { [long]: long } } }],
  ['an unknown field of an input', 'BAD_USER_INPUT', { query: create, variables: { i: { [long]: 1 } } }],
  ['a field of an input', 'BAD_USER_INPUT', { query: create, variables: { i: { name: [long] } } }],
  ['an unknown operation', 'OPERATION_RESOLUTION_FAILURE', { query: '{ me { id } }', operationName: long }],
]

function requireShort(errors: { message: string; extensions: { code: string } }[], code: string, title: string): void {
  assert.equal(errors.length, 1, title)
  const [{ message, extensions }] = errors as [(typeof errors)[number]]
  assert.equal(extensions.code, code, title)
  assert.ok((message.match(/x/g) ?? []).length <= 200, `${title}: ${message.slice(0, 500)}`)
  assert.ok(JSON.stringify(errors).length < 1000, title)
}

const service = shareSocketApi()

test('no message repeats more than 200 characters of a request, over HTTP', async () => {
  const api = await service()
  for (const [title, code, { query, ...rest }] of wrong) {
    requireShort((await send(api, query, rest)).body.errors, code, title)
  }
})

test('no message repeats more than 200 characters of a request, in a stream', async () => {
  const api = await service()
  for (const [title, code, request] of wrong) {
    const { body } = await api.request('POST', graphqlPath, { json: request, headers: { accept: 'text/event-stream' } })
    const [, data] = /^event: next\ndata: (.*)$/m.exec(String(body)) ?? []
    requireShort(JSON.parse(data as string).errors, code, title)
  }
})

test('no message repeats more than 200 characters of a request, on a socket', async (t) => {
  const api = await service()
  const socket = await openSocket(t, api.wsUrl)
  for (const [title, code, request] of wrong) {
    socket.send(request)
    requireShort((await socket.next()).errors, code, title)
  }
})

test('an object with more keys than its type has fields is refused without listing them', async () => {
  const api = await service()
  const many = Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`k${i}`, 1]))
  const { body } = await send(api, create, { variables: { i: many } })
  assert.equal(codeOf(body), 'BAD_USER_INPUT')
  assert.match(
    body.errors[0].message,
    /^Variable "\$i" got an invalid value; The object has more fields than type "CreateProductInput", which has \d+\.$/,
  )
})

test('an invalid variable is one error, however many mistakes it has', async () => {
  const api = await service()
  const { body } = await send(api, create, { variables: { i: { name: 1, description: 2, price: 'a', stock: 'b' } } })
  assert.equal(codeOf(body), 'BAD_USER_INPUT')
  const two = await send(api, 'query ($a: Int, $b: Int) { a: posts(limit: $a) { id } b: posts(limit: $b) { id } }', {
    variables: { a: [1, 2], b: 'x' },
  })
  assert.deepEqual(
    two.body.errors.map(({ message }: { message: string }) => message.slice(0, 13)),
    ['Variable "$a"', 'Variable "$b"'],
  )
})

test('a conflict of very many fields lists only some of the locations', async () => {
  const api = await service()
  const half = (i: number) =>
    `posts { ${Array.from({ length: 140 }, (_, n) => `f${n}: ${i ? 'id' : 'title'}`).join(' ')} }`
  const { body } = await send(api, `{ ${half(0)} ...F } fragment F on Query { ${half(1)} }`)
  assert.ok(JSON.stringify(body).length < 10_000, String(JSON.stringify(body).length))
})
