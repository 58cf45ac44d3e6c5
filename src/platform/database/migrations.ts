/**
 * Brings a database to the schema of this program. All pending files are applied in one transaction, under a lock that
 * the engine provides: of two processes that start at once, one applies them and the other finds them applied.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'

export interface Migration {
  name: string
  sql: string
  checksum: string
  /** The table that it writes anew, row by row. A line of the file tells: "-- rewrites: products". */
  rewrites?: string | undefined
}

/** A transaction that no other process's migrations can overlap. */
export interface MigrationTransaction {
  query<Row extends object>(sql: string, params?: string[]): Promise<Row[]>
  /** Runs a text of any number of statements. */
  script(sql: string): Promise<void>
  /** Comes before the migration. Throws where it would fail. */
  prepare?(migration: Migration): Promise<void>
}

interface Applied {
  name: string
  checksum: string
}

const namePattern = /^(\d{4})-[a-z0-9-]+\.sql$/
const rewritesPattern = /^-- rewrites: (\w+)$/m

/** The migrations in `directory`, in their order. */
export function readMigrations(directory: string): Migration[] {
  const names = readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const numbers = new Set<string>()
  return names.map((name) => {
    const number = namePattern.exec(name)?.[1]
    if (number === undefined) throw badMigration(`migration ${name} is not named NNNN-name.sql`)
    if (numbers.has(number)) throw badMigration(`two migrations have the number ${number}`)
    numbers.add(number)
    // Line ends may change on the way through version control; the statements do not.
    const sql = readFileSync(join(directory, name), 'utf8').replaceAll('\r\n', '\n')
    const rewrites = rewritesPattern.exec(sql)?.[1]
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex'), rewrites }
  })
}

/** Applies what is missing and answers the names of what it applied. */
export async function applyMigrations(
  transaction: MigrationTransaction,
  migrations: Migration[],
  now: string,
): Promise<string[]> {
  await transaction.script(
    'CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at TEXT NOT NULL)',
  )
  const applied = await transaction.query<Applied>('SELECT name, checksum FROM schema_migrations ORDER BY name')
  const pending = findPending(migrations, applied)
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

function findPending(migrations: Migration[], applied: Applied[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name, checksum } of applied) {
    const migration = known.get(name)
    if (!migration) {
      throw badMigration(`the database is newer than this program: it has migration ${name}, which is unknown here`)
    }
    if (migration.checksum !== checksum) {
      throw badMigration(`migration ${name} was edited after it had been applied; restore it and add a new one instead`)
    }
  }
  const done = new Set(applied.map(({ name }) => name))
  const last = applied.at(-1)?.name ?? ''
  const pending = migrations.filter(({ name }) => !done.has(name))
  const late = pending.find(({ name }) => name < last)
  if (late)
    throw badMigration(`migration ${late.name} comes before ${last}, which is applied already; give it a higher number`)
  return pending
}

function badMigration(message: string, cause?: unknown): FatalError {
  return new FatalError(message, exitCodes.badData, { cause })
}
