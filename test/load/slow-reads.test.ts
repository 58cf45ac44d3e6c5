/** Slow reads end when their client disconnects, whatever it used, and are no errors. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { query } from '../../src/platform/graphql/schema/elements.ts'
import { startApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { productsPath, sampleRow } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { openSocket } from '../support/sockets.ts'

const endless: Record<Dialect, string> = {
  sqlite: 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n',
  postgres: 'SELECT pg_sleep(600), 1 AS i',
}

const slowReads = defineFeature({
  name: 'slow-reads',
  create: ({ db }) => ({ db, read: async () => (await db.scan(endless[db.dialect])).length }),
  routes:
    ({ read }) =>
    (app) =>
      void app.get('/api/slow', { config: { access: 'public', docs: false } }, async () => ({ data: await read() })),
  elements: ({ read }) => [query({ name: 'slow', type: 'Int', access: 'public', resolve: read })],
})

const waitingIn = ({ waiting }: ReturnType<Database['load']>) => (waiting.scan ?? 0) + (waiting.scanner ?? 0)

async function start(t: TestContext, engine: Dialect) {
  let db: Database | undefined
  const api = await startApi(t, {
    engine,
    extensions: [slowReads],
    extend(_app, parts) {
      db = parts.db
    },
  })
  const waiting = () => waitingIn((db as Database).load())
  return { ...api, waiting }
}

const post = (body: object, accept = 'application/json') => {
  const text = JSON.stringify(body)
  const headers = `host: x\r\ncontent-type: application/json\r\naccept: ${accept}\r\ncontent-length: ${text.length}`
  return `POST /graphql HTTP/1.1\r\n${headers}\r\n\r\n${text}`
}
const slowQuery = { query: '{ slow }' }

const ways: Record<string, string> = {
  'a REST request': 'GET /api/slow HTTP/1.1\r\nhost: x\r\n\r\n',
  'pipelined requests': 'GET /api/slow HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(5),
  'a GraphQL query by POST': post(slowQuery),
  'a GraphQL query by GET': 'GET /graphql?query={slow} HTTP/1.1\r\nhost: x\r\n\r\n',
  'a batch of GraphQL queries': post([slowQuery, slowQuery]),
  'a GraphQL query as an event stream': post(slowQuery, 'text/event-stream'),
}

onAnyEngine('slow reads', (engine) => {
  test('of a client that disconnects end at once, and are no errors', async (t) => {
    const api = await start(t, engine)
    for (const [way, bytes] of Object.entries(ways)) {
      const sockets = Array.from({ length: 20 }, () => {
        const { hostname, port } = new URL(api.url)
        return connect(Number(port), hostname).on('error', () => {})
      })
      for (const socket of sockets) socket.write(bytes)
      await eventually(() => assert.ok(api.waiting() >= 10, way))
      for (const socket of sockets) socket.destroy()
      await eventually(() => assert.equal(api.waiting(), 0, way))
    }
    const metrics = String((await api.get('/metrics')).body)
    assert.match(metrics, /http_request_duration_seconds_count\{method="GET",route="\/api\/slow",status="499"\}/)
    assert.doesNotMatch(metrics, /status="5\d\d"/)
    assert.doesNotMatch(metrics, /^graphql_errors_total\{code="[^"]*"\} [1-9]/m)
    assert.deepEqual(
      api.log.filter((line) => JSON.parse(line).level >= 40),
      [],
    )
  })

  test('of a socket end with the operation or the connection', async (t) => {
    const api = await start(t, engine)
    const socket = await openSocket(t, api.wsUrl)
    for (let i = 0; i < 10; i++) socket.send({ id: String(i), ...slowQuery })
    await eventually(() => assert.ok(api.waiting() > 0))
    for (let i = 0; i < 10; i++) socket.send({ id: String(i), type: 'complete' })
    await eventually(() => assert.equal(api.waiting(), 0))
    socket.send({ id: 'again', ...slowQuery })
    for (let i = 0; i < 10; i++) socket.send({ id: String(i), ...slowQuery })
    await eventually(() => assert.ok(api.waiting() > 0))
    socket.ws.terminate()
    await eventually(() => assert.equal(api.waiting(), 0))
  })

  test('of many aborted exact counts leave nothing to do for the next search', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const rows = Array.from({ length: 20_500 }, (_, i) => ({ ...sampleRow, name: `Lamp ${i}`, price_cents: 100 + i }))
    for (let at = 0; at < rows.length; at += 1000) {
      await api.db.write(insertMany(engine, rows.slice(at, at + 1000), '2026-01-01T00:00:00.000Z'))
    }
    const exact = `${productsPath}?filter[price][gte]=1.50&count=exact&per_page=1`
    assert.equal((await api.get(exact)).body.meta.total, 20_450)
    const flood = Array.from({ length: 200 }, () => {
      const sent = request(`${api.url}${exact}`, { agent: false })
      sent.on('error', () => {}).on('response', (response) => response.resume())
      sent.end()
      return sent
    })
    await new Promise((resolve) => flood[0]?.once('finish', resolve))
    for (const sent of flood) sent.destroy()
    assert.equal((await api.get(`${productsPath}?q=lamp+77`)).status, 200)
    const metrics = String((await api.get('/metrics')).body)
    assert.doesNotMatch(metrics, /status="5\d\d"/)
  })
})
