/** Migrations of collections are written from their declarations, and lose nothing that the declarations do not give up. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { diffsOf, writeDiffs } from '../../src/app/collections-schema.ts'
import { declaredBy } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { collection, describedOf } from '../../src/collections/collection.ts'
import { type CollectionDeclaration, isOwnField } from '../../src/collections/declare/describe.ts'
import {
  belongsTo,
  boolean,
  choice,
  computed,
  decimal,
  type FieldDefinition,
  integer,
  list,
  text,
} from '../../src/collections/declare/fields.ts'
import { everybody } from '../../src/collections/declare/rules.ts'
import { startBackfill } from '../../src/collections/schema/backfill.ts'
import { hasKey, keyColumnOf, keyOf, storedFieldsOf } from '../../src/collections/schema/tables.ts'
import { fromStoredValue, toStoredValue } from '../../src/collections/store/values.ts'
import { root } from '../../src/config/root.ts'
import { FatalError } from '../../src/core/fatal-error.ts'
import { users } from '../../src/features/users/users.feature.ts'
import type { Database, Dialect, Value } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import type { Feature } from '../../src/platform/feature.ts'
import { startApi } from '../support/api.ts'
import { createDatabaseUrl, onEachEngine, temporaryFolder } from '../support/databases.ts'
import { createRandom, type Random } from '../support/graphql-fuzz/random.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { openOptions } from '../support/migrations.ts'
import { collect, environment, latchkey } from '../support/process.ts'
import { readTableSchema } from '../support/table-schema.ts'
import { amount, isFull } from '../support/tiers.ts'

const at = '2026-01-01T00:00:00.000Z'
const silent = {
  info() {},
  warn({ err }: { err: unknown }) {
    throw err
  },
} as never

type Declared = Partial<CollectionDeclaration> & Pick<CollectionDeclaration, 'fields'>

/** A folder with the migrations of a collection, and a database. */
async function open(t: TestContext, engine: Dialect) {
  const url = await createDatabaseUrl(t, engine, { isMigrated: true })
  const folder = temporaryFolder(t)
  let feature: Feature
  let db: Database
  const database = () => ({ ...openOptions({ url, migrations: [] }), poolSize: 1 })
  const service = {
    folder,
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
      db = (await openDatabase(openOptions({ url, migrations }))).db
    },

    async apply(declared: Declared): Promise<void> {
      await service.write(declared)
      await service.migrate()
    },

    async insert(values: Record<string, unknown>): Promise<void> {
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
      const names = [...stored.map(([name]) => name), 'created_at', 'updated_at']
      const sql = `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join()}) VALUES (${names.map((_, i) => `$${i + 1}`).join()})`
      await db.write({ sql, params: [...stored.map(([, value]) => value), at, at] })
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
  t.after(() => db?.close())
  return service
}

function declare(migrations: string, declared: Declared): Feature {
  return collection({ name: 'things', rules: { read: everybody }, ...declared, migrations } as never)
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
      [{ cost: decimal({ scale: 0 }) }, /the decimals of "cost" cannot be fewer/],
      [{ cost: integer() }, /"cost" cannot become integer, because it is decimal/],
      [{ tags: list(text({ max: 3 })) }, /there are 1 texts of "tags" that are longer than 3/],
      [{ tags: list(text({ max: 40 }), { max: 1 }) }, /there are 1 lists of "tags" with more than 1 items/],
      [{ tags: list(integer()) }, /"tags" cannot become list of integer/],
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
  })

  test('lose nothing and lead to the tables of a new database, whatever is edited', async (t) => {
    for (let seed = 1; seed <= amount({ full: 200, otherwise: 20 }); seed++) {
      await t.test(`as in the edits of ${seed}`, (t) => edit(t, engine, createRandom(seed)))
    }
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

const moduleText = `import { collection, everybody, integer, text } from 'latchkey/collections'
export default collection({ name: 'things', fields: { name: text() }, rules: { read: everybody } })
`

/** A field of the random edits. */
interface Spec {
  kind: 'text' | 'choice' | 'integer' | 'decimal' | 'boolean' | 'list' | 'user'
  max: number
  scale: number
  values: string[]
  optional: boolean
  unique: boolean
  /** It was added by the edits that are to be written. */
  isNew: boolean
  options: { was?: string; backfill?: unknown; default?: unknown }
}

interface Draft {
  fields: Map<string, Spec>
  sort: string[]
  gone: string[]
  /** What each row must have. */
  rows: Record<string, unknown>[]
}

const kinds = ['text', 'text', 'choice', 'integer', 'decimal', 'boolean', 'list', 'user'] as const

function fieldOf({ kind, max, scale, values, optional, unique, options }: Spec): FieldDefinition {
  const all = { ...options, ...(optional && { optional }), ...(unique && { unique }) } as object
  if (kind === 'text') return text({ ...all, max })
  if (kind === 'choice') return choice(values as [string], all)
  if (kind === 'integer') return integer({ ...all, max })
  if (kind === 'decimal') return decimal({ ...all, scale })
  if (kind === 'boolean') return boolean(all)
  if (kind === 'list') return list(text({ max }), options)
  return belongsTo(users, { ...all, onDelete: 'clear' })
}

function randomValue({ kind, max, scale, values, optional, unique }: Spec, random: Random): unknown {
  if (kind !== 'list' && optional && random.chance(0.3)) return null
  const word = () => random.pick(['Ä', 'b', "c'd", 'Efgh', 'Ijklmn']).slice(0, max)
  if (kind === 'text') return unique ? `${random.below(1e9)}`.slice(0, max) : word()
  if (kind === 'choice') return random.pick(values)
  if (kind === 'integer') return random.below(max + 1)
  if (kind === 'decimal') return random.below(1000) / 10 ** scale
  if (kind === 'boolean') return random.chance(0.5)
  return kind === 'list' ? Array.from({ length: random.below(3) }, word) : 1
}

let names = 0

function specOf(random: Random): Spec {
  const [kind, optional] = [random.pick(kinds), random.chance(0.6)]
  return {
    kind,
    max: 6,
    scale: 1,
    values: ['a', 'b', 'c'],
    optional: optional || kind === 'user',
    unique: false,
    isNew: true,
    options: {},
  }
}

const declaredAs = ({ fields, sort, gone }: Draft): Declared => ({
  fields: Object.fromEntries([...fields].map(([name, spec]) => [name, fieldOf(spec)])),
  sort,
  gone,
})

/** Fills what does not fit. Returns whether the edit is to be refused instead. */
function fit(
  draft: Draft,
  name: string,
  spec: Spec,
  isMisfit: (value: unknown) => boolean,
  filling?: unknown,
): boolean {
  if (filling !== undefined) spec.options.backfill = filling
  const misfits = draft.rows.filter((row) => isMisfit(row[name]))
  if (filling !== undefined) for (const row of misfits) row[name] = filling
  return filling === undefined && misfits.length > 0
}

/** Changes the draft. Returns whether that is to be refused. */
function editOnce(draft: Draft, random: Random): boolean {
  const { fields, rows } = draft
  const all = [...fields]
  const [name, spec] = random.pick(all)
  const isFilled = random.chance(0.5)
  const edit = random.pick([
    'add',
    'add',
    'rename',
    'rename',
    'drop',
    'lose',
    'shorten',
    'choice',
    'require',
    'scale',
    'sort',
    'sort',
    'order',
    'widen',
    'unique',
  ])
  const isText = spec.kind === 'text'
  if (edit === 'add') {
    const added = specOf(random)
    const [initial, of] = [randomValue({ ...added, optional: false }, random), `field_${names++}`]
    const isGiven = added.kind !== 'user' && (!added.optional || random.chance(0.3))
    if (isGiven) added.options = { [added.kind === 'list' ? 'backfill' : 'default']: initial }
    fields.set(of, added)
    for (const row of rows) row[of] = isGiven ? initial : added.kind === 'list' ? [] : null
  } else if (edit === 'rename' && spec.options.was === undefined) {
    const to = `field_${names++}`
    const renamed = all.map(([each, of]): [string, Spec] =>
      each === name ? [to, { ...of, options: { ...of.options, was: name } }] : [each, of],
    )
    draft.fields = new Map(renamed)
    draft.sort = draft.sort.map((each) => (each === name ? to : each))
    for (const row of rows) {
      row[to] = row[name]
      delete row[name]
    }
  } else if ((edit === 'drop' || edit === 'lose') && all.length > 2 && !spec.isNew && !spec.options.was) {
    fields.delete(name)
    draft.sort = draft.sort.filter((each) => each !== name)
    if (edit === 'drop') draft.gone = [...draft.gone, name]
    for (const row of rows) delete row[name]
    return edit === 'lose'
  } else if (edit === 'shorten' && (isText || spec.kind === 'list') && !spec.unique && !spec.isNew) {
    spec.max = Math.max(1, spec.max - 2)
    const isLong = (value: unknown) => typeof value === 'string' && value.length > spec.max
    if (isText) return fit(draft, name, spec, isLong, isFilled ? 'f' : undefined)
    return fit(draft, name, spec, (value) => (value as string[]).some(isLong), isFilled ? ['f'] : undefined)
  } else if (edit === 'choice' && spec.kind === 'choice' && spec.values.length > 1 && !spec.isNew) {
    const removed = spec.values.pop()
    return fit(draft, name, spec, (value) => value === removed, isFilled ? 'a' : undefined)
  } else if (edit === 'require' && spec.optional && !['user', 'list'].includes(spec.kind) && !spec.unique) {
    spec.optional = false
    const filling = { text: 'f', choice: 'a', integer: 1, decimal: 0.5, boolean: false }[spec.kind as 'text']
    return fit(draft, name, spec, (value) => value === null, isFilled ? filling : undefined)
  } else if (edit === 'scale' && spec.kind === 'decimal') spec.scale += 1
  else if (edit === 'widen' && isText) spec.max += 1
  else if (edit === 'sort' && !['list', 'user'].includes(spec.kind)) {
    draft.sort = draft.sort.includes(name) ? draft.sort.filter((each) => each !== name) : [...draft.sort, name]
  } else if (edit === 'order') draft.fields = new Map(all.reverse())
  else if (edit === 'unique' && isText) {
    spec.unique = !spec.unique
    const values = rows.map((row) => row[name]).filter((value) => value !== null)
    return spec.unique && new Set(values).size < values.length
  }
  return false
}

async function edit(t: TestContext, engine: Dialect, random: Random): Promise<void> {
  const service = await open(t, engine)
  const fields = Array.from({ length: 3 }, (): [string, Spec] => [`field_${names++}`, specOf(random)])
  let draft: Draft = { fields: new Map(fields), sort: [], gone: [], rows: [] }
  await service.apply(declaredAs(draft))
  const user = `INSERT INTO users (email, password_hash, created_at, updated_at) VALUES ('a@example.com', '', '${at}', '${at}')`
  await service.db().write({ sql: user })
  for (let step = 0; step < 6; step++) {
    for (let i = random.below(4); i > 0; i--) {
      const row = Object.fromEntries([...draft.fields].map(([name, spec]) => [name, randomValue(spec, random)]))
      draft.rows.push(row)
      await service.insert(row)
    }
    const next = structuredClone(draft)
    // A former name that is no longer needed may stay, but is of no use.
    for (const spec of next.fields.values()) {
      const { was } = spec.options
      spec.options = was !== undefined && random.chance(0.5) ? { was } : {}
      spec.isNew = false
    }
    let isRefused = false
    for (let edits = 1 + random.below(2); edits > 0 && !isRefused; edits--) isRefused = editOnce(next, random)
    if (isRefused) await refuses(() => service.write(declaredAs(next)))
    else {
      await service.apply(declaredAs(next))
      draft = next
    }
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

const inOrder = (row: Record<string, unknown>, names: Iterable<string>) =>
  Object.fromEntries([...names].filter((name) => name in row).map((name) => [name, row[name]]))
