/** The sub-protocol graphql-transport-ws, as its clients use it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Client, type ClientOptions, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { onAnyEngine } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { openSocket, openTransport, secretElements, shareSocketApi, startSocketApi } from '../support/sockets.ts'

const protocol = 'graphql-transport-ws'
const counter = 'subscription { counter { count } }'

function connect(t: TestContext, url: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0, ...options })
  t.after(() => client.dispose())
  return client
}

onAnyEngine('a client of graphql-ws', (engine) => {
  const shared = shareSocketApi({ engine, elements: secretElements })

  for (const place of ['on its own port', 'at /graphql on the HTTP port'] as const) {
    test(`subscribes, queries and mutates ${place}`, async (t) => {
      const api = await shared()
      const url = place === 'on its own port' ? api.wsUrl : `${api.url.replace('http', 'ws')}/graphql`
      await api.db.write({ sql: 'DELETE FROM posts' })
      const client = connect(t, url)
      const values = client.iterate({ query: counter })
      const first = values.next()
      await api.subscribed(1)
      const query = 'mutation ($title: String!) { createPost(title: $title, body: "b") }'
      const created = await client.iterate({ query, variables: { title: 'one' } }).next()
      assert.equal(typeof created.value?.data?.createPost, 'number')
      assert.deepEqual((await first).value, { data: { counter: { count: 1 } } })
      const second = values.next()
      await api.post('/graphql', { query, variables: { title: 'two' } })
      assert.deepEqual((await second).value, { data: { counter: { count: 2 } } })
      await values.return?.()
      await api.subscribed(0)
      const responses = []
      for await (const response of client.iterate({ query: '{ posts { title } }' })) responses.push(response)
      assert.deepEqual(responses, [{ data: { posts: [{ title: 'one' }, { title: 'two' }] } }])
    })
  }

  test('is authenticated by the token in connection_init, with its key in any case, or of the upgrade', async (t) => {
    const api = await shared()
    const user = await signIn(api)
    const query = '{ me { email } }'
    for (const key of ['authorization', 'Authorization', 'AUTHORIZATION']) {
      const client = connect(t, api.wsUrl, { connectionParams: { [key]: `Bearer ${user.access}` } })
      const { value } = await client.iterate({ query }).next()
      assert.deepEqual(value, { data: { me: { email: user.email } } })
    }
    const socket = await openSocket(t, api.wsUrl, { protocol, token: user.access })
    socket.send({ type: 'connection_init' })
    assert.deepEqual(await socket.next(), { type: 'connection_ack' })
    socket.send({ id: '1', type: 'subscribe', payload: { query } })
    assert.deepEqual(await socket.next(), { id: '1', type: 'next', payload: { data: { me: { email: user.email } } } })
    assert.deepEqual(await socket.next(), { id: '1', type: 'complete' })
  })

  test('with an invalid or empty token is closed with 4403', async (t) => {
    const api = await shared()
    for (const authorization of ['Bearer nonsense', 'Bearer ', 'Basic eDp5', '', 5]) {
      const socket = await openSocket(t, api.wsUrl, { protocol })
      socket.send({ type: 'connection_init', payload: { authorization } })
      assert.deepEqual(await socket.closed, { code: 4403, reason: 'Forbidden' }, String(authorization))
    }
    for (const authorization of ['Bearer nonsense', 'Basic eDp5']) {
      for (const offered of [protocol, []]) {
        const socket = await openSocket(t, api.wsUrl, { protocol: offered, headers: { authorization } })
        socket.send({ query: '{ me { email } }' })
        assert.deepEqual(await socket.closed, { code: 4403, reason: 'Forbidden' })
        assert.equal(socket.waiting(), 0, 'and nothing is done for it')
      }
    }
  })

  test('is closed with 4403 when its token is revoked, or has expired', async (t) => {
    const api = await shared()
    const [leaving, waiting] = [await signIn(api), await signIn(api)]
    const sockets = [
      await openTransport(t, api.wsUrl, { authorization: `Bearer ${leaving.access}` }),
      await openSocket(t, api.wsUrl, { token: leaving.access }),
    ]
    const patient = await openTransport(t, api.wsUrl, { authorization: `Bearer ${waiting.access}` })
    sockets[0]?.send({ id: '1', type: 'subscribe', payload: { query: counter } })
    await api.subscribed(1)
    // The second socket is watched only after its token has been checked.
    sockets[1]?.send({ query: '{ me { email } }' })
    await sockets[1]?.next()
    await api.post('/api/auth/logout', {}, leaving.access)
    await eventually(() => assert.ok(sockets.every(({ ws }) => ws.readyState === WebSocket.CLOSED)), byMessageMs)
    for (const { closed } of sockets) assert.equal((await closed).code, 4403)
    await api.subscribed(0)
    assert.equal(patient.ws.readyState, WebSocket.OPEN)
    api.clock.advance(1801)
    assert.equal((await patient.closed).code, 4403)
  })

  test('loses what a role protected, with a FORBIDDEN error', async (t) => {
    const api = await shared()
    const [editor, admin] = [await api.signInAs('editor'), await api.signInAs('admin')]
    const socket = await openTransport(t, api.wsUrl, { authorization: `Bearer ${editor.access}` })
    socket.send({ id: 's', type: 'subscribe', payload: { query: 'subscription { secret { text } }' } })
    await api.subscribed(1)
    await api.put(`/api/admin/users/${editor.id}/roles`, { roles: ['viewer'] }, admin.access)
    const payload = [{ message: 'Forbidden', extensions: { code: 'FORBIDDEN' } }]
    assert.deepEqual(await socket.next(), { id: 's', type: 'error', payload })
    await api.subscribed(0)
    socket.send({ type: 'ping' })
    assert.deepEqual(await socket.next(), { type: 'pong' })
  })

  test('while its token cannot be checked because the database is unavailable, is closed with 1013', async (t) => {
    const api = await startSocketApi(t, { engine })
    const user = await signIn(api)
    await api.parts.db.close()
    const socket = await openSocket(t, api.wsUrl, { token: user.access })
    socket.send({ query: '{ me { email } }' })
    assert.deepEqual(await socket.closed, { code: 1013, reason: 'Try again later' })
    assert.equal(socket.waiting(), 0)
  })
})

const service = shareSocketApi()

test('an operation that cannot be executed gets an error, and the socket stays open', async (t) => {
  const api = await service()
  const socket = await openTransport(t, api.wsUrl)
  for (const query of ['', '{', '{ nothing }', 'subscription { nothing }']) {
    socket.send({ id: 'x', type: 'subscribe', payload: { query } })
    const { id, type, payload } = await socket.next()
    assert.deepEqual([id, type], ['x', 'error'])
    assert.equal(typeof payload[0].message, 'string')
  }
})

test('every protocol violation closes the socket with its code', async (t) => {
  const api = await service()
  const request = { query: counter }
  const cases: [name: string, messages: unknown[], code: number, reason: string][] = [
    ['no JSON', ['hello'], 4400, 'Invalid message received'],
    ['no object', ['[]'], 4400, 'Invalid message received'],
    ['no type', [{}], 4400, 'Invalid message received'],
    ['an unknown type', [{ type: 'start' }], 4400, 'Invalid message received'],
    ['an own message', [{ type: 'next', id: '1', payload: {} }], 4400, 'Invalid message received'],
    ['a payload of another kind', [{ type: 'connection_init', payload: 5 }], 4400, 'Invalid message received'],
    ['a ping with a list', [{ type: 'ping', payload: [] }], 4400, 'Invalid message received'],
    ['no id', [{ type: 'connection_init' }, { type: 'subscribe', payload: request }], 4400, 'Invalid message received'],
    ['a number for an id', [{ type: 'subscribe', id: 1, payload: request }], 4400, 'Invalid message received'],
    ['an id without end', [{ type: 'complete', id: 'x'.repeat(300) }], 4400, 'Invalid message received'],
    ['no query', [{ type: 'subscribe', id: '1', payload: {} }], 4400, 'Invalid message received'],
    ['too early', [{ type: 'subscribe', id: '1', payload: request }], 4401, 'Unauthorized'],
    [
      'twice introduced',
      [{ type: 'connection_init' }, { type: 'connection_init' }],
      4429,
      'Too many initialisation requests',
    ],
    [
      'a repeated id',
      [
        { type: 'connection_init' },
        { type: 'subscribe', id: 'a', payload: request },
        { type: 'subscribe', id: 'a', payload: request },
      ],
      4409,
      'Subscriber for a already exists',
    ],
  ]
  for (const [name, messages, code, reason] of cases) {
    const socket = await openSocket(t, api.wsUrl, { protocol })
    for (const message of messages) socket.send(message)
    assert.deepEqual(await socket.closed, { code, reason }, name)
  }
  await api.subscribed(0)
})

test('an unknown sub-protocol is closed with 4406; if ours is offered too, it is chosen', async (t) => {
  const api = await service()
  const old = await openSocket(t, api.wsUrl, { protocol: 'graphql-ws' })
  assert.deepEqual(await old.closed, { code: 4406, reason: 'Subprotocol not acceptable' })
  const both = await openSocket(t, api.wsUrl, { protocol: ['graphql-ws', protocol] })
  assert.equal(both.ws.protocol, protocol)
})

test('a socket without connection_init within three seconds is closed with 4408', async (t) => {
  const api = await service()
  const at = performance.now()
  const socket = await openSocket(t, api.wsUrl, { protocol })
  const prompt = await openTransport(t, api.wsUrl)
  assert.deepEqual(await socket.closed, { code: 4408, reason: 'Connection initialisation timeout' })
  assert.ok(performance.now() - at > 2900)
  assert.equal(prompt.ws.readyState, WebSocket.OPEN)
})

test('pings get a pong with the same payload, even before connection_init', async (t) => {
  const api = await service()
  const socket = await openSocket(t, api.wsUrl, { protocol })
  socket.send({ type: 'ping', payload: { at: 5 } })
  assert.deepEqual(await socket.next(), { type: 'pong', payload: { at: 5 } })
  socket.send({ type: 'pong' })
  socket.send({ type: 'ping', payload: null })
  assert.deepEqual(await socket.next(), { type: 'pong' })
})
