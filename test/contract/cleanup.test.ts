import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expiringTables } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { startCleanup } from '../../src/platform/database/cleanup.ts'
import { createMaintainedCounts } from '../../src/platform/database/maintained-counts.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { createMovableClock } from '../../src/testing/clock.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'

onEachEngine('clean-up', (engine) => {
  test('deletes expired rows, in batches, and nothing else', async (t) => {
    const url = await createDatabaseUrl(t, engine)
    const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
    t.after(() => db.close())
    const clock = createMovableClock()
    const log = createLogger({ level: 'silent', isTerminal: false })
    const cleanup = startCleanup({ db, clock, log, tables: [{ table: 'revoked_tokens', key: 'id' }] })
    t.after(() => cleanup.close())
    const insert = (i: number) => ({
      sql: 'INSERT INTO revoked_tokens (id, expires_at) VALUES ($1, $2)',
      params: [`t${i}`, clock.nowSeconds() + (i < 1200 ? 10 : 1000)],
    })
    await db.write(...Array.from({ length: 1300 }, (_, i) => insert(i)))
    assert.equal(await cleanup.run(), 0)
    clock.advance(11)
    assert.equal(await cleanup.run(), 1200)
    assert.deepEqual(await db.get('SELECT count(*) AS n FROM revoked_tokens'), { n: 100 })
  })

  test('deletes rows that are kept after their expiry once that time is over', async (t) => {
    const url = await createDatabaseUrl(t, engine)
    const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
    t.after(() => db.close())
    const clock = createMovableClock()
    const log = createLogger({ level: 'silent', isTerminal: false })
    const tables = [{ table: 'revoked_tokens', key: 'id', keptAfterSeconds: 86_400 }]
    const cleanup = startCleanup({ db, clock, log, tables })
    t.after(() => cleanup.close())
    await db.write({
      sql: 'INSERT INTO revoked_tokens (id, expires_at) VALUES ($1, $2)',
      params: ['t', clock.nowSeconds()],
    })
    clock.advance(82_800)
    assert.equal(await cleanup.run(), 0)
    clock.advance(3600)
    assert.equal(await cleanup.run(), 1)
  })

  test('deletes audit entries after the retention period, and none with 0 days', async (t) => {
    const url = await createDatabaseUrl(t, engine)
    const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
    t.after(() => db.close())
    const clock = createMovableClock()
    const log = createLogger({ level: 'silent', isTerminal: false })
    const insert = (days: number) => ({
      sql: `INSERT INTO audit (at, event, outcome, address, user_agent) VALUES ($1, 'login', 'failure', '', $2)`,
      params: [new Date(clock.now() - days * 86_400_000 - 60_000).toISOString(), String(days)],
    })
    // Not in the order of their times, and more than one batch of them.
    await db.write(insert(20), insert(364), ...Array.from({ length: 700 }, () => insert(365)), insert(0), insert(5000))
    for (const [retentionDays, removed, left] of [
      [0, 0, ['0', '20', '364', '365', '5000']],
      [365, 701, ['0', '20', '364']],
      [30, 1, ['0', '20']],
    ] as const) {
      const cleanup = startCleanup({
        db,
        clock,
        log,
        tables: expiringTables(ownFeatures, { audit: { retentionDays } }),
      })
      assert.equal(await cleanup.run(), removed, `${retentionDays} days`)
      const rows = await db.all<{ user_agent: string }>('SELECT DISTINCT user_agent FROM audit')
      const kept = rows.map(({ user_agent }) => user_agent)
      assert.deepEqual(kept.toSorted(), left)
      await cleanup.close()
    }
    assert.equal(await createMaintainedCounts(db).total('audit'), 2, 'the kept count knows of it')
  })
})
