/** The audit trail of an earlier version, which stored the actor in the outcome. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createAuditTrailStore } from '../../src/features/admin/audit-trail.store.ts'
import { startActorBackfill } from '../../src/platform/audit/actor-backfill.ts'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { createMaintainedCounts } from '../../src/platform/database/maintained-counts.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { migrationsBefore, openOptions, ownMigrations } from '../support/migrations.ts'

type Entry = readonly [event: string, outcome: string, userId: number | null, actorId: number | null]

const former: readonly Entry[] = [
  ['roles_changed', 'success, by user 12', 7, null],
  ['unlock', 'success, by the command line', 7, null],
  ['login', 'success', 7, null],
  ['login', 'failure', 7, null],
  ['lock', 'success', 7, null],
  ['login', 'locked', null, null],
]
const ofToday: readonly Entry[] = [
  ['roles_changed', 'success', 7, 12],
  ['unlock', 'success', 7, null],
  ['login', 'success', 7, 7],
  ['login', 'failure', 7, null],
  ['lock', 'success', 7, null],
  ['login', 'locked', null, null],
]
const rounds = 200

const insert = ([event, outcome, userId]: Entry) => ({
  sql: `INSERT INTO audit (at, event, outcome, user_id, address, user_agent) VALUES ($1, $2, $3, $4, 'a', 'b')`,
  params: ['2026-01-01T00:00:00.000Z', event, outcome, userId],
})

/** A current database with an audit trail of the earlier version, several batches long. */
async function migrate(t: TestContext, engine: Dialect): Promise<Database> {
  const url = await createDatabaseUrl(t, engine)
  const before = await openDatabase(openOptions({ url, migrations: migrationsBefore(t, '0007') }))
  await before.db.write(...repeated(former).map(insert))
  await before.db.close()
  const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
  t.after(() => db.close())
  return db
}

const repeated = (entries: readonly Entry[]) => Array.from({ length: rounds }, () => entries).flat()

function recordLog() {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  return { lines, log: createLogger({ level: 'info', isTerminal: false, destination }) }
}

type Stored = { event: string; outcome: string; user_id: number | null; actor_id: number | null }
const toEntry = ({ event, outcome, user_id, actor_id }: Stored): Entry => [event, outcome, user_id, actor_id]

async function stored(db: Database): Promise<Entry[]> {
  return (await db.all<Stored>('SELECT event, outcome, user_id, actor_id FROM audit ORDER BY id')).map(toEntry)
}

/** As the API returns it, oldest first. */
async function shown(db: Database): Promise<Entry[]> {
  const store = createAuditTrailStore({ db, counts: createMaintainedCounts(db) })
  const { rows } = await store.list({ page: 1, perPage: 5000 })
  return rows.map(toEntry).reverse()
}

async function isDone(db: Database): Promise<void> {
  await eventually(async () => assert.deepEqual(await db.all('SELECT name FROM backfills'), []))
}

onEachEngine('an audit trail from before', (engine) => {
  test('is not rewritten by the migration, and is shown in the current format from the start', async (t) => {
    const db = await migrate(t, engine)
    assert.deepEqual(await stored(db), repeated(former))
    assert.deepEqual(await shown(db), repeated(ofToday))
  })

  test('is converted in the background, once, and current entries stay unchanged', async (t) => {
    const db = await migrate(t, engine)
    // No actor: the user did not cause this entry.
    await db.write(insert(['login', 'success', 7, null]))
    const { lines, log } = recordLog()
    // Two nodes at once.
    const nodes = [1, 2].map(() => startActorBackfill({ db, log }))
    await isDone(db)
    await eventually(() => assert.ok(lines.some((line) => line.includes('the audit trail is up to date'))))
    for (const node of nodes) await node.close()
    const all = [...repeated(ofToday), ['login', 'success', 7, null]]
    assert.deepEqual(await stored(db), all)
    assert.deepEqual(await shown(db), all)
  })

  test('is converted from where a crash left off', async (t) => {
    const db = await migrate(t, engine)
    const { lines, log } = recordLog()
    let writes = 0
    const crashing: Database = {
      ...db,
      write: (async (...statements: Parameters<Database['write']>) => {
        writes += 1
        if (writes === 2) throw new Error('crashed')
        return db.write(...statements)
        // The interface's overloads only sharpen the type of the rows.
      }) as Database['write'],
    }
    const first = startActorBackfill({ db: crashing, log })
    await eventually(() => assert.ok(lines.some((line) => line.includes('crashed'))))
    await first.close()
    const halfway = await stored(db)
    assert.deepEqual(halfway.slice(0, 6), ofToday)
    assert.deepEqual(halfway.slice(-6), former)
    assert.deepEqual(await shown(db), repeated(ofToday))

    const second = startActorBackfill({ db, log })
    await isDone(db)
    await second.close()
    assert.deepEqual(await stored(db), repeated(ofToday))
  })

  test('that is empty leaves nothing to do', async (t) => {
    const url = await createDatabaseUrl(t, engine)
    const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
    t.after(() => db.close())
    assert.deepEqual(await db.all('SELECT name FROM backfills'), [])
  })
})
