/** The plain JSON protocol, without a sub-protocol. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mutation, objectType, subscription } from '../../src/platform/graphql/schema/elements.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { countPosts, openSocket, secretElements, shareSocketApi } from '../support/sockets.ts'

const counter = 'subscription { counter { count } }'
const create = (title: string) => `mutation { createPost(title: "${title}", body: "b") }`

onAnyEngine('a socket without a sub-protocol', (engine) => {
  const shared = shareSocketApi({ engine, elements: secretElements })

  for (const place of ['on its own port', 'at /graphql on the HTTP port'] as const) {
    test(`gets every published value ${place}`, async (t) => {
      const api = await shared()
      const url = place === 'on its own port' ? api.wsUrl : `${api.url.replace('http', 'ws')}/graphql`
      const [one, other] = [await openSocket(t, url), await openSocket(t, url)]
      one.send({ query: counter })
      other.send({ query: counter, id: 7 })
      await api.subscribed(2)
      assert.deepEqual(api.parts.engine.counts(), { subscribers: 2, sources: 1 }, 'they share a source')
      const before = await countPosts(api)
      for (let count = before + 1; count <= before + 3; count++) {
        await api.post('/graphql', { query: create(`post ${count}`) })
        assert.deepEqual(await one.next(), { data: { counter: { count } } })
        assert.deepEqual(await other.next(), { id: 7, data: { counter: { count } } })
      }
    })
  }

  test('returns the result of a query or mutation once, with the given id', async (t) => {
    const api = await shared()
    await api.db.write({ sql: 'DELETE FROM posts' })
    const socket = await openSocket(t, api.wsUrl)
    socket.send({ query: create('one'), id: 'a' })
    const { createPost: id } = (await socket.next()).data
    assert.equal(typeof id, 'number')
    socket.send({ query: 'query ($n: Int) { posts(limit: $n) { id title } }', variables: { n: 5 } })
    assert.deepEqual(await socket.next(), { data: { posts: [{ id: String(id), title: 'one' }] } })
    socket.send({ query: 'query A { posts { id } } query B { posts { title } }', operationName: 'B', id: 'a' })
    assert.deepEqual(await socket.next(), { id: 'a', data: { posts: [{ title: 'one' }] } }, 'an id is free again')
    assert.equal(socket.waiting(), 0)
  })

  test("knows the user of the upgrade's token, and nobody without one", async (t) => {
    const api = await shared()
    const user = await signIn(api)
    const socket = await openSocket(t, api.wsUrl, { token: user.access })
    // Sent immediately: it waits until the token has been checked.
    socket.send({ query: '{ me { email } }' })
    assert.deepEqual(await socket.next(), { data: { me: { email: user.email } } })
    const anonymous = await openSocket(t, api.wsUrl)
    anonymous.send({ query: '{ me { email } }' })
    assert.deepEqual(await anonymous.next(), { data: { me: null } })
  })

  test('products created over REST reach subscribers', async (t) => {
    const api = await shared()
    const user = await signIn(api)
    const socket = await openSocket(t, api.wsUrl)
    socket.send({ query: 'subscription { productCreated { name price } }', id: 'p' })
    await api.subscribed(1)
    const product = { name: 'Lamp', description: 'd', price: 9.5 }
    assert.equal((await api.post('/api/v2/products', product, user.access)).status, 201)
    assert.deepEqual(await socket.next(), { id: 'p', data: { productCreated: { name: 'Lamp', price: 9.5 } } })
  })

  test('losing a role ends the subscriptions that need it with FORBIDDEN and complete; the socket stays', async (t) => {
    const api = await shared()
    const [editor, admin] = [await api.signInAs('editor'), await api.signInAs('admin')]
    const query = 'subscription { secret { text } }'

    const stranger = await openSocket(t, api.wsUrl)
    stranger.send({ query, id: 1 })
    const refused = await stranger.next()
    assert.equal(refused.errors[0].extensions.code, 'UNAUTHENTICATED')
    assert.equal(refused.id, 1)

    const socket = await openSocket(t, api.wsUrl, { token: editor.access })
    socket.send({ query, id: 's' })
    socket.send({ query: counter, id: 'c' })
    await api.subscribed(2)
    await api.parts.topics.publish('secrets', { text: 'hush' })
    assert.deepEqual(await socket.next(), { id: 's', data: { secret: { text: 'hush' } } })

    assert.equal((await api.put(`/api/admin/users/${editor.id}/roles`, { roles: [] }, admin.access)).status, 200)
    const ended = await socket.next()
    assert.equal(ended.id, 's')
    assert.deepEqual(ended.errors, [{ message: 'Forbidden', extensions: { code: 'FORBIDDEN' } }])
    assert.deepEqual(await socket.next(), { id: 's', type: 'complete' })
    await api.subscribed(1)
    await api.parts.topics.publish('counter', { count: 5 })
    assert.deepEqual(await socket.next(), { id: 'c', data: { counter: { count: 5 } } }, 'what is public goes on')
    socket.send({ query, id: 's' })
    assert.equal((await socket.next()).errors[0].extensions.code, 'FORBIDDEN', 'and it cannot begin anew')
  })
})

const elements = [
  objectType({ name: 'Tick', fields: { n: 'Int' } }),
  subscription({
    name: 'ticks',
    type: 'Tick',
    args: { fails: { type: 'Boolean', default: false } },
    access: 'public',
    async *subscribe({ fails }) {
      yield { n: 1 }
      if (fails) throw new Error('a secret cause')
    },
  }),
  mutation({ name: 'nothing', type: 'Int', access: 'public', resolve: () => 0 }),
]

const service = shareSocketApi({ elements })

test('an invalid request gets errors with its id, and the socket stays open', async (t) => {
  const api = await service()
  const socket = await openSocket(t, api.wsUrl)
  const cases: [message: unknown, id: unknown, code: string][] = [
    ['{"query"', undefined, 'BAD_REQUEST'],
    ['', undefined, 'BAD_REQUEST'],
    [[{ query: '{ me { id } }' }], undefined, 'BAD_REQUEST'],
    ['null', undefined, 'BAD_REQUEST'],
    [{}, undefined, 'BAD_REQUEST'],
    [{ id: 'x' }, 'x', 'BAD_REQUEST'],
    [{ id: 4, query: 4 }, 4, 'BAD_REQUEST'],
    [{ id: {}, query: '{ me { id } }' }, undefined, 'BAD_REQUEST'],
    [{ id: 'x'.repeat(257), query: '{ me { id } }' }, undefined, 'BAD_REQUEST'],
    [{ type: 'complete' }, undefined, 'BAD_REQUEST'],
    [{ id: 2 ** 53 + 2, query: '{ me { id } }' }, undefined, 'BAD_REQUEST'],
    [{ id: 'blank', query: ' ' }, 'blank', 'BAD_REQUEST'],
    [{ id: 3, query: 'subscription { counter @skip(if: true) { count } }' }, 3, 'GRAPHQL_VALIDATION_FAILED'],
    [
      {
        id: 3,
        query:
          'subscription ($yes: Boolean!) { ...F @include(if: $yes) } fragment F on Subscription { counter { count } }',
        variables: { yes: true },
      },
      3,
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [{ id: 0, query: '{' }, 0, 'GRAPHQL_PARSE_FAILED'],
    [{ id: '', query: '{ nothing }' }, '', 'GRAPHQL_VALIDATION_FAILED'],
    [{ id: 1, query: 'subscription { nothing }' }, 1, 'GRAPHQL_VALIDATION_FAILED'],
    [{ id: 1, query: '{ me { id } }', operationName: 'Other' }, 1, 'OPERATION_RESOLUTION_FAILURE'],
    [{ id: 1, query: '{ me { id } }', variables: [] }, 1, 'BAD_REQUEST'],
    [{ id: 2, query: 'query ($n: Int!) { posts(limit: $n) { id } }' }, 2, 'BAD_USER_INPUT'],
    [{ id: 2, query: `{ ${'me { '.repeat(10_000)} id ${'}'.repeat(10_001)}` }, 2, 'DOCUMENT_TOO_LARGE'],
  ]
  for (const [message, id, code] of cases) {
    socket.send(message)
    const response = await socket.next()
    assert.equal(response.errors[0].extensions.code, code, JSON.stringify(message).slice(0, 100))
    assert.equal(response.id, id)
    assert.equal('id' in response, id !== undefined)
    assert.equal('data' in response, false)
  }
  socket.ws.send(Buffer.from('{}'))
  assert.equal((await socket.next()).errors[0].extensions.code, 'BAD_REQUEST', 'nor are bytes a text')
  socket.send({ id: null, query: '{ me { id } }' })
  assert.deepEqual(await socket.next(), { data: { me: null } })
  assert.equal(api.log.filter((line) => line.includes('"level":"error"')).length, 0)
})

test('an id in use is refused and the first operation continues; 1 and "1" are different ids', async (t) => {
  const api = await service()
  const socket = await openSocket(t, api.wsUrl)
  socket.send({ id: 1, query: counter })
  socket.send({ id: 1, query: '{ me { id } }' })
  const { id, errors } = await socket.next()
  assert.equal(id, 1)
  assert.equal(errors[0].extensions.code, 'BAD_REQUEST')
  socket.send({ id: '1', query: counter })
  await api.subscribed(2)
  await api.parts.topics.publish('counter', { count: 9 })
  assert.deepEqual(await socket.next(), { id: 1, data: { counter: { count: 9 } } })
  assert.deepEqual(await socket.next(), { id: '1', data: { counter: { count: 9 } } })
})

test('parallel creates each publish their own number, in order, and a post of maximum length fits', async (t) => {
  const api = await service()
  const before = await countPosts(api)
  const socket = await openSocket(t, api.wsUrl)
  socket.send({ query: counter })
  await api.subscribed(1)
  const create = 'mutation ($body: String!) { createPost(title: "t", body: $body) }'
  const other = await openSocket(t, api.wsUrl)
  other.send({ query: create, variables: { body: '\u{1f511}'.repeat(65_536) } })
  assert.equal(typeof (await other.next()).data.createPost, 'number')
  await Promise.all(Array.from({ length: 19 }, () => api.post('/graphql', { query: create, variables: { body: 'b' } })))
  const counts: number[] = []
  for (let i = 0; i < 20; i++) counts.push((await socket.next()).data.counter.count)
  assert.deepEqual(
    counts,
    Array.from({ length: 20 }, (_, i) => before + i + 1),
  )
})

test("the client's complete ends one subscription and is not echoed; the id is free again", async (t) => {
  const api = await service()
  const socket = await openSocket(t, api.wsUrl)
  for (const id of ['a', 'b']) socket.send({ id, query: counter })
  await api.subscribed(2)
  socket.send({ id: 'a', type: 'complete' })
  socket.send({ id: 'unknown', type: 'complete' })
  await api.subscribed(1)
  await api.parts.topics.publish('counter', { count: 1 })
  assert.deepEqual(await socket.next(), { id: 'b', data: { counter: { count: 1 } } })
  socket.send({ id: 'a', query: counter })
  await api.subscribed(2)
  // Sent together with the subscription it ends, so that it has not started yet.
  socket.send({ id: 'c', query: counter })
  socket.send({ id: 'c', type: 'complete' })
  socket.send({ id: 'd', query: '{ me { id } }' })
  assert.deepEqual(await socket.next(), { id: 'd', data: { me: null } })
  await api.subscribed(2)
  assert.equal(socket.waiting(), 0)
})

test('a subscription that ends sends complete, with its id or without; one that fails sends errors first', async (t) => {
  const api = await service()
  const socket = await openSocket(t, api.wsUrl)
  socket.send({ query: 'subscription { ticks { n } }' })
  assert.deepEqual(await socket.next(), { data: { ticks: { n: 1 } } })
  assert.deepEqual(await socket.next(), { type: 'complete' })
  socket.send({ id: 3, query: 'subscription { ticks { n } }' })
  assert.deepEqual(await socket.next(), { id: 3, data: { ticks: { n: 1 } } })
  assert.deepEqual(await socket.next(), { id: 3, type: 'complete' })
  socket.send({ id: 4, query: 'subscription { ticks(fails: true) { n } }' })
  assert.deepEqual(await socket.next(), { id: 4, data: { ticks: { n: 1 } } })
  const failed = { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }
  assert.deepEqual(await socket.next(), { id: 4, errors: [failed] })
  assert.deepEqual(await socket.next(), { id: 4, type: 'complete' })
  await eventually(() => assert.deepEqual(api.parts.engine.counts(), { subscribers: 0, sources: 0 }))
})
