import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createClock } from '../../src/core/clock.ts'
import { createDeadLetters } from '../../src/features/dead-letters/dead-letters.service.ts'
import {
  createDeadLetterStore,
  type DeadLetterStore,
  failureOf,
} from '../../src/platform/changes/dead-letters.store.ts'
import { startRedelivery } from '../../src/platform/changes/redelivery.ts'
import type { Database, Dialect, Statement } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { createDatabaseUrl, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'
import { testInFull } from '../support/test-in-full.ts'

const now = 1_770_000_000
const listener = 'search-index'
const log = createLogger({ level: 'silent', isTerminal: false })

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

onRacingEngine('dead letters', (engine) => {
  test('that fail again during a retry of all are retried once', async (t) => {
    const { db, store, failure, insert } = await open(t, engine)
    await insert('first', 'second', 'third')
    const claim = () => store.claim(listener, { now, until: now + 120 })
    let rounds = 0
    const failingAtOnce = {
      ...db,
      async write(...statements: Statement[]) {
        const result = await db.write(...statements)
        if (statements.some(({ sql }) => sql.startsWith('UPDATE dead_letters SET retry_at'))) {
          rounds += 1
          assert.ok(rounds < 10, 'it goes on without end')
          for (let due = await claim(); due; due = await claim()) await store.failAgain(due.id, failure('again'))
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
    const claimAt = (at: number) => store.claim(listener, { now: at, until: at + 120 })
    assert.equal((await claimAt(now))?.id, 1)
    await db.write(store.requestRetry(1, now))
    assert.equal(await claimAt(now), undefined)
    // The node has crashed.
    assert.equal((await claimAt(now + 120))?.id, 1)
  })

  testInFull('of a listener that a node lacks are left to others for five minutes', async (t) => {
    const { db, store, insert } = await open(t, engine)
    await insert('first')
    await db.write(store.requestRetry(1, now))
    let time = now + 299
    const looks = { count: 0 }
    const counting: DeadLetterStore = {
      ...store,
      async dueListeners(at) {
        const found = await store.dueListeners(at)
        looks.count += 1
        return found
      },
    }
    const clock = createClock(() => time * 1000)
    const running = startRedelivery({ store: counting, clock, log, handlers: new Map([['mail', async () => {}]]) })
    t.after(() => running.close())
    const letter = async () => (await store.list({ before: 100, limit: 1 }))[0]
    await eventually(() => assert.ok(looks.count >= 4))
    assert.equal((await letter())?.attempts, 1)
    time += 1
    await eventually(async () => {
      const { attempts, error } = (await letter()) ?? {}
      assert.deepEqual([attempts, error], [2, 'The listener is no longer there'])
    })
  })

  test('of one listener wait for each other, those of others do not, and a stop waits for none for long', async (t) => {
    const { db, store } = await open(t, engine)
    for (const [index, name] of ['slow', 'slow', 'fast', 'fast'].entries()) {
      const letter = { listener: name, changeId: index, type: 'x', entityId: null, entry: { index }, attempts: 1 }
      await db.write(store.insert(letter, failureOf('x', now * 1000)))
    }
    await store.requestRetries({ after: 0, upTo: 100 }, now)
    const begun: unknown[] = []
    const handlers = new Map<string, (entry: unknown) => Promise<void>>([
      [
        'slow',
        (entry) => {
          begun.push(entry)
          return new Promise(() => {})
        },
      ],
      ['fast', async (entry) => void begun.push(entry)],
    ])
    const running = startRedelivery({ store, clock: createClock(() => now * 1000), log, handlers })
    await eventually(async () => assert.equal((await store.list({ before: 100, limit: 100 })).length, 2))
    assert.deepEqual(new Set(begun), new Set([{ index: 0 }, { index: 2 }, { index: 3 }]))
    await running.close()
    assert.equal(begun.length, 3)
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
