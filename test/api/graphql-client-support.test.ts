/** What GraphQL clients expect, and error metrics. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GraphQLError } from 'graphql'
import { query } from '../../src/platform/graphql/schema/elements.ts'
import { share } from '../support/api.ts'
import { codeOf, graphqlPath, send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { openSocket, openTransport, startSocketApi } from '../support/sockets.ts'

const persisted = { extensions: { persistedQuery: { version: 1, sha256Hash: 'ab'.repeat(32) } } }
const notSupported = {
  errors: [{ message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } }],
}

/** Without elements of the tests. */
const plain = share(startSocketApi)

const withErrors = share((owner) =>
  startSocketApi(owner, {
    elements: [
      query({
        name: 'failing',
        type: 'Int',
        access: 'public',
        resolve() {
          throw new Error('unforeseen')
        },
      }),
      query<{ n: number }>({
        name: 'own',
        type: 'Int',
        args: { n: 'Int' },
        access: 'public',
        resolve({ n }) {
          throw new GraphQLError('own', { extensions: { code: `OWN_${n}` } })
        },
      }),
    ],
  }),
)

test('a query hash without the query gets an error that makes clients send the whole query', async (t) => {
  const api = await plain()
  for (const accept of ['application/json', 'application/graphql-response+json']) {
    const extensions = encodeURIComponent(JSON.stringify(persisted.extensions))
    for (const response of [
      await api.request('POST', graphqlPath, { json: persisted, headers: { accept } }),
      await api.request('POST', graphqlPath, { json: { ...persisted, query: null }, headers: { accept } }),
      await api.request('GET', `${graphqlPath}?extensions=${extensions}`, { headers: { accept } }),
    ]) {
      assert.deepEqual([response.status, response.body], [200, notSupported])
    }
  }
  const whole = await api.request('POST', graphqlPath, { json: { ...persisted, query: '{ __typename }' } })
  assert.deepEqual(whole.body, { data: { __typename: 'Query' } })
  const none = await api.request('POST', graphqlPath, { json: { extensions: {} } })
  assert.deepEqual([none.status, codeOf(none.body)], [400, 'BAD_REQUEST'])

  const raw = await openSocket(t, api.wsUrl)
  raw.send({ id: 1, ...persisted })
  assert.deepEqual(await raw.next(), { id: 1, ...notSupported })
  const transport = await openTransport(t, api.wsUrl)
  transport.send({ id: 'a', type: 'subscribe', payload: persisted })
  assert.deepEqual(await transport.next(), { id: 'a', type: 'error', payload: notSupported.errors })
})

test('a byte order mark at the start of a body is skipped', async () => {
  const api = await plain()
  const { access: token } = await signIn(api)
  const post = (text: string) =>
    api.request('POST', graphqlPath, { body: `\ufeff${text}`, token, headers: { 'content-type': 'application/json' } })
  const response = await post(JSON.stringify({ query: '{ __typename }' }))
  assert.deepEqual([response.status, response.body], [200, { data: { __typename: 'Query' } }])
  // The rest is parsed like any other body, with exact numbers.
  const query = 'mutation ($i: CreateProductInput!) { createProduct(input: $i) { id } }'
  const { body } = await post(`{"query":"${query}","variables":{"i":{"price":0.0099999999999999999999}}}`)
  assert.deepEqual(body.errors[0].extensions.details.price, ['Must be at least 0.01'])
})

test('errors are counted by their code, on every transport', async (t) => {
  const api = await withErrors()
  const count = async (code: string) => {
    const { body } = await api.request('GET', '/metrics')
    return Number(
      new RegExp(`^graphql_errors_total\\{code="${code}"\\} (\\d+)$`, 'm').exec(String(body))?.[1] ?? Number.NaN,
    )
  }
  assert.equal(await count('INTERNAL_SERVER_ERROR'), 0, 'known before there is any')
  for (let i = 0; i < 5; i++) assert.equal((await send(api, '{ failing }')).status, 200)
  const socket = await openSocket(t, api.wsUrl)
  socket.send({ query: '{ failing }' })
  await socket.next()
  await api.request('POST', graphqlPath, { json: { query: '{ failing }' }, headers: { accept: 'text/event-stream' } })
  await api.request('POST', graphqlPath, { json: [{ query: '{ failing }' }, { query: '{ nothing }' }] })
  assert.equal(await count('INTERNAL_SERVER_ERROR'), 8)
  await send(api, '{ nothing }')
  socket.send({ query: '{ nothing }' })
  await socket.next()
  assert.equal(await count('GRAPHQL_VALIDATION_FAILED'), 3)
  await api.request('POST', graphqlPath, { body: '{', headers: { 'content-type': 'application/json' } })
  await api.request('POST', graphqlPath, { json: {} })
  assert.equal(await count('BAD_REQUEST'), 2)
})

test('codes of elements are counted together', async () => {
  const api = await withErrors()
  for (let n = 0; n < 3; n++) await send(api, `{ own(n: ${n}) }`)
  const { body } = await api.request('GET', '/metrics')
  assert.match(String(body), /^graphql_errors_total\{code="other"\} 3$/m)
  assert.doesNotMatch(String(body), /OWN_/)
})
