/** What clients see of a service that drains and closes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import waiting from '../../docs/examples/waiting.ts'
import { stopTimesOf } from '../../src/platform/process/stop-times.ts'
import { type Api, type Owner, share, startApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { openSocket } from '../support/sockets.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

interface Gate {
  begun: Promise<void>
  open(): void
}

/** A service with a route that answers when the gate is opened. */
async function start(t: Owner, env: Record<string, string> = {}): Promise<{ api: Api; gate: Gate }> {
  const begun = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  const api = await startApi(t, {
    env,
    extend(app) {
      const isPublic = { config: { access: 'public' } } as const
      app.get('/gate', isPublic, async () => {
        begun.resolve()
        await opened.promise
        return { done: true }
      })
      app.post('/echo', isPublic, async (asked) => ({ body: asked.body }))
    },
  })
  return { api, gate: { begun: begun.promise, open: opened.resolve } }
}

async function connectTo(t: TestContext, url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket.setEncoding('utf8')
}

const draining = share((owner) => start(owner))

test('the port for sockets tells whether it is ready', async () => {
  const { api } = await draining()
  const ready = await fetch(`${api.wsUrl.replace('ws', 'http')}/health/ready`)
  assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ok' }])
})

test('a draining node is not ready and asks clients to leave, but serves everything, new sockets too', async (t) => {
  const { api, gate } = await draining()
  const before = api.get('/gate')
  await gate.begun
  assert.equal((await api.get('/health/ready')).headers.get('connection'), 'keep-alive')
  api.app.drain()
  for (const method of ['GET', 'OPTIONS']) {
    const ready = await api.request(method, '/health/ready', {})
    assert.equal(ready.status, 503)
    assert.equal(ready.headers.get('connection'), 'close')
  }
  assert.equal((await fetch(`${api.wsUrl.replace('ws', 'http')}/health/ready`)).status, 503)
  for (const path of ['/health/live', '/api/v2/products', '/unknown']) {
    const response = await api.get(path)
    assert.notEqual(response.status, 503, path)
    assert.equal(response.headers.get('connection'), 'close', path)
  }
  const stream = await fetch(`${api.url}/graphql?query=subscription{counter{count}}`, {
    headers: { accept: 'text/event-stream' },
  })
  assert.equal(stream.headers.get('connection'), 'close', 'of an event stream too')
  await stream.body?.cancel()
  gate.open()
  assert.equal((await before).headers.get('connection'), 'close', 'of a request that began before')
  for (const url of [api.wsUrl, `${api.url.replace('http', 'ws')}/graphql`]) {
    const socket = await openSocket(t, url)
    socket.send({ query: '{ posts { id } }' })
    assert.deepEqual(await socket.next(), { data: { posts: [] } })
  }
})

test('a half-sent request or an idle connection does not hold the stop, a request in flight does', async (t) => {
  const { api, gate } = await start(t)
  const idle = await connectTo(t, api.url)
  idle.write(request('/health/live'))
  await once(idle, 'data')
  const halfSent = [
    'GET /health/li',
    'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"a"',
  ]
  const silent = await Promise.all(halfSent.map(() => connectTo(t, api.url)))
  for (const [i, half] of halfSent.entries()) silent[i]?.write(half)
  const inFlight = api.get('/gate')
  await gate.begun
  const closing = api.app.close()
  await Promise.all([idle, ...silent].map((socket) => once(socket.resume(), 'close')))
  gate.open()
  assert.deepEqual((await inFlight).body, { done: true })
  await closing
})

test('a request that is on its way when the listener closes is served, on a new and on an old connection', async (t) => {
  const { api } = await start(t, { DRAIN_SECONDS: '1' })
  const [old, unused] = [await connectTo(t, api.url), await connectTo(t, api.url)]
  old.write(request('/health/live'))
  await once(old, 'data')
  api.app.drain()
  for (const socket of [old, unused]) socket.write(request('/api/v2/products'))
  const closing = api.app.close()
  for (const socket of [old, unused]) {
    const [text] = await once(socket, 'data')
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
    assert.match(text, /\r\nconnection: close\r\n/i)
  }
  await eventually(() => assert.rejects(fetch(api.url)))
  await closing
})

test('a client that has to leave finds no listener when its socket is closed', async (t) => {
  const { api } = await start(t, { DRAIN_SECONDS: '1' })
  const urls = [api.wsUrl, `${api.url.replace('http', 'ws')}/graphql`]
  const sockets = await Promise.all(Array.from({ length: 40 }, (_, i) => openSocket(t, urls[i % 2] as string)))
  const closing = api.app.close()
  const reconnects = sockets.map(async ({ closed }, i) => {
    assert.deepEqual(await closed, { code: 1001, reason: 'Going away' })
    await assert.rejects(openSocket(t, urls[i % 2] as string), /ECONNREFUSED/)
  })
  await Promise.all(reconnects)
  await closing
})

test('cutting off ends a close that waits for requests and sockets', async (t) => {
  const { api, gate } = await start(t)
  const socket = await openSocket(t, api.wsUrl)
  socket.ws.pause()
  const lost = assert.rejects(api.get('/gate'))
  await gate.begun
  const closing = api.app.close()
  api.app.cutOff()
  await lost
  await closing
})

test('a stop ends before Docker kills, with a drain of up to three seconds', () => {
  for (const seconds of [0, 1, 2, 3]) assert.ok(stopTimesOf(seconds).totalMs < 10_000, `${seconds} s`)
  for (const seconds of [0, 3, 30]) {
    const { drainMs, spreadMs, lingerMs, halfSentMs, requestsMs, totalMs } = stopTimesOf(seconds)
    for (const ms of [spreadMs + 2000, lingerMs, halfSentMs]) assert.ok(ms < requestsMs)
    assert.ok(drainMs + requestsMs < totalMs)
  }
})

test('a stop ends the requests that an extension holds, as the example in docs/extensions.md does', async (t) => {
  const api = await startApi(t, { extensions: [waiting] })
  const { access } = await signIn(api)
  const held = api.get('/api/news', access)
  await eventually(async () => assert.match((await api.get('/metrics')).body, /^http_requests_in_flight 2$/m))
  api.app.drain()
  // Still served: nothing was cut off.
  assert.deepEqual((await held).body, { data: null })
  assert.equal((await api.get('/me', access)).status, 200)
})
