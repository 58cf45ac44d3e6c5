/** SQL texts that are not constant: answered like others, and limited in what they leave behind. */
import assert from 'node:assert/strict'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { connectionOf, insertOwner, open, ownersIn } from '../support/owners-schema.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { isFull } from '../support/tiers.ts'

/** Two generations of 500, and what one batch evicts before it ends. */
const maxKept = 1010

/** Every text is another one. */
const listing = (from: number, length: number) =>
  `SELECT name, ${from} AS variant FROM owners WHERE id IN (${Array.from({ length }, (_, i) => `$${i + 1}`).join(', ')})`

/** Thousands of texts, by every way to send them, and one constant text among them. */
async function sendMany(db: Database): Promise<void> {
  const first = [{ name: 'first' }]
  for (let i = 0; i < 2600; i += 4) {
    const ids = Array.from({ length: 1 + (i % 50) }, (_, n) => n + 1)
    const variants = [i, i + 1, i + 2, i + 3] as const
    const [one, all, batch, lone] = await Promise.all([
      db.get(listing(variants[0], ids.length), ids),
      db.all(listing(variants[1], ids.length), ids),
      db.write({ sql: listing(variants[2], ids.length), params: ids }, { sql: 'SELECT name FROM owners WHERE id = 1' }),
      db.write({ sql: listing(variants[3], ids.length), params: ids }),
    ])
    assert.deepEqual(one, { name: 'first', variant: variants[0] })
    assert.deepEqual(all, [{ name: 'first', variant: variants[1] }])
    assert.deepEqual(batch, [[{ name: 'first', variant: variants[2] }], first])
    assert.deepEqual(lone, [[{ name: 'first', variant: variants[3] }]])
  }
  for (let i = 0; i < 300; i++) assert.deepEqual(await db.scan(`SELECT ${i} AS variant`), [{ variant: i }])
  await assert.rejects(db.write({ sql: insertOwner, params: ['first'] }))
  await db.write({ sql: insertOwner, params: ['second'] })
  assert.equal(await ownersIn(db), 2)
}

async function countNamed(db: Database): Promise<number> {
  // Closing is sent along with the next statement.
  await db.all('SELECT 1 AS one')
  const named = await db.get<{ n: number }>('SELECT count(*) AS n FROM pg_prepared_statements')
  return named?.n ?? -1
}

onEachEngine('thousands of SQL texts', (engine: Dialect) => {
  test('are answered, and leave a bounded number of prepared statements', async (t) => {
    const prepared = t.mock.method(DatabaseSync.prototype, 'prepare')
    const closed = t.mock.method(StatementSync.prototype as StatementSync & { close(): void }, 'close')
    const db = await open(t, engine, { poolSize: 1 })
    const connection = engine === 'postgres' && (await connectionOf(db))
    await sendMany(db)
    if (engine === 'postgres') {
      assert.equal(await connectionOf(db), connection)
      const named = await countNamed(db)
      assert.ok(named > 100 && named <= maxKept, `${named} are named`)
      return
    }
    // On the event loop; the threads use the same connections.
    const kept = prepared.mock.callCount() - closed.mock.callCount()
    assert.ok(prepared.mock.callCount() >= 1300 && kept <= maxKept, `${kept} are kept`)
  })

  test('do not displace a constant one that is in use', async (t) => {
    const db = await open(t, engine, { poolSize: 1 })
    const constant = 'SELECT name FROM owners WHERE id = $1'
    const prepared = t.mock.method(DatabaseSync.prototype, 'prepare')
    const times: unknown[] = []
    for (let i = 0; i < 1200; i++) {
      await db.all(listing(i, 2), [1, 2])
      assert.deepEqual(await db.all(constant, [1]), [{ name: 'first' }])
      if (engine === 'postgres' && i % 500 === 0) {
        const when = 'SELECT CAST(prepare_time AS TEXT) AS at FROM pg_prepared_statements WHERE statement = $1'
        times.push((await db.get<{ at: string }>(when, [constant]))?.at)
      }
    }
    if (engine === 'postgres') assert.equal(new Set(times).size, 1)
    else assert.equal(prepared.mock.calls.filter(({ arguments: [sql] }) => sql?.endsWith('WHERE id = ?1')).length, 1)
  })
})

if (isFull) {
  describe('thousands of SQL texts, behind a pooler', () => {
    async function openBehind(t: TestContext, mode: 'session' | 'transaction') {
      const direct = await createDatabaseUrl(t, 'postgres')
      const { url } = await startPgBouncer(t, direct, mode, { default_pool_size: 3 })
      return open(t, 'postgres', { url, poolSize: 1 })
    }

    test('are answered, and leave a bounded number of named statements with session pooling', async (t) => {
      const db = await openBehind(t, 'session')
      await sendMany(db)
      assert.equal(db.isTransactionPooled?.(), false)
      const named = await countNamed(db)
      assert.ok(named > 100 && named <= maxKept, `${named} are named`)
    })

    test('are answered, and leave no named statements with transaction pooling', async (t) => {
      const db = await openBehind(t, 'transaction')
      await sendMany(db)
      assert.equal(db.isTransactionPooled?.(), true)
      assert.equal(await countNamed(db), 0)
    })
  })
}
