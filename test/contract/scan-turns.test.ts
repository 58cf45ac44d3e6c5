/** Scans take turns between clients, and end with the client they are for. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type CurrentClient, runForClient } from '../../src/core/current-client.ts'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { createDatabaseUrl, engines, onEachEngine, testServer } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { open } from '../support/owners-schema.ts'
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts'

const endless: Record<Dialect, string> = {
  sqlite: 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n',
  postgres: 'SELECT pg_sleep(600), 1 AS i',
}
const running =
  "SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND state = 'active' AND pid <> pg_backend_pid()"

const goneError = { status: 499, code: 'client_closed' }

function createClient(key: string) {
  const listeners = new Set<() => void>()
  let isGone = false
  const client: CurrentClient = {
    key,
    isGone: () => isGone,
    onGone(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return {
    run: <T>(work: () => T) => runForClient(() => client, work),
    disconnect() {
      isGone = true
      for (const listener of [...listeners]) listener()
    },
    listeners: () => listeners.size,
  }
}

async function fillSlots(
  db: Database,
  engine: Dialect,
  scanning: { run<T>(work: () => T): T },
): Promise<Promise<void>[]> {
  const scans = Array.from({ length: 12 }, () =>
    scanning.run(() => assert.rejects(db.scan(endless[engine]), goneError)),
  )
  await eventually(async () => assert.ok((db.load().waiting.scan ?? db.load().waiting.scanner ?? 0) > 0))
  return scans
}

function contract(engine: Dialect, openDatabase: typeof open): void {
  test('a scan of a client that disconnects is interrupted, those that wait are dropped, and others are served', async (t) => {
    const db = await openDatabase(t, engine)
    const flood = createClient('flood')
    const scans = await fillSlots(db, engine, flood)
    const other = createClient('other').run(() => db.scan<{ one: number }>('SELECT 1 AS one'))
    flood.disconnect()
    await Promise.all(scans)
    assert.deepEqual(await other, [{ one: 1 }])
    assert.equal(flood.listeners(), 0)
    if (engine === 'postgres') {
      await eventually(async () => assert.deepEqual(await db.get(running), { n: 0 }))
    }
    await assert.rejects(
      flood.run(() => db.scan('SELECT 1 AS one')),
      goneError,
    )
    // Whatever was cancelled late, no later statement is.
    for (let i = 0; i < 20; i++) assert.equal((await db.scan('SELECT 1 AS one')).length, 1)
  })

  test('one client that scans for long lets others take turns', async (t) => {
    const db = await openDatabase(t, engine)
    const order: string[] = []
    const scan = (client: ReturnType<typeof createClient>, name: string) =>
      client.run(async () => {
        await db.scan('SELECT 1 AS one')
        order.push(name)
      })
    const flood = createClient('flood')
    const all = Array.from({ length: 100 }, () => scan(flood, 'flood'))
    all.push(scan(createClient('other'), 'other'))
    await Promise.all(all)
    assert.ok(order.indexOf('other') < 50, `${order.indexOf('other')} of the flood came first`)
  })
}

onEachEngine('the database', (engine) => contract(engine, open))

if (engines.includes('postgres')) {
  describe('the database, on postgres behind a pooler that shares connections between transactions', () => {
    let pooler: PgBouncer
    let stop = () => {}
    before(async () => {
      const whenDone = (work: () => void) => {
        stop = work
      }
      pooler = await startPgBouncer({ after: whenDone }, testServer('TEST_DATABASE_URL'), 'transaction')
    })
    after(() => stop())
    contract('postgres', async (t, engine, options = {}) => {
      const url = new URL(pooler.url)
      url.pathname = new URL(await createDatabaseUrl(t, engine)).pathname
      return open(t, engine, { ...options, url: url.href })
    })
  })
}
