/** Migrations of collections are written from their declarations, and lose nothing that the declarations do not give up. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { diffsOf, writeDiffs } from '../../src/app/collections-schema.ts'
import { declaredBy } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { collection, collectionFolders, describedOf } from '../../src/collections/collection.ts'
import { isOwnField } from '../../src/collections/declare/describe.ts'
import {
  belongsTo,
  boolean,
  choice,
  computed,
  decimal,
  email,
  type FieldDefinition,
  integer,
  list,
  text,
} from '../../src/collections/declare/fields.ts'
import { startBackfill } from '../../src/collections/schema/backfill.ts'
import { hasKey, keyColumnOf, keyOf, storedFieldsOf } from '../../src/collections/schema/tables.ts'
import { fromStoredValue, toStoredValue } from '../../src/collections/store/values.ts'
import { root } from '../../src/config/root.ts'
import { FatalError } from '../../src/core/fatal-error.ts'
import { users } from '../../src/features/users/users.feature.ts'
import type { Database, Dialect, Value } from '../../src/platform/database/database.ts'
import { type OpenOptions, openDatabase } from '../../src/platform/database/open.ts'
import { defineFeature, type Feature } from '../../src/platform/feature.ts'
import { startApi } from '../support/api.ts'
import {
  addRow,
  applyAndKill,
  createDraft,
  type Declared,
  type Draft,
  declare,
  declaredAs,
  editDraft,
} from '../support/collection-edits.ts'
import { createDatabaseUrl, onEachEngine, temporaryFolder } from '../support/databases.ts'
import { createRandom, type Random } from '../support/graphql-fuzz/random.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { openOptions } from '../support/migrations.ts'
import { collect, environment, latchkey } from '../support/process.ts'
import { keepSqliteThreads } from '../support/sqlite-threads.ts'
import { readTableSchema } from '../support/table-schema.ts'
import { amount, isFull } from '../support/tiers.ts'

const at = '2026-01-01T00:00:00.000Z'
const silent = {
  info() {},
  warn({ err }: { err: unknown }) {
    throw err
  },
} as never

type Service = Awaited<ReturnType<typeof open>>

/** A folder with the migrations of a collection, and a database. */
async function open(t: TestContext, engine: Dialect) {
  let feature: Feature
  let db: Database
  const { connectThreads, close: closeThreads } = keepSqliteThreads()
  t.after(async () => {
    await db?.close()
    await closeThreads()
  })
  const url = await createDatabaseUrl(t, engine, { isMigrated: true })
  const folder = temporaryFolder(t)
  const database = (migrations: OpenOptions['migrations'] = []) => ({
    ...openOptions({ url, migrations, connectThreads }),
    poolSize: 1,
  })
  const service = {
    folder,
    url,
    db: () => db,
    described: () => describedOf(feature),

    /** As `collections:diff` does. Returns whether there was anything to do. */
    async write(declared: Declared): Promise<boolean> {
      const declaring = declare(folder, declared)
      const diffs = diffsOf([declaring])
      await writeDiffs(diffs, { database: database(), onWritten() {} })
      feature = declaring
      return diffs.length > 0
    },

    async migrate(): Promise<void> {
      await db?.close()
      const { migrations } = declaredBy([...ownFeatures, feature])
      db = (await openDatabase(database(migrations))).db
    },

    /** As it is. */
    async reopen(): Promise<void> {
      db = (await openDatabase({ ...database(), isMigrated: true })).db
    },

    async apply(declared: Declared): Promise<void> {
      await service.write(declared)
      await service.migrate()
    },

    async insert(values: Record<string, unknown>, isDeleted = false): Promise<void> {
      const { fields, table } = service.described()
      const stored = Object.entries(values).flatMap(([name, value]): [string, Value][] => {
        const field = fields.get(name)
        assert.ok(field, name)
        const kept = toStoredValue(field.definition, value)
        return [
          [name, kept],
          ...(hasKey(field, service.described()) ? [[keyColumnOf(field), keyOf(kept)] as [string, Value]] : []),
        ]
      })
      const times = ['created_at', 'updated_at', ...(isDeleted ? ['deleted_at'] : [])]
      const names = [...stored.map(([name]) => name), ...times]
      const sql = `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join()}) VALUES (${names.map((_, i) => `$${i + 1}`).join()})`
      await db.write({ sql, params: [...stored.map(([, value]) => value), ...times.map(() => at)] })
    },

    async rows(): Promise<Record<string, unknown>[]> {
      const fields = storedFieldsOf(service.described()).filter(({ name }) => !isOwnField(name))
      const columns = fields.map(({ name }) => `"${name}"`)
      const found = await db.all<Record<string, unknown>>(`SELECT ${columns.join()} FROM things ORDER BY id`)
      return found.map((row) =>
        Object.fromEntries(fields.map(({ name, definition }) => [name, fromStoredValue(definition, row[name])])),
      )
    },

    /** Calculates what the start of the service calculates. */
    async calculate(): Promise<void> {
      const atEnd = () => ({
        sql: `INSERT INTO changes (topic, type, at, data) VALUES ('things', 'things.reset', '${at}', 'null')`,
      })
      const running = startBackfill(service.described(), { db, log: silent, atEnd })
      await running.finished
      await running.close()
    },
  }
  return service
}

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  return Object.fromEntries(names.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'utf8')]))
}

const refuses = (work: () => Promise<unknown>, ...reasons: RegExp[]) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof FatalError, String(error))
    for (const reason of reasons) assert.match(error.lines.join('\n'), reason)
    return true
  })

onEachEngine('the migrations of a collection', (engine) => {
  test('are written once, and the second time there is nothing to do', async (t) => {
    const { write, migrate, folder } = await open(t, engine)
    const fields = { name: text({ max: 50 }), tags: list(text()), size: integer({ optional: true }) }
    assert.equal(await write({ fields, sort: ['name'] }), true)
    const written = filesIn(folder)
    assert.deepEqual(
      Object.keys(written).sort(),
      ['0001-create-things.sql', '0001-create-things.sql', 'collections.json'].filter(
        (each, i, all) => all.indexOf(each) === i,
      ),
    )
    assert.equal(await write({ fields, sort: ['name'] }), false)
    await migrate()
    // Neither the order of fields nor what they are called in pages makes a difference.
    const { name, tags, size } = fields
    const labelled = { ...size, options: { optional: true, label: 'Size' } }
    assert.equal(await write({ fields: { size: labelled, tags, name } as never, sort: ['name'] }), false)
    assert.deepEqual(filesIn(folder), written)
  })

  test('keep the values of renamed fields, also of lists and of texts that are sorted', async (t) => {
    const { apply, insert, rows, db } = await open(t, engine)
    const sort = ['title']
    await apply({ fields: { size: integer(), tags: list(text()), title: text() }, sort, filter: ['tags'] })
    await insert({ size: 5, tags: ['a', 'b'], title: 'Ünder' })
    const words = list(text(), { was: 'tags' })
    await apply({
      fields: { width: integer({ was: 'size' }), words, name: text({ was: 'title' }) },
      sort: ['name'],
      filter: ['words'],
    })
    assert.deepEqual(await rows(), [{ width: 5, words: ['a', 'b'], name: 'Ünder' }])
    assert.deepEqual(await db().all('SELECT name__key, row_id FROM things, things__words ORDER BY value'), [
      { name__key: 'ünder', row_id: 1 },
      { name__key: 'ünder', row_id: 1 },
    ])
    // The field that gives its name away gets another one.
    await apply({
      fields: { width: integer(), words: text({ was: 'name' }), others: list(text(), { was: 'words' }) },
      sort: ['words'],
    })
    assert.deepEqual(await rows(), [{ width: 5, words: 'Ünder', others: ['a', 'b'] }])
    await refuses(
      () =>
        apply({ fields: { width: integer(), words: text(), others: list(text()), wide: integer({ was: 'width' }) } }),
      /"wide" names "width" in `was`, which is still declared/,
    )
  })

  test('drop what is named in gone, and nothing else', async (t) => {
    const { write, apply, insert, rows, folder } = await open(t, engine)
    const fields = { name: text(), tags: list(text()), owner: belongsTo(users, { optional: true, onDelete: 'clear' }) }
    await apply({ fields, sort: ['name'] })
    await insert({ name: 'First', tags: ['a'] })
    const { owner } = fields
    const before = filesIn(folder)
    await refuses(() => write({ fields: { owner } }), /"name" is no longer declared/, /"tags" is no longer declared/)
    await refuses(
      () => write({ fields: { owner }, gone: ['name'] }),
      /^collection things: the field "tags" is no longer/,
    )
    assert.deepEqual(filesIn(folder), before)
    await apply({ fields: { owner }, gone: ['name', 'tags'] })
    await apply({ fields: { name: text({ optional: true }) }, gone: ['owner'] })
    assert.deepEqual(await rows(), [{ name: null }])
  })

  test('are refused while values do not fit, until they do or there is a backfill', async (t) => {
    const { write, apply, insert, rows, db } = await open(t, engine)
    const fields = {
      name: text({ max: 50 }),
      state: choice(['open', 'odd', 'closed']),
      size: integer({ optional: true }),
      cost: decimal({ scale: 1 }),
      tags: list(text({ max: 40 })),
    }
    await apply({ fields })
    const first = { name: 'A long name', state: 'odd', size: null, cost: 9.5, tags: ['a', 'longer'] }
    await insert(first)
    const tries: [Record<string, FieldDefinition>, RegExp][] = [
      [{ name: text({ max: 5 }) }, /there are 1 texts of "name" that are longer than 5: change them, or give/],
      [{ name: text({ min: 20 }) }, /there are 1 texts of "name" that are shorter than 20/],
      [{ label: text({ max: 5, was: 'name' }) }, /there are 1 texts of "label" that are longer/],
      [{ state: choice(['open', 'closed']) }, /there are 1 rows whose "state" is odd/],
      [{ size: integer() }, /there are 1 rows without a value for "size"/],
      [{ cost: decimal({ scale: 2, max: 9 }) }, /there are 1 values of "cost" that are greater than 9/],
      [{ cost: decimal({ scale: 0 }) }, /there are 1 values of "cost" with more decimals/],
      [{ cost: integer() }, /there are 1 values of "cost" with more decimals/],
      [{ state: integer() }, /there are 1 rows with values of "state", which cannot become integer/],
      [{ state: email() }, /there are 1 rows with values of "state", which may be no email/],
      [{ name: choice(['a']) }, /there are 1 rows whose "name" is none of a/],
      [{ tags: list(text({ max: 3 })) }, /there are 1 texts of "tags" that are longer than 3/],
      [{ tags: list(text({ max: 40 }), { max: 1 }) }, /there are 1 lists of "tags" with more than 1 items/],
      [{ tags: list(integer()) }, /there are 1 rows with values of "tags", which cannot become list of integer/],
      [{ more: integer() }, /there are 1 rows without a value for the new field "more"/],
      [{ size: computed(integer(), () => 1, { stored: true }) }, /"size" cannot be computed, because it has values/],
    ]
    for (const [changed, reason] of tries) {
      const { name, ...others } = fields
      const kept = 'label' in changed ? others : { name, ...others }
      await refuses(() => write({ fields: { ...kept, ...changed } }), reason)
    }
    await apply({
      fields: {
        name: text({ max: 5, backfill: 'Short' }),
        state: choice(['open', 'closed'], { backfill: 'open' }),
        size: integer({ backfill: 7 }),
        cost: decimal({ scale: 2 }),
        tags: list(text({ max: 3 }), { backfill: ['b'] }),
        more: boolean({ default: true }),
        words: list(text(), { backfill: ['c', 'c'] }),
      },
    })
    const filled = { name: 'Short', state: 'open', size: 7, cost: 9.5, tags: ['b'], more: true, words: ['c', 'c'] }
    assert.deepEqual(await rows(), [filled])
    const items = 'SELECT value FROM things__tags UNION ALL SELECT value FROM things__words'
    assert.deepEqual(await db().all(items), [{ value: 'b' }, { value: 'c' }])
  })

  test('are applied where the values fit, and fail in another database where they do not', async (t) => {
    const here = await open(t, engine)
    await here.apply({ fields: { name: text({ max: 50 }) } })
    await here.insert({ name: 'Fits' })
    const shorter = { fields: { name: text({ max: 5, unique: true }) } }
    const there = await createDatabaseUrl(t, engine, { isMigrated: true })
    const feature = declare(here.folder, shorter)
    const { migrations } = declaredBy([...ownFeatures, feature])
    const { db } = await openDatabase(openOptions({ url: there, migrations }))
    await db.write({
      sql: `INSERT INTO things (name, created_at, updated_at) VALUES ('Does not fit', '${at}', '${at}')`,
    })
    await db.close()
    await here.apply(shorter)
    assert.deepEqual(await here.rows(), [{ name: 'Fits' }])
    await refuses(
      () => openDatabase(openOptions({ url: there, migrations })),
      /0002-.*texts of name that are longer than 5/,
    )
    await here.apply({ fields: { name: text({ max: 5 }), code: text({ optional: true }) } })
    for (const code of ['x', 'x']) await here.insert({ name: 'Fits', code })
    const unique = { fields: { name: text({ max: 5 }), code: text({ optional: true, unique: true }) } }
    await refuses(() => here.write(unique), /there are 1 values that are there more than once/)
  })

  test('are applied at once where several are pending', async (t) => {
    const { write, apply, migrate, insert, rows, db } = await open(t, engine)
    await apply({ fields: { name: text(), size: integer() } })
    await insert({ name: 'First', size: 1 })
    await write({ fields: { name: text(), size: integer(), rank: integer({ default: 2 }) } })
    const fields = { name: text(), width: integer({ was: 'size' }), rank: integer({ default: 2 }) }
    await write({ fields, sort: ['name', 'width', 'rank'], filter: ['rank'] })
    await migrate()
    assert.deepEqual(await rows(), [{ name: 'First', width: 1, rank: 2 }])
    const schema = (await readTableSchema(db(), 'things')).join()
    for (const index of ['name_sorted', 'width_sorted', 'rank_sorted', 'rank_found'])
      assert.match(schema, new RegExp(index))
    await apply({ fields, sort: ['name', 'rank'], filter: ['width'] })
    assert.match((await readTableSchema(db(), 'things')).join(), /width_found/)
  })

  test('are followed by a calculation of what rows lack, without an entry for each', async (t) => {
    const { apply, insert, calculate, db } = await open(t, engine)
    await apply({ fields: { name: text() } })
    for (let i = 0; i < 1200; i++) await insert({ name: `Name ${i}` })
    const length = computed(integer(), ({ name }) => name.length, { stored: true })
    await apply({ fields: { name: text(), length }, sort: ['name', 'length'] })
    const entries = async () =>
      (await db().get<{ n: number }>("SELECT count(*) AS n FROM changes WHERE topic = 'things'"))?.n
    const before = (await entries()) ?? 0
    await calculate()
    const wrong =
      'SELECT 1 AS one FROM things WHERE name__key IS NULL OR name__key <> lower(name) OR length IS NULL OR length <> length(name)'
    assert.deepEqual(await db().all(wrong), [])
    // Readers begin anew, once.
    assert.equal(await entries(), before + 1)
    assert.deepEqual(await db().all('SELECT 1 AS one FROM things WHERE version <> 1'), [])
    const twice = computed(integer(), ({ name }) => 2 * name.length, { stored: true })
    await apply({ fields: { name: text(), length: twice }, sort: ['name', 'length'] })
    await calculate()
    assert.deepEqual(await db().all('SELECT 1 AS one FROM things WHERE length <> 2 * length(name)'), [])
  })

  if (engine === 'postgres') {
    test('fill many rows in steps ahead of the transaction, without entries in the log', async (t) => {
      const { apply, insert, write, migrate, rows, db, folder, reopen } = await open(t, engine)
      const fields = { name: text(), size: integer({ optional: true }), tags: list(text({ max: 9 })) }
      await apply({ fields })
      await insert({ name: 'First', tags: ['too long', 'a'] })
      await db().write({
        sql: `INSERT INTO things (id, name, created_at, updated_at) OVERRIDING SYSTEM VALUE VALUES (30000, 'Last', '${at}', '${at}')`,
      })
      const entries = () => db().get("SELECT count(*) AS n FROM changes WHERE topic = 'things'")
      const before = await entries()
      await write({
        fields: { name: text(), size: integer({ backfill: 1 }), tags: list(text({ max: 5 }), { backfill: ['b'] }) },
      })
      const [file = ''] = readdirSync(join(folder, 'postgres')).slice(1)
      const path = join(folder, 'postgres', file)
      const sql = readFileSync(path, 'utf8')
      writeFileSync(path, `${sql}SELECT 1 / 0;\n`)
      await refuses(migrate, /division by zero/)
      const filled = [
        { name: 'First', size: 1, tags: ['b'] },
        { name: 'Last', size: 1, tags: [] },
      ]
      await reopen()
      assert.deepEqual(await rows(), filled)
      assert.deepEqual(await entries(), before)
      // The triggers are there again.
      await db().write({ sql: "UPDATE things SET name = 'Changed' WHERE id = 30000" })
      assert.deepEqual(await db().get('SELECT version FROM things WHERE id = 30000'), { version: 2 })
      assert.notDeepEqual(await entries(), before)
      writeFileSync(path, sql)
      await migrate()
      assert.deepEqual((await rows())[0], filled[0])
    })
  }

  test('are written and applied by a start in development, if they only add', async (t) => {
    const folder = temporaryFolder(t)
    const url = await createDatabaseUrl(t, engine, { isMigrated: true })
    const start = (declared: Declared, env: Record<string, string> = {}) =>
      startApi(t, { engine, extensions: [declare(folder, declared)], env: { DATABASE_URL: url, ...env } })
    const first = await start({ fields: { name: text() } })
    assert.equal((await first.get('/api/things')).status, 200)
    assert.match(first.log.join(''), /wrote .*0001-create-things\.sql, because a collection was declared/)
    await first.app.close()
    const second = await start({ fields: { name: text(), size: integer({ optional: true }) }, sort: ['size'] })
    assert.equal((await second.get('/api/things?sort=size')).status, 200)
    await second.app.close()
    const written = filesIn(folder)
    const command = /run bin\/latchkey collections:diff/
    await refuses(() => start({ fields: { name: text() }, gone: ['size'] }), /do not drop the field size/, command)
    const production = { NODE_ENV: 'production' }
    const more = { fields: { name: text(), size: integer({ optional: true }), more: text({ optional: true }) } }
    await refuses(
      () => start(more, production),
      /do not add the field more/,
      /do not drop the index things__size_sorted/,
      command,
    )
    await refuses(
      () =>
        start({ fields: { name: text({ max: 500 }), size: integer({ optional: true }) }, sort: ['size'] }, production),
      /the snapshot of the collections is not the one/,
      command,
    )
    assert.deepEqual(filesIn(folder), written)
    await start({ fields: { name: text(), size: integer({ optional: true }) }, sort: ['size'] }, production)
  })

  test('are written by the command, which asks nothing', async (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'things.ts')
    writeFileSync(file, moduleText)
    const env = { LATCHKEY_EXTENSIONS: file, DATABASE_URL: await createDatabaseUrl(t, engine) }
    const run = (...args: string[]) => runLoaded(['collections:diff', ...args], { env })
    const first = await run('--name', 'begin')
    assert.match(first.stdout, /^things: create things\nwrote .*0001-begin\.sql\n$/, first.stderr)
    const written = filesIn(folder)
    assert.equal((await run()).stdout, 'nothing to do: the migrations make what is declared\n')
    assert.deepEqual(filesIn(folder), written)
    assert.match((await run('--name', 'Not so')).stderr, /--name must be lower-case words/)
    // The process has loaded the other file.
    const next = join(folder, 'renamed.ts')
    writeFileSync(next, moduleText.replace('name: text()', "label: text({ was: 'name' })"))
    const renamed = await runLoaded(['collections:diff'], { env: { ...env, LATCHKEY_EXTENSIONS: next } })
    assert.match(
      renamed.stdout,
      /^things: rename the field name to label\nwrote .*0002-.*\.sql\nnodes of the previous release/,
    )
    rmSync(join(folder, 'migrations', 'collections.json'))
    const { code, stderr } = await run()
    assert.deepEqual([code, stderr.match(/\n/g)?.length], [65, 1])
    assert.match(stderr, /collections\.json is missing/)
  })

  test('lose nothing and lead to the tables of a new database, whatever is edited, and whenever a process is killed', async (t) => {
    const kills: Kills = { before: 0, written: 0, applied: 0 }
    for (let seed = 1; seed <= amount({ full: 200, otherwise: 10 }); seed++) {
      const isKilled = isFull || seed % 5 === 0
      await t.test(`as in the edits of ${seed}`, (t) =>
        edit(t, engine, createRandom(seed), isKilled ? kills : undefined),
      )
    }
    t.diagnostic(
      `killed ${kills.before} before a migration was written, ${kills.written} before it was applied, ${kills.applied} after`,
    )
  })

  if (isFull) {
    test('are applied as a whole or not at all by a process that is killed', async (t) => {
      const random = createRandom(1)
      for (let i = 0; i < 10; i++) {
        const folder = temporaryFolder(t)
        const file = join(folder, 'things.ts')
        writeFileSync(file, moduleText)
        const env = {
          LATCHKEY_EXTENSIONS: file,
          DATABASE_URL: await createDatabaseUrl(t, engine, { isMigrated: true }),
        }
        await latchkey(['collections:diff'], { env })
        await latchkey(['migrate'], { env })
        const { db } = await openDatabase(openOptions({ url: env.DATABASE_URL, migrations: [], isMigrated: true }))
        t.after(() => db.close())
        await db.write(
          ...Array.from({ length: 2000 }, (_, row) => ({
            sql: `INSERT INTO things (name, created_at, updated_at) VALUES ('Name ${row}', '${at}', '${at}')`,
          })),
        )
        writeFileSync(
          file,
          moduleText.replace('name: text()', "label: text({ was: 'name' }), size: integer({ default: 3 })"),
        )
        await latchkey(['collections:diff'], { env })
        const child = spawn(join(root, 'bin', 'latchkey'), ['migrate'], { env: environment(env) })
        setTimeout(() => child.kill('SIGKILL'), 300 + random.below(900))
        await collect(child)
        assert.equal((await latchkey(['migrate'], { env })).code, 0)
        const [found] = await db.all("SELECT count(*) AS n, min(size) AS size FROM things WHERE label LIKE 'Name %'")
        assert.deepEqual(found, { n: 2000, size: 3 })
      }
    })
  }
})

/** In folders, without a database. */
describe('the files of migrations', () => {
  const fields = { name: text() }
  const more = { ...fields, size: integer({ optional: true }) }
  const diff = (folder: string, declared: Declared) => diffsOf([declare(folder, declared)])
  const write = (diffs: ReturnType<typeof diffsOf>) =>
    writeDiffs(diffs, { database: undefined as never, onWritten() {} })

  test('are needed: what is missing or damaged is named', async (t) => {
    const folder = temporaryFolder(t)
    await write(diff(folder, { fields }))
    await write(diff(folder, { fields: more }))
    const snapshot = join(folder, 'collections.json')
    const whole = readFileSync(snapshot, 'utf8')
    const says = (reason: RegExp) => refuses(async () => diff(folder, { fields: more }), reason)
    for (const damaged of ['', '<<<<<<< HEAD\n{}', '[]', '{}', '{"space":"things","collections":{"things":{}}}']) {
      writeFileSync(snapshot, damaged)
      await says(/^.*collections\.json is not as it was written.*restore it from version control.*$/)
    }
    rmSync(snapshot)
    await says(/collections\.json is missing, but there are migrations next to it.*restore it from version control/)
    writeFileSync(snapshot, whole)
    const second = join(folder, 'postgres', '0002-things-add-the-field-size.sql')
    const statements = readFileSync(second, 'utf8')
    rmSync(second)
    await says(/the migration .*postgres\/0002-things-add-the-field-size\.sql is missing: restore it/)
    writeFileSync(second, statements)
    for (const engine of ['sqlite', 'postgres']) writeFileSync(join(folder, engine, '0002-other.sql'), 'SELECT 1;')
    await says(/two migrations .* have the number 0002: 0002-other\.sql and 0002-things-add-.*; keep the one/)
    for (const engine of ['sqlite', 'postgres']) {
      renameSync(join(folder, engine, '0002-other.sql'), join(folder, engine, '0003-by-hand.sql'))
    }
    assert.deepEqual(diff(folder, { fields: more }), [])
    await write(diff(folder, { fields: { ...more, rank: integer({ optional: true }) } }))
    assert.ok(existsSync(join(folder, 'sqlite', '0004-things-add-the-field-rank.sql')))
  })

  test('are written once by processes at the same time, and completed after one that was killed', async (t) => {
    const folder = temporaryFolder(t)
    const first = [diff(folder, { fields }), diff(folder, { fields })]
    for (const diffs of first) await write(diffs)
    const before = readFileSync(join(folder, 'collections.json'), 'utf8')
    const second = [diff(folder, { fields: more }), diff(folder, { fields: more })]
    for (const diffs of second) await write(diffs)
    const written = filesIn(folder)
    const names = ['0001-create-things.sql', '0002-things-add-the-field-size.sql']
    assert.deepEqual(readdirSync(join(folder, 'sqlite')), names)
    writeFileSync(join(folder, 'collections.json'), before)
    rmSync(join(folder, 'postgres', names[1] as string))
    await write(diff(folder, { fields: more }))
    assert.deepEqual(filesIn(folder), written)
  })

  test('are in a folder of their own, which can be named from the file of the declaration', async (t) => {
    const folder = temporaryFolder(t)
    await write(diff(folder, { fields }))
    const likes = defineFeature({ name: 'likes', migrations: folder, create: () => ({}) })
    const things = declare(folder, { fields })
    await refuses(async () => diffsOf([likes, things]), /has the migrations of the feature likes: name another folder/)
    const others = collection({ name: 'others', fields, migrations: folder } as never)
    await write(diffsOf([things, others]))
    const moved = collection({ name: 'others', fields, migrations: temporaryFolder(t) } as never)
    await refuses(async () => diffsOf([things, moved]), /collection others: its migrations are in .*: name that folder/)
    const [{ path } = { path: '' }] = collectionFolders([
      collection({ name: 'others', fields, migrations: 'elsewhere' } as never),
    ])
    assert.equal(path, join(import.meta.dirname, 'elsewhere'))
  })
})

const moduleText = `import { collection, everybody, integer, text } from 'latchkey/collections'
export default collection({ name: 'things', fields: { name: text() }, rules: { read: everybody } })
`

/** How far processes came that were killed. */
interface Kills {
  before: number
  written: number
  applied: number
}

/** Six times, during one of which a process that applies them is killed. */
async function edit(t: TestContext, engine: Dialect, random: Random, kills?: Kills): Promise<void> {
  const service = await open(t, engine)
  let draft = createDraft(random)
  await service.apply(declaredAs(draft))
  const user = `INSERT INTO users (email, password_hash, created_at, updated_at) VALUES ('a@example.com', '', '${at}', '${at}')`
  await service.db().write({ sql: user })
  let isToBeKilled = kills !== undefined
  for (let step = 0; step < 6; step++) {
    for (let i = random.below(4); i > 0; i--) {
      const { row, isDeleted } = addRow(draft, random)
      await service.insert(row, isDeleted)
    }
    const { next, isRefused } = editDraft(draft, random)
    if (isRefused) {
      await refuses(() => service.write(declaredAs(next)))
      continue
    }
    if (kills && isToBeKilled && (step === 5 || random.chance(0.3))) {
      isToBeKilled = false
      await killOnce(service, next, random, kills)
    }
    const began = performance.now()
    await service.apply(declaredAs(next))
    usualMs = usualMs * 0.9 + (performance.now() - began) * 0.1
    draft = next
  }
  await service.apply(declaredAs(draft))
  await service.calculate()
  assert.deepEqual(
    await service.rows(),
    draft.rows.map((row) => inOrder(row, service.described().fields.keys())),
  )
  for (const field of service.described().fields.values()) {
    if (hasKey(field, service.described())) {
      const keys = await service
        .db()
        .all<{ key: string }>(`SELECT ${keyColumnOf(field)} AS key FROM things ORDER BY id`)
      assert.deepEqual(
        keys.map(({ key }) => key),
        draft.rows.map((row) => keyOf(row[field.name])),
      )
    }
    if (field.kind === 'list') {
      const items = await service
        .db()
        .all<{ row_id: number; value: string }>(`SELECT row_id, value FROM things__${field.name} ORDER BY 1, 2`)
      const expected = draft.rows.flatMap((row, i) =>
        [...new Set(row[field.name] as string[])].map((value) => `${i + 1} ${value}`),
      )
      assert.deepEqual(items.map(({ row_id, value }) => `${row_id} ${value}`).sort(), expected.sort())
    }
  }
  const fresh = await open(t, engine)
  for (const spec of draft.fields.values()) spec.options = {}
  await fresh.apply({ ...declaredAs(draft), gone: [] })
  assert.deepEqual(await readTableSchema(service.db(), 'things'), await readTableSchema(fresh.db(), 'things'))
}

let usualMs = 50

async function killOnce(service: Service, draft: Draft, random: Random, kills: Kills): Promise<void> {
  const { folder, url } = service
  const applied = () =>
    service.db().get<{ n: number }>("SELECT count(*) AS n FROM schema_migrations WHERE name LIKE 'things/%'")
  const count = () => readdirSync(join(folder, 'postgres')).length
  const [filesBefore, appliedBefore] = [count(), await applied()]
  await applyAndKill({ folder, url, draft }, (random.below(400) / 100) * usualMs)
  const isApplied = (await applied())?.n !== appliedBefore?.n
  kills[isApplied ? 'applied' : count() > filesBefore ? 'written' : 'before'] += 1
}

const inOrder = (row: Record<string, unknown>, names: Iterable<string>) =>
  Object.fromEntries([...names].filter((name) => name in row).map((name) => [name, row[name]]))
