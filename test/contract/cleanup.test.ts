import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { startCleanup } from '../../src/platform/database/cleanup.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { createMovableClock } from '../support/api.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { openOptions } from '../support/migrations.ts'

onEachEngine('clean-up', (engine) => {
  test('removes what has expired, in batches, and nothing else', async (t) => {
    const url = await createDatabaseUrl(t, engine)
    const migrations = join(root, 'migrations')
    const { db } = await openDatabase(openOptions({ url, migrations }))
    t.after(() => db.close())
    const clock = createMovableClock()
    const log = createLogger({ level: 'silent', isTerminal: false })
    const cleanup = startCleanup({ db, clock, log, tables: [{ table: 'revoked_tokens', key: 'id' }] })
    t.after(() => cleanup.close())
    const insert = (i: number) => ({
      sql: 'INSERT INTO revoked_tokens (id, expires_at) VALUES ($1, $2)',
      params: [`t${i}`, clock.nowSeconds() + (i < 1200 ? 10 : 1000)],
    })
    await Promise.all(Array.from({ length: 1300 }, (_, i) => db.write(insert(i))))
    assert.equal(await cleanup.run(), 0)
    clock.advance(11)
    assert.equal(await cleanup.run(), 1200)
    assert.deepEqual(await db.get('SELECT count(*) AS n FROM revoked_tokens'), { n: 100 })
  })
})
