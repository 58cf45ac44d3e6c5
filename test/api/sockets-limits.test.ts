/** Limits of sockets, refused upgrades, and their cleanup. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { objectType, query, subscription } from '../../src/platform/graphql/schema/elements.ts'
import { shareApi, startApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import {
  openSocket,
  openTransport,
  refusedUpgrade,
  type SocketApi,
  shareSocketApi,
  startSocketApi,
} from '../support/sockets.ts'
import { amount } from '../support/tiers.ts'

const counter = 'subscription { counter { count } }'
const nothing = { subscribers: 0, sources: 0 }

/** What the query `slow` and the check of the subscription `late` wait for; set by the tests that need them. */
let resolveSlow = async () => 1
let mayStart = Promise.resolve()

const elements = [
  query({ name: 'slow', type: 'Int', access: 'public', resolve: () => resolveSlow() }),
  objectType({ name: 'Late', fields: { n: 'Int' } }),
  subscription({
    name: 'late',
    type: 'Late',
    access: { policy: 'late', action: 'see', entity: () => mayStart.then(() => ({})) },
    async *subscribe(_args, { values }) {
      yield* values('late')
    },
  }),
]

const unused = shareSocketApi({ elements, policies: { late: { see: () => true } } })
const limited = shareSocketApi({
  env: { GQL_WS_MAX_PER_ADDRESS: '3', GQL_WS_MAX_SUBSCRIPTIONS: '3', TRUSTED_PROXIES: '127.0.0.1' },
})
const listing = shareApi({ env: { CORS_ORIGINS: 'https://shop.example' } })

/** The service works for others, and nothing is left of the misbehaving client. */
async function assertUnharmed(t: TestContext, api: SocketApi): Promise<void> {
  const other = await openSocket(t, api.wsUrl)
  other.send({ query: '{ me { id } }' })
  assert.deepEqual(await other.next(), { data: { me: null } })
  other.ws.close()
  await other.closed
  await eventually(() => {
    assert.deepEqual(api.parts.engine.counts(), nothing)
    assert.deepEqual(api.parts.sockets.counts(), { raw: 0, transport: 0 })
  })
  assert.equal((await api.get('/health/live')).status, 200)
  assert.equal(api.log.filter((line) => line.includes('"level":"error"')).length, 0)
}

test('the WebSocket port responds to plain requests with 426, and to health checks', async () => {
  const api = await listing()
  const url = api.wsUrl.replace('ws', 'http')
  const response = await fetch(url)
  assert.equal(response.status, 426)
  assert.equal(response.headers.get('upgrade'), 'websocket')
  assert.deepEqual(await response.json(), { error: 'Upgrade required' })
  const live = await fetch(`${url}/health/live`)
  assert.equal(live.status, 200)
  assert.deepEqual(await live.json(), { status: 'ok' })
  assert.equal((await fetch(`${url}/graphql`, { method: 'POST', body: '{}' })).status, 426)
})

test('every path leads to a socket on its own port; on the HTTP port only /graphql does', async (t) => {
  const api = await unused()
  for (const path of ['/', '/graphql', '/any?x=1']) {
    const socket = await openSocket(t, api.wsUrl + path)
    socket.ws.close()
  }
  const http = api.url.replace('http', 'ws')
  for (const path of ['/', '/graphiql', '/graphql/x', '/api/v2/products']) {
    const { status, body, headers } = await refusedUpgrade(http + path)
    assert.deepEqual([status, body], [404, { error: 'Not found' }])
    assert.ok(headers['x-request-id'])
  }
  await openSocket(t, `${http}/graphql?x=1`)
})

test('another upgrade protocol or an invalid handshake still gets a response', async () => {
  const api = await listing()
  const ask = (url: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      request(url, { headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })
  const upgrade = { connection: 'upgrade', upgrade: 'h2c' }
  assert.equal(await ask(`${api.url}/health/live`, upgrade), 200)
  assert.equal(await ask(api.wsUrl.replace('ws', 'http'), upgrade), 426)
  for (const url of [`${api.url}/graphql`, api.wsUrl.replace('ws', 'http')]) {
    assert.equal(await ask(url, { ...upgrade, upgrade: 'websocket' }), 400, 'it has no key')
  }
})

test('an address has a limit of sockets; a closed one makes room', async (t) => {
  const api = await limited()
  const http = `${api.url.replace('http', 'ws')}/graphql`
  const first = await openSocket(t, api.wsUrl)
  await openTransport(t, api.wsUrl)
  await openSocket(t, http)
  for (const url of [api.wsUrl, http]) {
    const { status, body, headers } = await refusedUpgrade(url)
    assert.deepEqual([status, body], [429, { error: 'Too many attempts' }])
    assert.ok(headers['retry-after'])
  }
  assert.deepEqual(api.parts.sockets.counts(), { raw: 2, transport: 1 })
  first.ws.close()
  await first.closed
  await eventually(() => openSocket(t, api.wsUrl))

  // A trusted proxy sets the client address; all addresses of a /64 count as one.
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  for (let i = 1; i <= 3; i++) await openSocket(t, api.wsUrl, from(`2001:db8:1:1::${i}`))
  assert.equal((await refusedUpgrade(api.wsUrl, from('2001:db8:1:1:ffff::9'))).status, 429)
  await openSocket(t, api.wsUrl, from('2001:db8:1:2::1'))
  await openSocket(t, api.wsUrl, from('198.51.100.7'))
})

test('only a trusted proxy can set the client address', async (t) => {
  const api = await startApi(t, { env: { GQL_WS_MAX_PER_ADDRESS: '1' } })
  await openSocket(t, api.wsUrl, { headers: { 'x-forwarded-for': '198.51.100.1' } })
  assert.equal((await refusedUpgrade(api.wsUrl, { headers: { 'x-forwarded-for': '198.51.100.2' } })).status, 429)
})

test('if origins are listed, a page of another one is refused with 403', async (t) => {
  const api = await listing()
  for (const origin of ['https://evil.example', 'https://shop.example.evil.example', 'null', 'nonsense']) {
    const { status, body } = await refusedUpgrade(api.wsUrl, { headers: { origin } })
    assert.deepEqual([status, body], [403, { error: 'Forbidden' }], origin)
  }
  for (const origin of ['https://shop.example', api.url]) await openSocket(t, api.wsUrl, { headers: { origin } })
  await openSocket(t, api.wsUrl)
  const open = await unused()
  await openSocket(t, open.wsUrl, { headers: { origin: 'https://anywhere.example' } })
})

test('a socket has a limit of subscriptions; the next gets errors, and one that ends makes room', async (t) => {
  const api = await limited()
  const socket = await openSocket(t, api.wsUrl)
  for (let id = 1; id <= 4; id++) socket.send({ id, query: counter })
  const { id, errors } = await socket.next()
  assert.equal(id, 4)
  assert.equal(errors[0].extensions.code, 'TOO_MANY_SUBSCRIPTIONS')
  socket.send({ id: 5, query: '{ me { id } }' })
  assert.deepEqual(await socket.next(), { id: 5, data: { me: null } }, 'what is no subscription is not counted')
  socket.send({ id: 1, type: 'complete' })
  socket.send({ id: 4, query: counter })
  await api.subscribed(3)
  assert.equal(socket.waiting(), 0)
})

test('long documents count: the memory of open subscriptions is limited', async (t) => {
  const api = await unused()
  const socket = await openSocket(t, api.wsUrl)
  const long = (i: number) => `subscription { counter { count } } #${i}${'x'.repeat(30_000)}`
  for (let id = 1; id <= 5; id++) socket.send({ id, query: long(id) })
  const { id, errors } = await socket.next()
  assert.equal(id, 5)
  assert.equal(errors[0].extensions.code, 'TOO_MANY_SUBSCRIPTIONS')
})

test('messages of any depth get a response or an error, and do no harm', async (t) => {
  const api = await unused()
  const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
  const transport = await openTransport(t, api.wsUrl)
  transport.send(`{"type":"ping","payload":{"deep":${deep}}}`)
  assert.equal((await transport.next()).type, 'pong')
  const raw = await openSocket(t, api.wsUrl)
  raw.send(`{"id":1e400,"query":"{ me { id } }"}`)
  assert.equal((await raw.next()).errors[0].extensions.code, 'BAD_REQUEST')
  raw.send(`{"query":${deep}}`)
  assert.equal((await raw.next()).errors[0].extensions.code, 'BAD_REQUEST')
  raw.send(`{"query":"subscription { counter { count } }","variables":{"deep":${deep}}}`)
  await api.subscribed(1)
  for (const { ws } of [raw, transport]) ws.terminate()
  await assertUnharmed(t, api)
})

test('metrics show the number of open sockets and subscriptions', async (t) => {
  const api = await unused()
  const sockets = [await openSocket(t, api.wsUrl), await openSocket(t, api.wsUrl)]
  await openTransport(t, api.wsUrl)
  for (const socket of sockets) socket.send({ query: counter })
  await api.subscribed(2)
  const { body } = await api.get('/metrics')
  assert.match(body, /^graphql_sockets\{dialect="raw"\} 2$/m)
  assert.match(body, /^graphql_sockets\{dialect="transport"\} 1$/m)
  assert.match(body, /^graphql_subscriptions\{kind="subscribers"\} 2$/m)
  assert.match(body, /^graphql_subscriptions\{kind="sources"\} 1$/m)
})

test('fifty operations of a socket run at once; the others wait', async (t) => {
  let running = 0
  let most = 0
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  resolveSlow = async () => {
    running += 1
    most = Math.max(most, running)
    await gate
    running -= 1
    return 1
  }
  const api = await unused()
  const socket = await openSocket(t, api.wsUrl)
  for (let id = 1; id <= 200; id++) socket.send({ id, query: '{ slow }' })
  await eventually(() => assert.equal(running, 50))
  release()
  const ids = new Set()
  while (ids.size < 200) ids.add((await socket.next()).id)
  assert.equal(most, 50)
  await assertClosed(socket.ws)
  await assertUnharmed(t, api)
})

async function assertClosed(ws: WebSocket): Promise<void> {
  ws.close()
  await eventually(() => assert.equal(ws.readyState, WebSocket.CLOSED))
}

test('a message of 5 MB closes the socket with 1009, invalid UTF-8 with 1007', async (t) => {
  const api = await unused()
  const long = await openSocket(t, api.wsUrl)
  long.send({ id: 1, query: counter })
  await api.subscribed(1)
  long.send('x'.repeat(5 * 1024 * 1024))
  assert.equal((await long.closed).code, 1009)
  const broken = await openSocket(t, api.wsUrl)
  broken.ws.send(Buffer.from([0xc3, 0x28]), { binary: false })
  assert.equal((await broken.closed).code, 1007)
  await assertUnharmed(t, api)
})

test('many new documents in one packet are handled a few at a time, and other clients are served in between', async (t) => {
  const api = await unused()
  const socket = await openSocket(t, api.wsUrl)
  const fields = 'posts { id } '.repeat(100)
  let turns = 0
  const count = () => {
    turns += 1
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  t.after(() => clearImmediate(timer))
  for (let i = 0; i < 60; i++) socket.send({ id: i, query: `query Q${i} { ${fields} }` })
  for (let i = 0; i < 60; i++) assert.deepEqual((await socket.next()).data, { posts: [] })
  assert.ok(turns > 30, `${turns} turns`)
})

test('of 10,000 subscriptions on one socket a hundred are accepted, and all end with the socket', async (t) => {
  const api = await unused()
  const socket = await openSocket(t, api.wsUrl)
  const sent = amount({ full: 10_000, otherwise: 1000 })
  for (let id = 0; id < sent; id++) socket.send({ id, query: counter })
  let refused = 0
  while (refused < sent - 100) {
    assert.equal((await socket.next()).errors[0].extensions.code, 'TOO_MANY_SUBSCRIPTIONS')
    refused += 1
  }
  await api.subscribed(100)
  socket.ws.terminate()
  await assertUnharmed(t, api)
})

test('a client that closes, disconnects or vanishes leaves nothing behind, whatever was open', async (t) => {
  const api = await unused()
  const ends: ((ws: WebSocket) => void)[] = [(ws) => ws.close(), (ws) => ws.terminate(), (ws) => ws.close(4999, 'bye')]
  for (const end of ends) {
    const [raw, transport] = [await openSocket(t, api.wsUrl), await openTransport(t, api.wsUrl)]
    raw.send({ query: counter })
    raw.send({ id: 1, query: counter })
    transport.send({ id: '1', type: 'subscribe', payload: { query: counter } })
    await api.subscribed(3)
    for (const { ws } of [raw, transport]) {
      // Not started yet when it ends.
      ws.send(JSON.stringify({ id: '2', type: 'subscribe', query: counter, payload: { query: counter } }))
      end(ws)
    }
    await api.subscribed(0)
  }
  await assertUnharmed(t, api)
})

test('a subscription that starts after its socket was closed is ended at once', async (t) => {
  let begin = () => {}
  mayStart = new Promise<void>((resolve) => {
    begin = resolve
  })
  const api = await unused()
  const socket = await openSocket(t, api.wsUrl)
  socket.send({ id: 1, query: 'subscription { late { n } }' })
  socket.send({ id: 2, query: 'subscription { late { n } }' })
  socket.send({ id: 1, type: 'complete' })
  socket.send({ id: 3, query: '{ me { id } }' })
  await socket.next()
  socket.ws.terminate()
  await eventually(() => assert.deepEqual(api.parts.sockets.counts(), { raw: 0, transport: 0 }))
  begin()
  await assertUnharmed(t, api)
})

test('stopping the service closes every socket with 1001 after running operations have finished', async (t) => {
  let finish = () => {}
  const gate = new Promise<void>((resolve) => {
    finish = resolve
  })
  const slow = query({ name: 'slow', type: 'Int', access: 'public', resolve: () => gate.then(() => 1) })
  const api = await startSocketApi(t, { elements: [slow] })
  const [idle, busy] = [await openSocket(t, api.wsUrl), await openTransport(t, api.wsUrl)]
  const beside = await openSocket(t, `${api.url.replace('http', 'ws')}/graphql`)
  idle.send({ query: counter })
  busy.send({ id: '1', type: 'subscribe', payload: { query: '{ slow }' } })
  busy.send({ type: 'ping' })
  await busy.next()
  await api.subscribed(1)
  const closing = api.app.close()
  for (const socket of [idle, beside]) {
    assert.deepEqual(await socket.closed, { code: 1001, reason: 'Going away' })
    assert.equal(socket.waiting(), 0, 'a subscription that is to be continued elsewhere is not complete')
  }
  finish()
  assert.deepEqual(await busy.next(), { id: '1', type: 'next', payload: { data: { slow: 1 } } })
  assert.equal((await busy.closed).code, 1001)
  await closing
})

test('a client that sends nothing after the upgrade, or half of it, does not keep the service from stopping', async (t) => {
  const api = await startSocketApi(t)
  const { port } = new URL(api.wsUrl)
  const half = connect(Number(port), '127.0.0.1')
  t.after(() => half.destroy())
  half.on('error', () => {})
  half.write('GET / HTTP/1.1\r\nhost: x\r\nupgrade: web')
  const deaf = await openSocket(t, api.wsUrl)
  deaf.ws.pause()
  const at = performance.now()
  await api.app.close()
  assert.ok(performance.now() - at < 9000, 'not after the ten seconds that requests in flight are given')
})
