/** PostgreSQL is frozen (connections stay open, no responses) or read-only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runOnServer } from '../../src/testing/databases.ts'
import { type Api, startApi } from '../support/api.ts'
import { createDatabaseUrl, engines, testServer } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { logIn, signIn } from '../support/people.ts'
import { startPrivatePostgres } from '../support/private-servers.ts'
import { lamp, productsPath } from '../support/products.ts'
import { startProxy } from '../support/proxy.ts'
import { testInFull } from '../support/test-in-full.ts'

const poolSize = 3
/** Five seconds are promised; the rest allows for a busy machine. It used to be 36 seconds. */
const maxMs = 30_000

/** More than there are connections: some have to wait. */
async function askAll(api: Api, user: { email: string; access: string }) {
  const startedAt = performance.now()
  const responses = await Promise.all([
    api.get('/me', user.access),
    api.get(productsPath),
    api.get(`${productsPath}?q=lamp`),
    api.get(`${productsPath}/1`),
    api.post(productsPath, lamp, user.access),
    api.post('/api/posts', { title: 'A', body: 'B' }, user.access),
    logIn(api, user.email),
    api.post('/api/auth/register', { email: 'new@example.com', password: 'Correct-Horse-1' }),
  ])
  return { responses, tookMs: performance.now() - startedAt }
}

async function assertHeldBriefly(api: Api, user: { email: string; access: string }): Promise<void> {
  const { responses, tookMs } = await askAll(api, user)
  for (const { status, headers, body } of responses) {
    assert.deepEqual([status, body], [503, { error: 'Service unavailable' }])
    assert.ok(headers.get('retry-after'))
  }
  assert.ok(tookMs < maxMs, `${tookMs} ms`)
  assert.equal((await api.get('/health/live')).status, 200)
  assert.equal((await api.get('/health/ready')).status, 503)
}

if (engines.includes('postgres')) {
  test('with PostgreSQL frozen, requests wait some seconds and get 503; it recovers without leaking connections', async (t) => {
    const server = await startPrivatePostgres(t)
    const api = await startApi(t, { env: { DATABASE_URL: server.url, DATABASE_POOL_SIZE: String(poolSize) } })
    const user = await signIn(api)
    await api.post(productsPath, lamp, user.access)
    for (let round = 0; round < 2; round++) {
      server.freeze()
      await assertHeldBriefly(api, user)
      server.thaw()
      await eventually(async () => {
        assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' })
        const { responses } = await askAll(api, user)
        assert.ok(responses.every(({ status }) => status < 300 || status === 409))
      })
    }
    await eventually(async () => {
      const { connections } = await countConnections(server.url)
      assert.ok(connections <= poolSize, `${connections} connections`)
    })
    assert.match((await api.get('/metrics')).body, /^dependency_up\{dependency="notifications"\} 1$/m)
  })

  testInFull('if all connections go silent and no new one can be opened, they are dropped as quickly', async (t) => {
    const proxy = await startProxy(t, await createDatabaseUrl(t, 'postgres', { isMigrated: true }))
    const api = await startApi(t, { env: { DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: String(poolSize) } })
    const user = await signIn(api)
    proxy.refuse()
    for (const connection of proxy.open()) connection.silence()
    await assertHeldBriefly(api, user)
    proxy.admit()
    await eventually(async () => assert.equal((await api.get('/me', user.access)).status, 200))
  })

  test('a read-only database makes the service not ready until it accepts writes again', async (t) => {
    const url = await createDatabaseUrl(t, 'postgres', { isMigrated: true })
    const api = await startApi(t, { env: { DATABASE_URL: url } })
    const user = await signIn(api)
    assert.equal((await api.get('/health/ready')).status, 200)
    const name = new URL(url).pathname.slice(1)
    const server = testServer('TEST_DATABASE_URL')
    const renew = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`
    await runOnServer(server, `ALTER DATABASE ${name} SET default_transaction_read_only = on; ${renew}`)
    await eventually(async () => assert.equal((await api.get('/health/ready')).status, 503))
    assert.equal((await api.get('/me', user.access)).status, 200, 'reads are served')
    const refused = await api.post(productsPath, lamp, user.access)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
    const { body: metrics } = await api.get('/metrics')
    assert.match(metrics, /^dependency_up\{dependency="database"\} 0$/m)
    assert.match(metrics, /^database_write_failures_total\{cause="read_only"\} [1-9]/m)

    await runOnServer(server, `ALTER DATABASE ${name} RESET default_transaction_read_only; ${renew}`)
    await eventually(async () => assert.equal((await api.get('/health/ready')).status, 200))
    assert.equal((await api.post(productsPath, lamp, user.access)).status, 201)
  })
}

async function countConnections(url: string): Promise<{ connections: number }> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(
      `SELECT count(*)::int AS connections FROM pg_stat_activity WHERE application_name = 'latchkey'`,
    )
    return rows[0]
  } finally {
    await client.end()
  }
}
