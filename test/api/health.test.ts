import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { createClient } from '../../src/testing/client.ts'
import { runOnServer } from '../../src/testing/databases.ts'
import { share, shareService, startApi } from '../support/api.ts'
import { createDatabaseUrl, engines, forEngines, onAnyEngine, testServer } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { lamp, productsPath } from '../support/products.ts'
import { startProxy } from '../support/proxy.ts'
import { sendRaw } from '../support/raw-http.ts'
import { startApiWithRoles } from '../support/roles.ts'

const shared = forEngines((engine) => shareService(startApiWithRoles, { engine }))
const withoutDatabase = forEngines((engine) =>
  share(async (owner) => {
    const api = await startApiWithRoles(owner, { engine })
    await api.db.close()
    return api
  }),
)

onAnyEngine('health', (engine) => {
  test('a service without its database is alive but not ready (503)', async () => {
    const api = await withoutDatabase[engine]()
    const ready = await api.get('/health/ready')
    assert.equal(ready.status, 503)
    assert.deepEqual(ready.body, { error: 'Service unavailable' })
    assert.ok(ready.headers.get('retry-after'))
    assert.equal((await api.get('/health/live')).status, 200)
  })
})

onAnyEngine('health', (engine) => {
  test('a running service is alive and ready', async () => {
    const api = await shared[engine]()
    assert.deepEqual((await api.get('/health/live')).body, { status: 'ok' })
    const ready = await api.get('/health/ready')
    assert.equal(ready.status, 200)
    assert.deepEqual(ready.body, { status: 'ok' })
  })
})

onAnyEngine('readiness', (engine) => {
  test('queries the database at most once a second, however often it is called', async (t) => {
    let asked = 0
    const api = await shared[engine]()
    const { checkWritable } = api.db
    t.mock.method(api.db, 'checkWritable', async () => {
      asked += 1
      return checkWritable()
    })
    const startedAt = performance.now()
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 40 }, () => api.get('/health/ready')))
    }
    const seconds = (performance.now() - startedAt) / 1000
    assert.ok(asked <= 1 + seconds, `${asked} times in ${seconds} s`)
  })
})

/** Statements that need disk space fail with PostgreSQL's error for a full disk. All others work. */
const noRoom = `BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END`
const fillDisk = `
  CREATE FUNCTION no_room_for_rows() RETURNS trigger LANGUAGE plpgsql AS $$ ${noRoom} $$;
  CREATE TRIGGER no_room BEFORE INSERT ON products EXECUTE FUNCTION no_room_for_rows();
  CREATE FUNCTION no_room_for_tables() RETURNS event_trigger LANGUAGE plpgsql AS $$ ${noRoom} $$;
  CREATE EVENT TRIGGER no_room ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION no_room_for_tables();`

test('metrics cover requests by route and status, the event loop, the database and the process', async (t) => {
  const api = await startApi(t)
  await api.get('/health/ready')
  await api.get('/api/v2/products/1')
  await api.get('/nowhere')
  const { status, headers, body } = await api.get('/metrics')
  assert.equal(status, 200)
  assert.match(headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(body, /http_request_duration_seconds_count\{method="GET",route="\/health\/ready",status="200"\} 1/)
  assert.match(body, /http_request_duration_seconds_count\{method="any",route="unknown",status="404"\} 1/)
  assert.match(body, /database_operation_duration_seconds_count\{operation="read"\} [1-9]/)
  assert.match(body, /nodejs_eventloop_lag_p99_seconds /)
  assert.match(body, /process_resident_memory_bytes /)
})

test('without a token, metrics are available only to this machine', async (t) => {
  const api = await startApi(t, { env: { HOST: '0.0.0.0' } })
  const { port } = new URL(api.url)
  const outward = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)
  if (outward) {
    const response = await createClient(`http://${outward.address}:${port}`).get('/metrics')
    assert.equal(response.status, 403)
    assert.deepEqual(response.body, { error: 'Forbidden' })
  }
  const local = createClient(`http://127.0.0.1:${port}`)
  assert.equal((await local.get('/metrics')).status, 200)
  const proxied = await local.request('GET', '/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } })
  assert.equal(proxied.status, 403, 'a proxy on this machine forwards requests from anywhere')
})

test('with a token configured, metrics require it', async (t) => {
  const api = await startApi(t, { env: { METRICS_TOKEN: 'read-the-figures' } })
  const missing = await api.get('/metrics')
  assert.equal(missing.status, 401)
  assert.deepEqual(missing.body, { error: 'Missing access token' })
  assert.equal(missing.headers.get('www-authenticate'), 'Bearer')
  for (const other of ['something-else', 'read-the-figured', 'Read-the-figures', 'read-the-figures-']) {
    const wrong = await api.get('/metrics', other)
    assert.deepEqual([wrong.status, wrong.body], [401, { error: 'Invalid access token' }])
    assert.equal(wrong.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
  }
  assert.equal((await api.get('/metrics', 'read-the-figures')).status, 200)
})

for (const NODE_ENV of ['production', 'staging']) {
  test(`in ${NODE_ENV} there are no metrics without a token, not even for this machine`, async (t) => {
    const api = await startApi(t, { env: { NODE_ENV } })
    const { status, body } = await api.get('/metrics')
    assert.deepEqual([status, body], [404, { error: 'Not found' }])
    assert.equal((await api.request('POST', '/metrics')).status, 404)
    assert.equal((await api.get('/openapi.json')).body.paths['/metrics'], undefined)
  })
}

test('in production there are metrics with a token', async (t) => {
  const api = await startApi(t, { env: { NODE_ENV: 'production', METRICS_TOKEN: 'read-the-figures' } })
  assert.equal((await api.get('/metrics')).status, 401)
  assert.equal((await api.get('/metrics', 'read-the-figures')).status, 200)
})

test("a load balancer's health check succeeds: HTTP/1.0, without a host, with OPTIONS or GET", async () => {
  const api = await shared.sqlite()
  const checks = ['OPTIONS / HTTP/1.0', 'OPTIONS /health/ready HTTP/1.0', 'GET /health/ready HTTP/1.0']
  for (const check of [...checks, 'OPTIONS /health/live HTTP/1.0']) {
    const { status, body } = await sendRaw(api.url, `${check}\r\n\r\n`)
    assert.deepEqual([status, body], [200, '{"status":"ok"}'], check)
  }
  const failing = await withoutDatabase.sqlite()
  for (const check of checks) assert.equal((await sendRaw(failing.url, `${check}\r\n\r\n`)).status, 503, check)
})

if (engines.includes('postgres')) {
  const withRedis = share(async (owner) => {
    const proxy = await startProxy(owner, testServer('TEST_REDIS_URL'))
    // Each thread has connections of its own, and speaks for itself.
    const api = await startApi(owner, { env: { REDIS_URL: proxy.url }, threads: 1 })
    return { api, proxy }
  })
  const onPostgres = share(async (owner) => {
    const databaseUrl = await createDatabaseUrl(owner, 'postgres', { isMigrated: true })
    const proxy = await startProxy(owner, databaseUrl)
    const api = await startApi(owner, { env: { DATABASE_URL: proxy.url } })
    return { api, proxy, databaseUrl }
  })

  test('with Redis configured, ready asks it too', async () => {
    const { api } = await withRedis()
    assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' })
  })

  test('a node that receives nothing from the others is ready, but degraded until it does again', async () => {
    const { api, proxy } = await withRedis()
    proxy.refuse()
    proxy.latest().end()
    await eventually(async () => {
      const { status, body } = await api.get('/health/ready')
      assert.deepEqual([status, body], [200, { status: 'ok', degraded: ['redis'] }])
    })
    proxy.admit()
    await eventually(async () => assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' }))
  })

  test('a node whose PostgreSQL has a full disk is not ready until there is space', async () => {
    const { api, databaseUrl } = await onPostgres()
    const author = await signIn(api)
    assert.equal((await api.get('/health/ready')).status, 200)
    await runOnServer(databaseUrl, fillDisk)
    assert.equal((await api.post(productsPath, lamp, author.access)).status, 503)
    await eventually(async () => assert.equal((await api.get('/health/ready')).status, 503))
    await eventually(() => assert.ok(api.log.some((line) => line.includes('not ready') && line.includes('53100'))))
    assert.equal((await api.get('/me', author.access)).status, 200, 'reads are served')
    assert.match((await api.get('/metrics')).body, /^database_write_failures_total\{cause="full"\} [1-9]/m)
    await runOnServer(databaseUrl, 'DROP EVENT TRIGGER no_room; DROP TRIGGER no_room ON products')
    await eventually(async () => assert.equal((await api.get('/health/ready')).status, 200))
    assert.equal((await api.post(productsPath, lamp, author.access)).status, 201)
    const left = `SELECT 1 FROM pg_class WHERE relname LIKE 'latchkey%'`
    await assert.rejects(
      runOnServer(databaseUrl, `DO $$ BEGIN IF NOT EXISTS (${left}) THEN RAISE 'none'; END IF; END $$`),
    )
  })

  test('without Redis, a node that receives no notifications of PostgreSQL is ready, but degraded until it does', async () => {
    const { api, proxy } = await onPostgres()
    assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' })
    // Each thread has its own.
    const listening = proxy.open().filter((connection) => connection.sent().includes('LISTEN'))
    proxy.refuse()
    for (const connection of listening) connection.end()
    await eventually(async () => {
      const { status, body } = await api.get('/health/ready')
      assert.deepEqual([status, body], [200, { status: 'ok', degraded: ['notifications'] }])
    })
    proxy.admit()
    await eventually(async () => assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' }))
  })
}
