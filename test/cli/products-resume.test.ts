/** Interrupted imports resume: every row is imported once. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { systemClock } from '../../src/core/clock.ts'
import { systemRandom } from '../../src/core/random.ts'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl, onAnyEngine, onEachEngine, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { ownMigrations } from '../support/migrations.ts'
import { environment } from '../support/process.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount, isFull } from '../support/tiers.ts'

const badEvery = 1000

async function createShop(t: TestContext, engine: Dialect, rows: number) {
  const url = await createDatabaseUrl(t, engine, { isMigrated: true })
  const { db } = await openDatabase({
    url,
    poolSize: 2,
    statementTimeoutSeconds: 30,
    root,
    migrations: ownMigrations,
    clock: systemClock,
    random: systemRandom,
  })
  t.after(() => db.close())
  const path = join(temporaryFolder(t), 'products.csv')
  const lines = Array.from(
    { length: rows },
    (_, i) => `Item ${i},"Of row ${i},\nand more",${i % badEvery === 7 ? 0 : 1}`,
  )
  writeFileSync(path, ['name,description,price', ...lines, ''].join('\n'))
  return { url, db, path }
}

function startImport(t: TestContext, { url, path }: { url: string; path: string }) {
  const program = join(root, 'bin', 'latchkey')
  const child = spawn(program, ['products:import', path, '--quiet'], { env: environment({ DATABASE_URL: url }) })
  t.after(() => child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }))
  return { child, ended }
}

async function countRows(db: Database) {
  const row = await db.get<{ rows: number; names: number }>(
    'SELECT count(*) AS rows, count(DISTINCT name) AS names FROM products',
  )
  return { ...row }
}

async function waitForRows(db: Database, wanted: number): Promise<void> {
  const findOne = () => db.get('SELECT 1 AS found FROM products LIMIT 1 OFFSET $1', [wanted - 1])
  await eventually(async () => assert.ok(await findOne(), 'the import gets nowhere'), 300_000)
}

onEachEngine('an import', (engine) => {
  test('that is killed repeatedly imports every row once', async (t) => {
    const total =
      engine === 'sqlite' ? amount({ full: 40_000, otherwise: 16_000 }) : amount({ full: 16_000, otherwise: 10_000 })
    const shop = await createShop(t, engine, total)
    const good = total - total / badEvery
    for (let kills = 1; kills <= amount({ full: 4, otherwise: 2 }); kills++) {
      const { rows = 0 } = await countRows(shop.db)
      const { child, ended } = startImport(t, shop)
      await waitForRows(shop.db, Math.max(rows + 1, Math.floor((good * kills) / 10)))
      child.kill('SIGKILL')
      assert.equal((await ended).signal, 'SIGKILL', 'it was killed while it worked')
    }
    const before = await countRows(shop.db)
    assert.ok((before.rows ?? 0) < good, 'there is something left to do')
    const last = await runLoaded(['products:import', shop.path], { env: { DATABASE_URL: shop.url } })
    assert.equal(last.code, 65, last.stderr)
    assert.match(last.stderr, /^going on after the first [\d,]+ rows, which are done\n/)
    const number = (count: number) => count.toLocaleString('en')
    assert.ok(last.stdout.includes(`(in all ${number(good)} imported, ${total / badEvery} skipped)`), last.stdout)
    assert.deepEqual(await countRows(shop.db), { rows: good, names: good })
  })

  testInFull('that runs twice in parallel imports every row once', async (t) => {
    const shop = await createShop(t, engine, 4000)
    const both = await Promise.all([startImport(t, shop).ended, startImport(t, shop).ended])
    // The slower one may find the file finished; otherwise it is overtaken.
    const codes = both.map(({ code }) => code).sort()
    assert.ok([1, 65].includes(codes[0] ?? -1) && codes[1] === 65, JSON.stringify(both))
    assert.deepEqual(await countRows(shop.db), { rows: 3996, names: 3996 })
  })
})

onAnyEngine('an import', (engine) => {
  test('that gets SIGINT ends after the current batch, and says how to resume', async (t) => {
    const shop = await createShop(t, engine, 15_000)
    const { child, ended } = startImport(t, shop)
    await waitForRows(shop.db, 1)
    child.kill('SIGINT')
    const { code, stderr } = await ended
    assert.equal(code, 130, stderr)
    assert.match(stderr, /\ninterrupted; [\d,]+ products of this run are kept; run the same command again to go on\n/)
    const { rows = 0 } = await countRows(shop.db)
    assert.ok(rows > 0 && rows < 14_985)
    const last = await runLoaded(['products:import', shop.path], { env: { DATABASE_URL: shop.url } })
    assert.equal(last.code, 65, last.stderr)
    assert.deepEqual(await countRows(shop.db), { rows: 14_985, names: 14_985 })
  })
})

test('PostgreSQL goes away during an import: one clear line, and the next run resumes', async (t) => {
  if (process.env.TEST_ONLY_SQLITE) return
  const shop = await createShop(t, 'postgres', 5000)
  // Each batch takes a second, so that the import is under way for certain when the connections are cut.
  await shop.db.write({
    sql: `CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql
          AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'`,
  })
  await shop.db.write({
    sql: 'CREATE TRIGGER slow AFTER INSERT ON products FOR EACH STATEMENT EXECUTE FUNCTION take_time()',
  })
  const { ended } = startImport(t, shop)
  await waitForRows(shop.db, 1)
  await shop.db.all(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  const { code, stderr } = await ended
  assert.equal(code, 69, stderr)
  assert.match(stderr, /\nlatchkey: the database failed: [^\n]*; [\d,]+ products of this run are kept; run the same/)
  await shop.db.write({ sql: 'DROP TRIGGER slow ON products' })
  const last = await runLoaded(['products:import', shop.path], { env: { DATABASE_URL: shop.url } })
  assert.equal(last.code, 65, last.stderr)
  assert.deepEqual(await countRows(shop.db), { rows: 4995, names: 4995 })
})

if (isFull) {
  test('a large file takes no more than 200 MB of memory', async (t) => {
    const shop = await createShop(t, 'sqlite', 100_000)
    const { child, ended } = startImport(t, shop)
    let peakKb = 0
    await eventually(() => {
      if (child.exitCode === null) peakKb = Math.max(peakKb, peakOf(child))
      assert.notEqual(child.exitCode, null)
    }, 300_000)
    assert.equal((await ended).code, 65)
    assert.ok(peakKb > 0 && peakKb < 200 * 1024, `${Math.round(peakKb / 1024)} MB`)
  })
}

/** In kilobytes; 0 if it is ending. */
function peakOf({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0)
}
