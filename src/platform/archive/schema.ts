/** Which tables belong to the service: those that its migrations make. Others may share the database, and are let alone. */
import { DatabaseSync } from 'node:sqlite'
import type { Dialect } from '../database/database.ts'
import {
  type AppliedMigration as AppliedName,
  type DeclaredSchema,
  findPending,
  type Migration,
  readMigrations,
} from '../database/migrations.ts'
import { type AppliedMigration, badArchive } from './content.ts'

export interface AppliedRow extends AppliedName {
  applied_at: string
}

/** Those of the program that the database has. Migrations of extensions that are no longer configured are left out. */
export function knownMigrations(
  { migrations }: DeclaredSchema,
  dialect: Dialect,
  applied: readonly AppliedRow[],
): AppliedMigration[] {
  const own = readMigrations(migrations, dialect)
  findPending(own, applied)
  const other = checksumsOf(readMigrations(migrations, dialect === 'sqlite' ? 'postgres' : 'sqlite'))
  const known = new Set(own.map(({ name }) => name))
  return applied
    .filter(({ name }) => known.has(name))
    .map(({ name, checksum, applied_at }) => ({
      name,
      appliedAt: applied_at,
      checksums:
        dialect === 'sqlite'
          ? { sqlite: checksum, postgres: other.get(name) ?? '' }
          : { sqlite: other.get(name) ?? '', postgres: checksum },
    }))
}

/** The program's migrations that make the schema of an archive. Throws if they are not the ones that made it. */
export function migrationsOf(
  { migrations }: DeclaredSchema,
  dialect: Dialect,
  archived: readonly AppliedMigration[],
): Migration[] {
  const own = readMigrations(migrations, dialect)
  const known = new Map(own.map((migration) => [migration.name, migration]))
  for (const { name, checksums } of archived) {
    const migration = known.get(name)
    if (!migration) throw unknownMigration(name)
    const checksum = checksums[dialect]
    if (checksum && checksum !== migration.checksum) {
      throw badArchive(
        `the archive was made with another text of migration ${name}: use the version of Latchkey, or of the extension, that wrote it`,
      )
    }
  }
  const names = new Set(archived.map(({ name }) => name))
  return own.filter(({ name }) => names.has(name))
}

function unknownMigration(name: string) {
  const at = name.indexOf('/')
  const advice =
    at > 0
      ? `name the extension ${name.slice(0, at)} in LATCHKEY_EXTENSIONS`
      : 'use the version of Latchkey that wrote it, or a newer one'
  return badArchive(`the archive has migration ${name}, which is unknown here: ${advice}`)
}

export interface SchemaTable {
  name: string
  /** How many rows the migrations themselves put in. */
  rows: number
}

/** By the checksums of the migrations: applying them all would hold up a service that backs itself up. */
const knownTables = new Map<string, readonly SchemaTable[]>()

/** The tables that these migrations make, found by applying them to an empty database in memory. */
export function tablesOf({ migrations }: DeclaredSchema, names: readonly string[]): readonly SchemaTable[] {
  const wanted = new Set(names)
  const applied = readMigrations(migrations, 'sqlite').filter(({ name }) => wanted.has(name))
  const key = applied.map(({ checksum }) => checksum).join()
  const tables = knownTables.get(key) ?? makeTables(applied)
  knownTables.set(key, tables)
  return tables
}

function makeTables(migrations: readonly Migration[]): SchemaTable[] {
  const db = new DatabaseSync(':memory:')
  try {
    for (const { sql } of migrations) db.exec(sql)
    return listTables(db).map((name) => {
      const row = db.prepare(`SELECT count(*) AS rows FROM ${quote(name)}`).get()
      return { name, rows: Number(row?.rows) }
    })
  } finally {
    db.close()
  }
}

/** Ordinary tables; search indexes are made again from what they index. */
export function listTables(db: DatabaseSync): string[] {
  const rows = db.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
  return rows
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith('sqlite_') && name !== migrationTable)
}

export const migrationTable = 'schema_migrations'

/** A name in SQL, of either engine. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function checksumsOf(migrations: readonly Migration[]): Map<string, string> {
  return new Map(migrations.map(({ name, checksum }) => [name, checksum]))
}
