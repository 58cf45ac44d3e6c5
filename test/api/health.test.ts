import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { createClient, startApi } from '../support/api.ts'
import { engines, onEachEngine, testServer } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startProxy } from '../support/proxy.ts'

onEachEngine('health', (engine) => {
  test('a running service is alive and ready', async (t) => {
    const api = await startApi(t, { engine })
    assert.deepEqual((await api.get('/health/live')).body, { status: 'ok' })
    const ready = await api.get('/health/ready')
    assert.equal(ready.status, 200)
    assert.deepEqual(ready.body, { status: 'ok' })
  })

  test('a service whose database is gone is alive but not ready, and says so as 503', async (t) => {
    const api = await startApi(t, {
      engine,
      extend: (_app, { db }) => {
        closeDatabase = () => db.close()
      },
    })
    await closeDatabase()
    const ready = await api.get('/health/ready')
    assert.equal(ready.status, 503)
    assert.deepEqual(ready.body, { error: 'Service unavailable' })
    assert.ok(ready.headers.get('retry-after'))
    assert.equal((await api.get('/health/live')).status, 200)
  })
})
let closeDatabase = async () => {}

test('metrics tell requests by route and status, the event loop, the database and the process', async (t) => {
  const api = await startApi(t)
  await api.get('/health/ready')
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

test('without a token, metrics answer this machine alone', async (t) => {
  const api = await startApi(t, { env: { HOST: '0.0.0.0' } })
  const { port } = new URL(api.url)
  const outward = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)
  if (outward) {
    const answer = await createClient(`http://${outward.address}:${port}`).get('/metrics')
    assert.equal(answer.status, 403)
    assert.deepEqual(answer.body, { error: 'Forbidden' })
  }
  const local = createClient(`http://127.0.0.1:${port}`)
  assert.equal((await local.get('/metrics')).status, 200)
  const proxied = await local.request('GET', '/metrics', { headers: { 'x-forwarded-for': '127.0.0.1' } })
  assert.equal(proxied.status, 403, 'a proxy on this machine forwards requests from anywhere')
})

test('with a token, metrics answer whoever bears it and nobody else', async (t) => {
  const api = await startApi(t, { env: { METRICS_TOKEN: 'read-the-figures' } })
  const missing = await api.get('/metrics')
  assert.equal(missing.status, 401)
  assert.deepEqual(missing.body, { error: 'Missing access token' })
  assert.equal(missing.headers.get('www-authenticate'), 'Bearer')
  const wrong = await api.get('/metrics', 'something-else')
  assert.deepEqual([wrong.status, wrong.body], [401, { error: 'Invalid access token' }])
  assert.equal((await api.get('/metrics', 'read-the-figures')).status, 200)
})

if (engines.includes('postgres')) {
  test('with Redis configured, ready asks it too', async (t) => {
    const api = await startApi(t, { env: { REDIS_URL: testServer('TEST_REDIS_URL') } })
    assert.equal((await api.get('/health/ready')).status, 200)
  })

  test('a node that hears nothing of the others is not ready until it does again', async (t) => {
    const server = testServer('TEST_REDIS_URL')
    const proxy = await startProxy(t, server)
    const api = await startApi(t, { env: { REDIS_URL: proxy.url } })
    proxy.refuse()
    proxy.latest().end()
    await eventually(async () => assert.equal((await api.get('/health/ready')).status, 503))
    assert.match(api.log.join(''), /"check":"access bus"/)
    proxy.admit()
    await eventually(async () => assert.equal((await api.get('/health/ready')).status, 200))
  })
}
