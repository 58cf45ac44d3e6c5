/** Locks that are held, silent connections and long statements. Most of each test is waiting. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { AppError } from '../../src/core/app-error.ts'
import { createDatabaseUrl, engines } from '../support/databases.ts'
import { connectionOf, insertOwner, open } from '../support/owners-schema.ts'
import { startProxy } from '../support/proxy.ts'
import { testInFull } from '../support/test-in-full.ts'

describe('a slow database', { concurrency: true }, () => {
  test('if another process keeps the SQLite file locked, waiting writes are refused after one timeout in total', async (t) => {
    const db = await open(t, 'sqlite')
    const [{ file = '' } = {}] = await db.all<{ file: string }>('PRAGMA database_list')
    const other = new DatabaseSync(file)
    t.after(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    const writes = [1, 2, 3, 4].map((n) => db.write({ sql: insertOwner, params: [`n${n}`] }))
    // With a timeout of their own, the others would now succeed.
    await Promise.race(writes).catch(() => other.exec('ROLLBACK'))
    for (const result of await Promise.allSettled(writes)) {
      assert.equal(result.status === 'rejected' && result.reason.status, 503)
    }
    await db.write({ sql: insertOwner, params: ['after'] })
  })

  if (engines.includes('postgres')) {
    testInFull(
      'a connection that goes silent during a query gives 503, and the next query uses another one',
      async (t) => {
        const proxy = await startProxy(t, await createDatabaseUrl(t, 'postgres'))
        const db = await open(t, 'postgres', { url: proxy.url, poolSize: 1, statementTimeoutSeconds: 1 })
        const asked = await connectionOf(db)
        const [before, ...others] = proxy.open()
        assert.equal(others.length, 0)
        const unanswered = assert.rejects(
          db.write({ sql: 'SELECT pg_sleep(0.2)' }),
          (error) => error instanceof AppError && error.status === 503,
        )
        before?.silence()
        await unanswered
        assert.notEqual(await connectionOf(db), asked)
      },
    )

    test('a silent connection is dropped long before the time limit of its statement', async (t) => {
      const proxy = await startProxy(t, await createDatabaseUrl(t, 'postgres'))
      const db = await open(t, 'postgres', { url: proxy.url, poolSize: 1, statementTimeoutSeconds: 3600 })
      const asked = await connectionOf(db)
      for (const connection of proxy.open()) connection.silence()
      await assert.rejects(
        db.write({ sql: insertOwner, params: ['a'] }),
        (error) => error instanceof AppError && error.status === 503,
      )
      assert.notEqual(await connectionOf(db), asked)
    })

    test('when one connection turns out to be lost, idle ones to the same host are replaced with it', async (t) => {
      const proxy = await startProxy(t, await createDatabaseUrl(t, 'postgres'))
      const db = await open(t, 'postgres', { url: proxy.url, poolSize: 3 })
      await Promise.all([1, 2, 3].map((n) => db.all('SELECT pg_sleep(0.1), $1::int', [n])))
      const silent = proxy.open()
      assert.equal(silent.length, 3)
      for (const connection of silent) connection.silence()
      await assert.rejects(db.all('SELECT 1'), (error) => error instanceof AppError && error.status === 503)
      await Promise.all([1, 2, 3].map((n) => db.all('SELECT pg_sleep(0.1), $1::int', [n])))
    })

    test('a long statement is allowed to finish', async (t) => {
      const db = await open(t, 'postgres', { poolSize: 1 })
      assert.equal((await db.scan('SELECT pg_sleep(6)')).length, 1)
    })

    testInFull('long reads leave connections for short ones', async (t) => {
      const db = await open(t, 'postgres', { poolSize: 2 })
      const ended: string[] = []
      const long = Promise.all([1, 2].map(() => db.scan('SELECT pg_sleep(3)').then(() => ended.push('long'))))
      await db.all('SELECT 1')
      ended.push('short')
      await long
      assert.deepEqual(ended, ['short', 'long', 'long'])
    })
  }
})
