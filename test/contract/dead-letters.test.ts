import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createClock } from '../../src/core/clock.ts'
import { createDeadLetters } from '../../src/features/dead-letters/dead-letters.service.ts'
import { createDeadLetterStore, failureOf } from '../../src/platform/changes/dead-letters.store.ts'
import type { Database, Dialect, Statement } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'

const now = 1_770_000_000
const listener = 'search-index'

async function open(t: TestContext, engine: Dialect) {
  const url = await createDatabaseUrl(t, engine)
  const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
  t.after(() => db.close())
  const store = createDeadLetterStore(db)
  const failure = (error: unknown) => failureOf(error, now * 1000)
  /** One for each error, oldest first. */
  async function insert(...errors: unknown[]): Promise<void> {
    for (const [index, error] of errors.entries()) {
      const letter = { listener, changeId: index + 1, type: 'product.created', entityId: 1, entry: {}, attempts: 1 }
      await db.write(store.insert(letter, failure(error)))
    }
  }
  return { db, store, failure, insert }
}

onEachEngine('dead letters', (engine) => {
  test('that fail again during a retry of all are retried once', async (t) => {
    const { db, store, failure, insert } = await open(t, engine)
    await insert('first', 'second', 'third')
    let rounds = 0
    const failingAtOnce = {
      ...db,
      async write(...statements: Statement[]) {
        const result = await db.write(...statements)
        if (statements.some(({ sql }) => sql.startsWith('UPDATE dead_letters SET retry_at'))) {
          rounds += 1
          assert.ok(rounds < 10, 'it goes on without end')
          for (
            let due = await store.claim(now, now + 120, [listener]);
            due;
            due = await store.claim(now, now + 120, [listener])
          ) {
            await store.failAgain(due.id, failure('again'))
          }
        }
        return result
      },
    } as Database
    const audited: unknown[] = []
    const audit = {
      count() {},
      entry({ changes }: { changes: unknown }) {
        audited.push(changes)
        return { sql: 'SELECT 1 AS one' }
      },
    }
    const clock = createClock(() => now * 1000)
    const service = createDeadLetters({ db: failingAtOnce, clock, audit } as never)
    await service.retryAll({ id: 1, client: { address: '', userAgent: '' } })
    assert.deepEqual(audited, [{ dead_letters: { from: 3, to: 3 } }])
    const attempts = (await store.list({ before: 100, limit: 100 })).map((each) => each.attempts)
    assert.deepEqual(attempts, [2, 2, 2])
  })

  test('that are being retried are not handed to another node by a second request', async (t) => {
    const { db, store, insert } = await open(t, engine)
    await insert('first')
    await db.write(store.requestRetry(1, now))
    assert.equal((await store.claim(now, now + 120, [listener]))?.id, 1)
    await db.write(store.requestRetry(1, now))
    assert.equal(await store.claim(now, now + 120, [listener]), undefined)
    // The node has crashed.
    assert.equal((await store.claim(now + 120, now + 240, [listener]))?.id, 1)
  })

  test('of a listener that a node lacks are left to others for five minutes', async (t) => {
    const { db, store, insert } = await open(t, engine)
    await insert('first')
    await db.write(store.requestRetry(1, now))
    for (const others of [[], ['mail', 'another']]) {
      assert.equal(await store.hasDue(now + 299, others), false)
      assert.equal(await store.claim(now + 299, now + 400, others), undefined)
      assert.equal(await store.hasDue(now + 300, others), true)
    }
    assert.equal((await store.claim(now + 300, now + 400, ['mail']))?.id, 1)
  })

  test('keep whatever a listener throws as text', async (t) => {
    const { store, insert } = await open(t, engine)
    await insert('plain', new Error('a\0b'), new Error(`${'x'.repeat(499)}😀`), 'lone \ud800', Object.create(null), {
      message: 'only an object',
    })
    const found = await store.list({ before: 100, limit: 100 })
    const errors = found.map(({ error }) => error).reverse()
    assert.deepEqual(errors.slice(0, 2), ['plain', 'a\ufffdb'])
    assert.equal(errors.length, 6)
    for (const error of errors) assert.ok(error.isWellFormed() && error.length <= 500, error)
  })
})
