/** Refusals of the WebSocket port, and refused upgrades: each with the usual error body and an id. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { query } from '../../src/platform/graphql/schema/elements.ts'
import { createStandaloneServer } from '../../src/platform/graphql/websocket/standalone-server.ts'
import { createLimitsPerAddress } from '../../src/platform/limiter/connections-per-address.ts'
import { eventually } from '../support/eventually.ts'
import { sendRaw } from '../support/raw-http.ts'
import { clientFrame, openRaw } from '../support/raw-socket.ts'
import { openSocket, shareSocketApi, startSocketApi } from '../support/sockets.ts'
import { createStandaloneSockets } from '../support/standalone-sockets.ts'
import { testInFull } from '../support/test-in-full.ts'

const upgrade = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
const key = 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
const host = 'host: x\r\n'

async function assertRefused(url: string, request: string, [status, error]: readonly [number, string]): Promise<void> {
  const { headers, body, ...response } = await sendRaw(url, request)
  const name = JSON.stringify(request).slice(0, 120)
  assert.equal(response.status, status, name)
  assert.deepEqual(JSON.parse(body), { error }, name)
  assert.match(headers.get('x-request-id') ?? '', /./, name)
  assert.match(headers.get('content-type') ?? '', /^application\/json/, name)
}

const malformed = [400, 'Malformed request'] as const
const required = [426, 'Upgrade required'] as const

const listing = shareSocketApi({ env: { CORS_ORIGINS: 'https://shop.example', GQL_WS_MAX_PER_ADDRESS: '2' } })

test('everything the WebSocket port refuses has the usual error body and an id', async (t) => {
  const api = await listing()
  const cases: [request: string, response: readonly [number, string]][] = [
    [`GET / HTTP/1.1\r\n${host}\r\n`, required],
    ['GET / HTTP/1.0\r\n\r\n', required],
    [`DELETE /any HTTP/1.1\r\n${host}\r\n`, required],
    [`POST / HTTP/1.1\r\n${host}content-length: 5\r\n\r\nhello`, required],
    [`GET / HTTP/1.1\r\n${host}expect: miracles\r\n\r\n`, required],
    [`GET / HTTP/1.1\r\n${host}connection: Upgrade\r\nupgrade: h2c\r\n\r\n`, required],
    ['GET / HTTP/1.1\r\n\r\n', malformed],
    [`GET / HTTP/1.1\r\n${host}${host}\r\n`, malformed],
    [`GET / HTTP/1.1\r\n${upgrade}${key}\r\n`, malformed],
    [`GET / HTTP/1.1\r\n${host}${host}${upgrade}${key}\r\n`, malformed],
    ['nonsense\r\n\r\n', malformed],
    [`GET / HTTP/1.1\r\n${host}a b: c\r\n\r\n`, malformed],
    [`GET / HTTP/1.1\r\n${host}x: ${'y'.repeat(20_000)}\r\n\r\n`, [431, 'Request headers too large']],
    [`GET / HTTP/1.1\r\n${host}${upgrade}\r\n`, malformed],
    [`GET / HTTP/1.1\r\n${host}${upgrade.replace('13', '12')}${key}\r\n`, malformed],
    [`POST / HTTP/1.1\r\n${host}${upgrade}${key}\r\n`, malformed],
    [`CONNECT x:80 HTTP/1.1\r\n${host}\r\n`, [405, 'Method not allowed']],
    [`GET / HTTP/1.1\r\n${host}origin: https://evil.example\r\n${upgrade}${key}\r\n`, [403, 'Forbidden']],
  ]
  for (const [request, response] of cases) await assertRefused(api.wsUrl, request, response)
  for (let i = 0; i < 2; i++) await openSocket(t, api.wsUrl)
  await assertRefused(api.wsUrl, `GET / HTTP/1.1\r\n${host}${upgrade}${key}\r\n`, [429, 'Too many attempts'])
})

test('a refused upgrade on the HTTP port has the usual error body and an id', async (t) => {
  const api = await listing()
  const ask = (path: string, headers: string) => `GET ${path} HTTP/1.1\r\n${headers}\r\n`
  const cases: [request: string, response: readonly [number, string]][] = [
    [ask('/elsewhere', host + upgrade + key), [404, 'Not found']],
    [ask('/graphql', upgrade + key), malformed],
    [ask('/graphql', host + host + upgrade + key), malformed],
    [ask('/graphql', host + upgrade), malformed],
    [ask('/graphql', `${host}origin: https://evil.example\r\n${upgrade}${key}`), [403, 'Forbidden']],
    [ask('/console/live', host + upgrade + key), [403, 'Forbidden']],
  ]
  for (const [request, response] of cases) await assertRefused(api.url, request, response)
  for (let i = 0; i < 2; i++) await openSocket(t, api.wsUrl)
  await assertRefused(api.url, ask('/graphql', host + upgrade + key), [429, 'Too many attempts'])
})

test('an invalid forwarded address does not change the client', async (t) => {
  const api = await startSocketApi(t, { env: { TRUSTED_PROXIES: '127.0.0.1', GQL_WS_MAX_PER_ADDRESS: '2' } })
  const from = (forwarded: string) => `x-forwarded-for: ${forwarded}\r\n`
  for (const forwarded of ['evil', '203.0.113.9, unknown']) {
    await openSocket(t, api.wsUrl, { headers: { 'x-forwarded-for': forwarded } })
  }
  const request = (forwarded: string) => `GET /graphql HTTP/1.1\r\n${host}${from(forwarded)}${upgrade}${key}\r\n`
  for (const url of [api.wsUrl, api.url]) {
    for (const forwarded of ['evil', 'another', '203.0.113.8, 300.1.1.1', '"<script>"']) {
      await assertRefused(url, request(forwarded), [429, 'Too many attempts'])
    }
  }
  await openSocket(t, api.wsUrl, { headers: { 'x-forwarded-for': 'evil, 203.0.113.9:5555' } })
})

/** With time limits short enough for a test. */
async function startServer(t: TestContext, { maxPerAddress = 10 } = {}) {
  const long = query({ name: 'long', type: 'String', access: 'public', resolve: () => 'x'.repeat(16_000_000) })
  const { sockets, log, lines } = await createStandaloneSockets(t, { elements: [long] })
  const server = createStandaloneServer({
    sockets,
    log,
    readiness: { check: async () => [] },
    createRequestId: () => 'x',
    isTrusted: () => false,
    perAddress: createLimitsPerAddress()('connections', maxPerAddress),
    headersWithinMs: 1000,
    unreadSeconds: 4,
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0, reusePort: false })
  t.after(() => server.close())
  return { url, sockets, lines }
}

testInFull('a request that is never finished, or never started, gets 408', async (t) => {
  const { url } = await startServer(t)
  for (const half of ['', 'GET / HT', `GET / HTTP/1.1\r\n${host}${upgrade}`]) {
    await assertRefused(url, half, [408, 'Request timeout'])
  }
})

test('an address has a limit of connections that are not upgraded yet', async (t) => {
  const { url } = await startServer(t, { maxPerAddress: 3 })
  const waiting = Array.from({ length: 3 }, () => sendRaw(url, ''))
  await eventually(() => assertRefused(url, '', [429, 'Too many attempts']))
  for (const each of await Promise.all(waiting)) assert.equal(each.status, 408)
  for (let i = 0; i < 5; i++) await eventually(() => openSocket(t, url))
})

test('a client that does not read its response is disconnected, even if it still sends; one that reads gets all of it', async (t) => {
  const { url, sockets, lines } = await startServer(t)
  const ask = clientFrame(JSON.stringify({ query: '{ long }' }))
  const [deaf, keen] = [await openRaw(t, url), await openRaw(t, url)]
  for (const { socket } of [deaf, keen]) socket.write(ask)
  deaf.socket.pause()
  const word = clientFrame(JSON.stringify({ id: 1, type: 'complete' }))
  const talking = setInterval(() => deaf.socket.write(word), 50)
  t.after(() => clearInterval(talking))
  await eventually(() => assert.equal(sockets.counts().raw, 1), 30_000)
  assert.ok(lines.some((line) => line.includes('its client does not read')))
  await eventually(() => assert.ok(keen.socket.bytesRead > 16_000_000))
})
