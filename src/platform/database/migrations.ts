/**
 * Migrates the schema. All pending files are applied in one transaction under a lock of the engine: of two processes that
 * start at once, one applies them and the other finds nothing pending.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Dialect } from './database.ts'

export interface Migration {
  name: string
  sql: string
  checksum: string
  /** The table that it rewrites, declared by a line such as "-- rewrites: products". */
  rewrites?: string | undefined
  /** Declared by a line "-- concurrently" above each. Only for PostgreSQL. */
  concurrentIndexes: readonly ConcurrentIndex[]
  /** Declared by a line "-- in steps" above each. Only for PostgreSQL. */
  steps: readonly SteppedUpdate[]
  /** Whose it is; the service's own where it is no feature's. */
  feature?: string | undefined
}

/** An index of a table that may be large, built while others write to it. */
export interface ConcurrentIndex {
  name: string
  table: string
  /** What follows CREATE INDEX IF NOT EXISTS. */
  definition: string
}

/** An update of a table that may be large, some rows at a time while others write to it. What is left, the migration updates. */
export interface SteppedUpdate {
  table: string
  set: string
  where: string
  /** Triggers that it does not fire. */
  without: readonly string[]
}

/** A transaction that excludes the migrations of other processes. */
export interface MigrationTransaction {
  readonly dialect: Dialect
  query<Row extends object>(sql: string, params?: string[]): Promise<Row[]>
  /** Runs any number of statements. */
  script(sql: string): Promise<void>
  /** Called before each migration. Throws if it could not succeed. */
  prepare?(migration: Migration): Promise<void>
  /** Called before the first migration, with the indexes of all. Those of tables that do not exist yet are left to them. */
  buildIndexes?(indexes: readonly ConcurrentIndex[]): Promise<void>
  /** Called after that. Those that cannot be run yet are left to the migration. */
  runSteps?(steps: readonly SteppedUpdate[]): Promise<void>
}

export interface AppliedMigration {
  name: string
  checksum: string
}

const namePattern = /^\d{4}-[a-z0-9-]+\.sql$/
const rewritesPattern = /^-- rewrites: (\w+)$/m
const stepsPattern = /^-- in steps(?:, without ([\w, ]+))?\nUPDATE "(\w+)" SET (.+)\nWHERE (.+);$/gm
const concurrentPattern = /^-- concurrently\nCREATE INDEX IF NOT EXISTS ((\w+) ON "?(\w+)"? .+);$/gm

/** What the service and its features declare about the database. */
export interface DeclaredSchema {
  migrations: readonly MigrationFolder[]
  /** Tables with maintained row counts. */
  countedLists: readonly string[]
  /** Tables whose rows are removed when they expire. */
  expiringTables: readonly string[]
  /** Those of them whose rows mean, until they expire, that a node runs. Only on PostgreSQL. */
  presenceTables?: readonly string[]
}

/** A folder with one subfolder of migrations per engine. */
export interface MigrationFolder {
  path: string
  /** The namespace of an extension, within which its migrations are numbered. Own features share the unnamed one. */
  space?: string
  /** Whose they are. */
  feature?: string
}

/** All migrations for an engine in order: own ones by number, then those of each extension. */
export function readMigrations(folders: readonly MigrationFolder[], dialect: Dialect): Migration[] {
  const own = folders.filter(({ space }) => space === undefined)
  const spaces = Map.groupBy(
    folders.filter(({ space }) => space !== undefined),
    ({ space }) => space,
  )
  return [own, ...spaces.values()].flatMap((group) => {
    const migrations = group.flatMap((folder) => readFolder(folder, dialect))
    requireUniqueNumbers(migrations)
    return migrations.sort((a, b) => (a.name < b.name ? -1 : 1))
  })
}

function readFolder({ path, space, feature }: MigrationFolder, dialect: Dialect): Migration[] {
  const directory = join(path, dialect)
  return listSqlFiles(directory).map((file) => {
    if (!namePattern.test(file)) throw badMigration(`migration ${file} is not named NNNN-name.sql`)
    // Version control may change line endings, which must not change the checksum.
    const sql = readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n')
    const name = space === undefined ? file : `${space}/${file}`
    const rewrites = rewritesPattern.exec(sql)?.[1]
    const checksum = createHash('sha256').update(sql).digest('hex')
    return {
      name,
      sql,
      checksum,
      rewrites,
      concurrentIndexes: readConcurrentIndexes(sql),
      steps: readSteps(sql),
      feature,
    }
  })
}

function readConcurrentIndexes(sql: string): ConcurrentIndex[] {
  return [...sql.matchAll(concurrentPattern)].map(([, definition = '', name = '', table = '']) => ({
    name,
    table,
    definition,
  }))
}

function readSteps(sql: string): SteppedUpdate[] {
  return [...sql.matchAll(stepsPattern)].map(([, without = '', table = '', set = '', where = '']) => ({
    table,
    set,
    where,
    without: without === '' ? [] : without.split(', '),
  }))
}

function listSqlFiles(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.sql'))
  } catch (error) {
    throw badMigration(`the migrations in ${directory} cannot be read: ${(error as Error).message}`, error)
  }
}

function requireUniqueNumbers(migrations: readonly Migration[]): void {
  const taken = new Map<string, Migration>()
  for (const migration of migrations) {
    const number = fileOf(migration.name).slice(0, 4)
    const other = taken.get(number)
    if (other) {
      throw badMigration(`two migrations have the number ${number}: ${describe(other)} and ${describe(migration)}`)
    }
    taken.set(number, migration)
  }
}

function describe({ name, feature }: Migration): string {
  return feature === undefined ? name : `${name} of ${feature}`
}

const spaceOf = (name: string) => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '')
const fileOf = (name: string) => name.slice(name.indexOf('/') + 1)

/**
 * Applies pending migrations. Returns their names. On a database that is in use, those of a space end before one that has work to
 * do ahead of its transaction, because that needs what they do.
 */
export async function applyMigrations(
  transaction: MigrationTransaction,
  migrations: Migration[],
  now: string,
): Promise<string[]> {
  await transaction.script(
    'CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)',
  )
  const applied = await transaction.query<AppliedMigration>(
    'SELECT name, checksum FROM schema_migrations ORDER BY name',
  )
  const all = findPending(migrations, applied)
  const pending = transaction.runSteps ? untilWorkAhead(all) : all
  await transaction.buildIndexes?.(pending.flatMap(({ concurrentIndexes }) => concurrentIndexes))
  await transaction.runSteps?.(pending.flatMap(({ steps }) => steps))
  for (const migration of pending) {
    const { name, sql, checksum } = migration
    await transaction.prepare?.(migration)
    try {
      await transaction.script(sql)
    } catch (error) {
      throw badMigration(`migration ${name} failed: ${(error as Error).message}`, error)
    }
    await transaction.query('INSERT INTO schema_migrations (name, checksum, applied_at) VALUES ($1, $2, $3)', [
      name,
      checksum,
      now,
    ])
  }
  return pending.map(({ name }) => name)
}

function untilWorkAhead(pending: Migration[]): Migration[] {
  const end = pending.findIndex(({ name, concurrentIndexes, steps }, i) => {
    const before = pending[i - 1]
    const follows = before !== undefined && spaceOf(name) !== '' && spaceOf(before.name) === spaceOf(name)
    return follows && (concurrentIndexes.length > 0 || steps.length > 0)
  })
  return end < 0 ? pending : pending.slice(0, end)
}

/** Throws if the database has migrations that do not match. */
export function findPending(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name, checksum } of applied) {
    const migration = known.get(name)
    if (!migration) {
      // An extension that is no longer configured leaves its tables behind, and may be configured again.
      if (spaceOf(name) !== '' && !migrations.some((each) => spaceOf(each.name) === spaceOf(name))) continue
      throw badMigration(`the database is newer than this program: it has migration ${name}, which is unknown here`)
    }
    if (migration.checksum !== checksum) {
      throw badMigration(`migration ${name} was edited after it had been applied; restore it and add a new one instead`)
    }
  }
  const done = new Set(applied.map(({ name }) => name))
  const pending = migrations.filter(({ name }) => !done.has(name))
  for (const { name } of pending) {
    const later = applied.find((each) => spaceOf(each.name) === spaceOf(name) && each.name > name)
    if (later) {
      throw badMigration(
        `migration ${name} comes before ${later.name}, which is applied already; give it a higher number`,
      )
    }
  }
  return pending
}

function badMigration(message: string, cause?: unknown): FatalError {
  return new FatalError(message, exitCodes.badData, { cause })
}
