/** Threads that share a pool of connections to PostgreSQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { connectionsPerThread } from '../../src/app/threads/count.ts'
import { startApi } from '../support/api.ts'
import { engines } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/own-connection.ts'
import { productsPath } from '../support/products.ts'

test('a pool is divided; by default each thread has a connection for long reads and one for everything else', () => {
  for (const [poolSize, threads, each] of [
    [1, 1, 1],
    [10, 4, 2],
    [10, 64, 1],
    [200, 64, 3],
    [undefined, 1, 10],
    [undefined, 2, 5],
    [undefined, 8, 2],
    [undefined, 64, 2],
  ] as const) {
    assert.equal(connectionsPerThread(poolSize, threads), each, `${poolSize} among ${threads}`)
  }
})

if (engines.includes('postgres')) {
  test('a pool with less than two connections for each thread is warned of', async (t) => {
    const api = await startApi(t, { engine: 'postgres', threads: 2, env: { DATABASE_POOL_SIZE: '3' } })
    await eventually(() => assert.match(api.log.join(''), /"wanted":4,.*database\.pool_size is less than two/))
  })

  test('searches that wait for a lock leave every thread a connection, with two for each', async (t) => {
    const api = await startApi(t, { engine: 'postgres', threads: 2, env: { DATABASE_POOL_SIZE: '4' } })
    const client = new pg.Client({ connectionString: api.databaseUrl })
    // Its database is dropped before it, if the test fails.
    client.on('error', () => {})
    await client.connect()
    await client.query('BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE')
    const searches = Array.from({ length: 16 }, (_, i) => send(`${api.url}${productsPath}?q=lamp${i}`))
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    await eventually(async () => {
      // Within a transaction, the first look at the activity is kept for all later ones.
      await client.query('SELECT pg_stat_clear_snapshot()')
      assert.equal((await client.query(waiting)).rows[0].n, 2)
    })
    for (let i = 0; i < 8; i++) assert.equal((await send(`${api.url}/health/ready`)).status, 200)
    await client.query('ROLLBACK')
    await client.end()
    for (const { status } of await Promise.all(searches)) assert.equal(status, 200)
  })
}
