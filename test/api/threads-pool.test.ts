/** Threads that share a pool of connections to PostgreSQL. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import pg from 'pg'
import { connectionsPerThread } from '../../src/app/threads/count.ts'
import { startApi } from '../support/api.ts'
import { engines } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { productsPath } from '../support/products.ts'

/** On a connection of its own, which the kernel gives to either thread. */
async function statusOf(url: string): Promise<number | undefined> {
  const [response] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('the pool is divided, but each thread has a connection for long reads and one for everything else', () => {
  for (const [poolSize, threads, each] of [
    [1, 1, 1],
    [10, 1, 10],
    [10, 4, 2],
    [10, 2, 5],
    [10, 64, 2],
    [200, 64, 3],
  ] as const) {
    assert.equal(connectionsPerThread(poolSize, threads), each, `${poolSize} among ${threads}`)
  }
})

if (engines.includes('postgres')) {
  test('searches that wait for a lock leave every thread a connection, however small the pool', async (t) => {
    const api = await startApi(t, { engine: 'postgres', threads: 2, env: { DATABASE_POOL_SIZE: '2' } })
    await eventually(() => assert.match(api.log.join(''), /"connections":4,.*database\.pool_size is too small/))
    const client = new pg.Client({ connectionString: api.databaseUrl })
    // Its database is dropped before it, if the test fails.
    client.on('error', () => {})
    await client.connect()
    await client.query('BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE')
    const searches = Array.from({ length: 16 }, (_, i) => statusOf(`${api.url}${productsPath}?q=lamp${i}`))
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    await eventually(async () => assert.equal((await client.query(waiting)).rows[0].n, 2))
    for (let i = 0; i < 8; i++) assert.equal(await statusOf(`${api.url}/health/ready`), 200)
    await client.query('ROLLBACK')
    await client.end()
    assert.deepEqual(new Set(await Promise.all(searches)), new Set([200]))
  })
}
