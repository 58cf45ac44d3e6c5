/** What becomes of cursors: retention, backup, restore and move. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/core/clock.ts'
import { move } from '../../src/platform/archive/transfer.ts'
import { startRetention } from '../../src/platform/changes/retention.ts'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { type Api, startApi } from '../support/api.ts'
import { placeOf, restoreInto, writeArchiveOf } from '../support/archives.ts'
import { readChanges, told } from '../support/changes.ts'
import { createDatabaseUrl, engines, onAnyEngine, onEachEngine } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { createProduct } from '../support/products.ts'

const log = createLogger({ level: 'silent', isTerminal: false })

onEachEngine('what is kept of the change log', (engine) => {
  test('old entries are removed; a cursor that has missed some has expired, any other goes on', async (t) => {
    const { api, db } = await startWithDatabase(t, engine)
    const { access } = await signIn(api)
    const fresh = (await readChanges(api)).body.meta.cursor
    for (const name of ['One', 'Two']) await createProduct(api, access, { name })
    const [one, two] = (await readChanges(api, { after: 0 })).body.data.map(({ cursor }) => cursor)
    const retention = startRetention({ db, clock: api.clock, log, days: 30, cursors: { pending: undefined } })
    t.after(() => retention.close())
    assert.equal(await retention.run(), 0)

    api.clock.advance(31 * 86_400)
    const { access: later } = await signIn(api)
    await createProduct(api, later, { name: 'Three' })
    // The beginning and the first one. The newest old entry of each topic stays.
    assert.equal(await retention.run(), 2)
    for (const after of [fresh, one]) assert.equal((await readChanges(api, { after: after ?? '' })).status, 410)
    const kept = await readChanges(api, { after: two ?? '' })
    assert.deepEqual(told(kept.body.data), ['created Three'], 'whoever has read the last old one has missed nothing')
    assert.deepEqual(told((await readChanges(api, { after: 0 })).body.data), ['created Two', 'created Three'])

    api.clock.advance(31 * 86_400)
    // The second one and the first registration.
    assert.equal(await retention.run(), 2)
    const { cursor } = kept.body.meta
    const idle = await readChanges(api, { after: cursor })
    assert.deepEqual([idle.status, idle.body.data], [200, []], 'a log in which nothing happens goes on')
    const forever = startRetention({ db, clock: api.clock, log, days: 0, cursors: { pending: undefined } })
    t.after(() => forever.close())
    assert.equal(await forever.run(), 0)
  })

  test('a long log is removed in batches', async (t) => {
    const { api, db } = await startWithDatabase(t, engine)
    const at = new Date(api.clock.now() - 40 * 86_400_000).toISOString()
    const rows = Array.from({ length: 1200 }, () => `('other', 'other', $1, '{}')`)
    await db.write({ sql: `INSERT INTO changes (topic, type, at, data) VALUES ${rows.join()}`, params: [at] })
    const retention = startRetention({ db, clock: api.clock, log, days: 30, cursors: { pending: undefined } })
    t.after(() => retention.close())
    assert.equal(await retention.run(), 1200)
    assert.deepEqual(await db.get('SELECT count(*) AS n FROM changes'), { n: 1 })
    assert.deepEqual((await readChanges(api, { after: 0 })).body.data, [])
  })
})

// From SQLite it is moved to PostgreSQL and restored to SQLite, so each engine gives numbers after those that it was given.
onAnyEngine('what is kept of the change log', (engine) => {
  test('cursors go on after a move to the other engine, and after restoring a backup unless it is older', async (t) => {
    const api = await startApi(t, { engine })
    const { access } = await signIn(api)
    await createProduct(api, access, { name: 'One' })
    const before = (await readChanges(api)).body.meta.cursor
    await createProduct(api, access, { name: 'Two' })
    const latest = (await readChanges(api)).body.meta.cursor
    const archive = await writeArchiveOf(t, placeOf(api.databaseUrl))
    await createProduct(api, access, { name: 'Lost by the restore' })
    const lost = (await readChanges(api)).body.meta.cursor
    await api.app.close()

    const other = engines.find((each) => each !== engine) ?? engine
    const moved = await createDatabaseUrl(t, other)
    const options = { to: placeOf(moved), canReplace: false, clock: systemClock }
    await move(placeOf(api.databaseUrl), options)
    const afterMove = await startApi(t, { engine: other, env: { DATABASE_URL: moved } })
    assert.deepEqual(await namesAfter(afterMove, before), ['created Two', 'created Lost by the restore'])
    await createAnother(afterMove)
    assert.deepEqual(await namesAfter(afterMove, lost), ['created Another'])

    const restored = await createDatabaseUrl(t, engine)
    await restoreInto(placeOf(restored), archive)
    const afterRestore = await startApi(t, { engine, env: { DATABASE_URL: restored } })
    assert.deepEqual(await namesAfter(afterRestore, before), ['created Two'])
    assert.equal((await readChanges(afterRestore, { after: lost })).status, 410)
    await createAnother(afterRestore)
    await createAnother(afterRestore)
    // It must not come to name an entry that has nothing to do with the one that it named.
    assert.equal((await readChanges(afterRestore, { after: lost })).status, 410)
    assert.deepEqual(await namesAfter(afterRestore, latest), ['created Another', 'created Another'])
  })
})

async function startWithDatabase(t: TestContext, engine: Dialect): Promise<{ api: Api; db: Database }> {
  const opened: Database[] = []
  const api = await startApi(t, { engine, extend: (_app, parts) => void opened.push(parts.db) })
  return { api, db: opened[0] as Database }
}

const namesAfter = async (api: Api, after: string) => told((await readChanges(api, { after })).body.data)

async function createAnother(api: Api): Promise<void> {
  await createProduct(api, (await signIn(api)).access, { name: 'Another' })
}
