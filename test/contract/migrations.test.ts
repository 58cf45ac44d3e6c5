import assert from 'node:assert/strict'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { FatalError } from '../../src/core/fatal-error.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl, onEachEngine, onPostgres, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { openOptions, ownMigrations, writeMigrations } from '../support/migrations.ts'

const first = { '0001-first': 'CREATE TABLE a (id INTEGER); INSERT INTO a VALUES (1);' }
const second = { '0002-second': 'CREATE TABLE b (id INTEGER); INSERT INTO b SELECT id FROM a;' }

async function prepare(t: TestContext, engine: Dialect) {
  const url = await createDatabaseUrl(t, engine)
  const migrations = temporaryFolder(t)
  return {
    url,
    migrations,
    async apply(files: Record<string, string>) {
      writeMigrations(migrations, files)
      const { db, applied } = await openDatabase(openOptions({ url, migrations }))
      const names = await db.all<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name')
      await db.close()
      return { applied, all: names.map(({ name }) => name) }
    },
    open: () => openDatabase(openOptions({ url, migrations })),
  }
}

const refusal = (pattern: RegExp) => (error: unknown) => error instanceof FatalError && pattern.test(error.message)

onEachEngine('migrations', (engine) => {
  test('are applied once each, in order', async (t) => {
    const { apply } = await prepare(t, engine)
    assert.deepEqual((await apply(first)).applied, ['0001-first.sql'])
    assert.deepEqual((await apply(second)).applied, ['0002-second.sql'])
    const again = await apply({})
    assert.deepEqual(again.applied, [])
    assert.deepEqual(again.all, ['0001-first.sql', '0002-second.sql'])
  })

  test('are applied once when ten processes start at once', async (t) => {
    const { migrations, open } = await prepare(t, engine)
    writeMigrations(migrations, { ...first, ...second })
    const opened = await Promise.all(Array.from({ length: 10 }, open))
    const counts = opened.map(({ applied }) => applied.length).sort()
    for (const { db } of opened) await db.close()
    assert.deepEqual(counts, [0, 0, 0, 0, 0, 0, 0, 0, 0, 2])
  })

  test('refuse a file that was edited after it had been applied', async (t) => {
    const { apply } = await prepare(t, engine)
    await apply(first)
    await assert.rejects(
      apply({ '0001-first': 'CREATE TABLE a (id INTEGER, more TEXT);' }),
      refusal(/0001-first\.sql was edited/),
    )
  })

  test('do not mind other line ends', async (t) => {
    const { apply } = await prepare(t, engine)
    await apply({ '0001-first': 'CREATE TABLE a (\n id INTEGER\n);\n' })
    assert.deepEqual((await apply({ '0001-first': 'CREATE TABLE a (\r\n id INTEGER\r\n);\r\n' })).applied, [])
  })

  test('refuse a database that is newer than the program', async (t) => {
    const { apply, migrations } = await prepare(t, engine)
    await apply({ ...first, ...second })
    rmSync(join(migrations, engine, '0002-second.sql'))
    await assert.rejects(apply(first), refusal(/newer than this program.*0002-second\.sql/))
  })

  test('refuse a file that comes before one already applied', async (t) => {
    const { apply } = await prepare(t, engine)
    await apply({ '0002-second': 'CREATE TABLE b (id INTEGER);' })
    await assert.rejects(apply(first), refusal(/0001-first\.sql comes before 0002-second\.sql/))
  })

  test('leave nothing behind if one of them fails, and name it', async (t) => {
    const { apply, migrations } = await prepare(t, engine)
    await assert.rejects(
      apply({ ...first, '0002-broken': 'CREATE TABLE c (id INTEGER); NONSENSE;' }),
      refusal(/0002-broken\.sql failed/),
    )
    writeFileSync(join(migrations, engine, '0002-broken.sql'), 'CREATE TABLE c (id INTEGER);')
    assert.deepEqual((await apply({})).applied, ['0001-first.sql', '0002-broken.sql'])
  })

  test('refuse two files of one number, and names without one', async (t) => {
    const { apply } = await prepare(t, engine)
    await assert.rejects(apply({ ...first, '0001-again': 'SELECT 1;' }), refusal(/two migrations have the number 0001/))
    const other = await prepare(t, engine)
    await assert.rejects(
      other.apply({ 'add-things': 'SELECT 1;' }),
      refusal(/add-things\.sql is not named NNNN-name\.sql/),
    )
  })
})

onPostgres('an index is built while others write to its table, and again if a build was interrupted', async (t) => {
  const { url, apply } = await prepare(t, 'postgres')
  await apply(first)
  const [holder, writer] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })]
  await Promise.all([holder.connect(), writer.connect()])
  // The build waits for this transaction, and nobody waits for the build.
  await holder.query('BEGIN')
  await holder.query('INSERT INTO a VALUES (1)')
  const migrated = apply({ '0002-index': '-- concurrently\nCREATE INDEX IF NOT EXISTS a_id ON a (id);\n' })
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await eventually(async () => assert.equal((await writer.query(waiting)).rowCount, 1))
  await writer.query(`SET lock_timeout = '10s'`)
  await writer.query('INSERT INTO a VALUES (2)')
  await holder.query('COMMIT')
  assert.deepEqual((await migrated).applied, ['0002-index.sql'])

  const interrupted = 'CREATE UNIQUE INDEX CONCURRENTLY a_again ON a (id)'
  await assert.rejects(holder.query(interrupted), /could not create unique index/)
  await apply({ '0003-again': '-- concurrently\nCREATE INDEX IF NOT EXISTS a_again ON a (id);\n' })
  const indexes = `SELECT indexrelid::regclass::text AS name, indisvalid AS is_valid FROM pg_index
    WHERE indrelid = 'a'::regclass ORDER BY 1`
  assert.deepEqual((await writer.query(indexes)).rows, [
    { name: 'a_again', is_valid: true },
    { name: 'a_id', is_valid: true },
  ])
  await Promise.all([holder.end(), writer.end()])
})

test('the same migrations exist for both engines', () => {
  assert.ok(ownMigrations.length > 0)
  for (const { path } of ownMigrations) {
    assert.deepEqual(readdirSync(join(path, 'sqlite')), readdirSync(join(path, 'postgres')))
  }
})
