/** Archives: what goes in comes out, on either engine; what is damaged is refused. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '../../src/core/clock.ts'
import { FatalError } from '../../src/core/fatal-error.ts'
import { openArchive } from '../../src/platform/archive/archive-reader.ts'
import { move } from '../../src/platform/archive/transfer.ts'
import type { Database, Dialect, Value } from '../../src/platform/database/database.ts'
import type { DeclaredSchema } from '../../src/platform/database/migrations.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { type Owner, share } from '../support/api.ts'
import {
  ownSchema,
  placeOf,
  restoreInto,
  tablesIn,
  tablesOfDatabase,
  withFlippedByte,
  writeArchiveOf,
} from '../support/archives.ts'
import { createDatabaseUrl, engines, onEachEngine, temporaryFolder } from '../support/databases.ts'
import { openOptions, writeMigrations } from '../support/migrations.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount, chosen } from '../support/tiers.ts'

const samples = {
  sqlite: `CREATE TABLE samples (
    id INTEGER PRIMARY KEY AUTOINCREMENT, big INTEGER, words TEXT, at TEXT, is_on BOOLEAN, bytes BLOB, ratio REAL);
    CREATE TABLE children (id TEXT PRIMARY KEY, sample_id INTEGER NOT NULL REFERENCES samples (id));
    CREATE INDEX children_sample ON children (sample_id);`,
  postgres: `CREATE TABLE samples (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, big BIGINT, words TEXT, at TIMESTAMPTZ(3), is_on BOOLEAN,
    bytes BYTEA, ratio DOUBLE PRECISION);
    CREATE TABLE children (id TEXT PRIMARY KEY, sample_id BIGINT NOT NULL REFERENCES samples (id));
    CREATE INDEX children_sample ON children (sample_id);`,
}

/** The service's schema with an extension that has a column of every kind. */
function extendedSchema(t: Owner, files: Parameters<typeof writeMigrations>[1] = { '0001-samples': samples }) {
  const path = writeMigrations(temporaryFolder(t), files)
  return {
    ...ownSchema,
    migrations: [...ownSchema.migrations, { path, space: 'samples' }],
    countedLists: [...ownSchema.countedLists, 'samples'],
  } satisfies DeclaredSchema
}

async function open(url: string, { migrations, countedLists }: DeclaredSchema): Promise<Database> {
  return (await openDatabase(openOptions({ url, migrations, countedLists }))).db
}

async function withDatabase<T>(url: string, schema: DeclaredSchema, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await open(url, schema)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

const awkward: readonly Value[][] = [
  [0, '', '2026-01-02T03:04:05.678Z', true, new Uint8Array([0, 255, 10, 92]), 0.1],
  [-1, '\\N\t\n\r\\"\u2028 😀 Ω', '1999-12-31T23:59:59.999Z', false, new Uint8Array(), -1e-300],
  [Number.MAX_SAFE_INTEGER, "'; DROP TABLE samples; --", '2026-06-01T00:00:00.000Z', null, null, 1e300],
  [null, null, null, null, null, null],
]

async function addSamples(db: Database): Promise<void> {
  for (const values of awkward) {
    await db.write({
      sql: 'INSERT INTO samples (big, words, at, is_on, bytes, ratio) VALUES ($1, $2, $3, $4, $5, $6)',
      params: values,
    })
  }
  // Beyond what a number holds exactly.
  await db.write({ sql: 'INSERT INTO samples (big) VALUES (9223372036854775807), (-9223372036854775808)' })
  await db.write({ sql: `INSERT INTO children (id, sample_id) VALUES ('b', 1), ('a', 2), ('Z', 1)` })
  // The ids of deleted rows are not given out again.
  await db.write({ sql: 'INSERT INTO samples (words) VALUES ($1)', params: ['gone'] })
  await db.write({ sql: "DELETE FROM samples WHERE words = 'gone'" })
}

async function createFilled(t: Owner, engine: Dialect) {
  const schema = extendedSchema(t)
  const url = await createDatabaseUrl(t, engine, { isMigrated: true })
  await withDatabase(url, schema, addSamples)
  return placeOf(url, schema)
}

/** Of each engine, one that is only read, and an archive of it. */
const filled = {
  sqlite: share((t) => createFilled(t, 'sqlite')),
  postgres: share((t) => createFilled(t, 'postgres')),
}
const archived = {
  sqlite: share(async (t) => writeArchiveOf(t, await filled.sqlite())),
  postgres: share(async (t) => writeArchiveOf(t, await filled.postgres())),
}

const refusal = (pattern: RegExp) => (error: unknown) => error instanceof FatalError && pattern.test(error.message)

for (const from of engines) {
  for (const to of chosen(engines, (engine) => engine !== from)) {
    test(`what is archived from ${from} is restored to ${to} exactly, and goes on counting`, async (t) => {
      const source = await filled[from]()
      const path = await archived[from]()
      const target = placeOf(await createDatabaseUrl(t, to), source.schema)
      const restored = await restoreInto(target, path)
      assert.deepEqual(restored.applied, [])
      assert.deepEqual(await tablesOfDatabase(t, target), await tablesIn(path))

      await withDatabase(target.url, source.schema, async (db) => {
        const big = await db.all<{ big: string }>(
          'SELECT CAST(big AS TEXT) AS big FROM samples WHERE id IN (5, 6) ORDER BY id',
        )
        assert.deepEqual(
          big.map((row) => row.big),
          ['9223372036854775807', '-9223372036854775808'],
        )
        const rows = await db.all<Record<string, Value>>(
          'SELECT big, words, at, is_on, bytes, ratio FROM samples WHERE id < 5 ORDER BY id',
        )
        const plain = (values: readonly (Value | undefined)[]) =>
          values.map((value) => (value instanceof Uint8Array ? [...value] : value))
        assert.deepEqual(
          rows.map((row) => plain(Object.values(row))),
          awkward.map(plain),
        )
        const counts = await db.all(
          "SELECT live FROM current_counts WHERE list = 'samples' AND level = 21 AND live > 0",
        )
        assert.deepEqual(counts, [{ live: 6 }])
        const [[added]] = await db.write<{ id: number }>({
          sql: "INSERT INTO samples (words) VALUES ('new') RETURNING id",
        })
        assert.equal(added?.id, 8)
        assert.deepEqual(
          await db.all("SELECT live FROM current_counts WHERE list = 'samples' AND level = 21 AND live > 0"),
          [{ live: 7 }],
        )
        await assert.rejects(
          db.write({ sql: "INSERT INTO children (id, sample_id) VALUES ('x', 999)" }),
          /foreign key constraint/,
        )
      })
    })

    test(`moving from ${from} to ${to} leaves both the same`, async (t) => {
      const source = await filled[from]()
      const target = placeOf(await createDatabaseUrl(t, to, { isMigrated: true }), source.schema)
      const moved = await move(source, { to: target, canReplace: false, clock: systemClock })
      assert.equal(moved.leftOut.length, 0)
      assert.deepEqual(await tablesOfDatabase(t, target), await tablesOfDatabase(t, source))
    })
  }
}

onEachEngine('an archive', (engine) => {
  testInFull('is refused by a database that is not empty, unless it may be replaced', async (t) => {
    const source = await createFilled(t, engine)
    const path = await writeArchiveOf(t, source)
    await withDatabase(source.url, source.schema, (db) =>
      db.write({ sql: "INSERT INTO samples (words) VALUES ('later')" }),
    )
    const before = await tablesOfDatabase(t, source)
    await assert.rejects(restoreInto(source, path), refusal(/is not empty: it has rows in .*samples.*--replace/))
    assert.deepEqual(await tablesOfDatabase(t, source), before)
    await restoreInto(source, path, { canReplace: true })
    assert.deepEqual(await tablesOfDatabase(t, source), await tablesIn(path))
  })

  test('fills a database that is migrated but empty', async (t) => {
    const source = await filled[engine]()
    const path = await archived[engine]()
    const target = placeOf(await createDatabaseUrl(t, engine, { isMigrated: true }), source.schema)
    await withDatabase(target.url, source.schema, async () => {})
    await restoreInto(target, path)
    assert.deepEqual(await tablesOfDatabase(t, target), await tablesIn(path))
  })

  testInFull('of an earlier version is brought to this one', async (t) => {
    const path = await archived[engine]()
    const later = extendedSchema(t, {
      '0001-samples': samples,
      '0002-later': "ALTER TABLE samples ADD COLUMN later TEXT NOT NULL DEFAULT 'x'",
    })
    const target = placeOf(await createDatabaseUrl(t, engine, { isMigrated: true }), later)
    assert.deepEqual((await restoreInto(target, path)).applied, ['samples/0002-later.sql'])
    await withDatabase(target.url, later, async (db) => {
      assert.deepEqual(await db.get('SELECT later FROM samples WHERE id = 1'), { later: 'x' })
    })
  })

  test('of a later version, of an unknown extension or of other migrations is refused', async (t) => {
    const path = await archived[engine]()
    const url = await createDatabaseUrl(t, engine)
    await assert.rejects(
      restoreInto(placeOf(url), path),
      refusal(/samples\/0001-samples\.sql, which is unknown here.*LATCHKEY_EXTENSIONS/),
    )
    const edited = extendedSchema(t, {
      '0001-samples': { sqlite: `${samples.sqlite} `, postgres: `${samples.postgres} ` },
    })
    await assert.rejects(restoreInto(placeOf(url, edited), path), refusal(/another text of migration samples\/0001/))
    const [first, ...rest] = ownSchema.migrations
    const fewer = { ...ownSchema, migrations: first ? [...rest.slice(0, -1)] : [] }
    await assert.rejects(restoreInto(placeOf(url, fewer), path), refusal(/unknown here: use the version/))
  })

  test('leaves out tables that no migration makes, and tells', async (t) => {
    const source = await createFilled(t, engine)
    await withDatabase(source.url, source.schema, async (db) => {
      await db.write({ sql: 'CREATE TABLE of_another_program (id INTEGER)' })
    })
    const target = placeOf(await createDatabaseUrl(t, 'sqlite', { isMigrated: true }), source.schema)
    const moved = await move(source, { to: target, canReplace: false, clock: systemClock })
    assert.deepEqual(moved.leftOut, ['of_another_program'])
  })

  test('holds one moment while writers go on', async (t) => {
    const source = await createFilled(t, engine)
    const db = await open(source.url, source.schema)
    t.after(() => db.close())
    let isOver = false
    const writing = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let i = 0; !isOver; i++) {
          await db.write({ sql: 'INSERT INTO samples (words) VALUES ($1)', params: [`word ${i}`] })
          if (i % 3 === 0) await db.write({ sql: 'DELETE FROM samples WHERE id = (SELECT max(id) FROM samples)' })
        }
      }),
    )
    const paths: string[] = []
    for (let i = amount({ full: 3, otherwise: 1 }); i > 0; i--) paths.push(await writeArchiveOf(t, source))
    isOver = true
    await writing
    for (const path of paths) {
      const target = placeOf(await createDatabaseUrl(t, 'sqlite', { isMigrated: true }), source.schema)
      await restoreInto(target, path)
      await withDatabase(target.url, source.schema, async (copy) => {
        const counted = await copy.get<{ n: number }>('SELECT count(*) AS n FROM samples')
        const maintained = await copy.get<{ n: number }>(
          "SELECT CAST(sum(live) AS BIGINT) AS n FROM current_counts WHERE list = 'samples' AND level = 7",
        )
        assert.ok((counted?.n ?? 0) > 0)
        assert.deepEqual(maintained, counted)
      })
    }
  })
})

test('only its owner can read an archive', async () => {
  assert.equal(statSync(await archived.sqlite()).mode & 0o777, 0o600)
})

test('one flipped byte anywhere in an archive is found before anything is written, and the part is named', async () => {
  const path = await archived.sqlite()
  const { length } = readFileSync(path)
  await fc.assert(
    fc.asyncProperty(fc.nat(length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
      await assert.rejects(
        openArchive(withFlippedByte(path, at, mask)),
        refusal(/table \w+, part \d+ of \d+|the manifest|the seal|a seal|its beginning|format \d+/),
      )
    }),
    { numRuns: amount({ full: 400, otherwise: 60 }) },
  )
})

test('an archive that was cut off anywhere is refused', async () => {
  const path = await archived.sqlite()
  const bytes = readFileSync(path)
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), async (length) => {
      writeFileSync(`${path}.cut`, bytes.subarray(0, length))
      await assert.rejects(openArchive(`${path}.cut`), FatalError)
    }),
    { numRuns: amount({ full: 100, otherwise: 30 }) },
  )
})

test('an archive of a newer format is refused with a line that says so', async (t) => {
  const bytes = readFileSync(await archived.sqlite())
  const path = join(temporaryFolder(t), 'newer.archive')
  bytes[bytes.indexOf('1\n')] = '2'.charCodeAt(0)
  writeFileSync(path, bytes)
  await assert.rejects(
    openArchive(path),
    refusal(/is an archive of format 2, and this version of Latchkey reads format 1/),
  )
})
