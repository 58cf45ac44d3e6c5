/** Builds a new SQLite file beside the one to fill, and renames it over that when it is complete. */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { countLists } from '../database/counted-lists.ts'
import { applyMigrations, readMigrations } from '../database/migrations.ts'
import { createPrivateFile } from '../database/sqlite/create-private-file.ts'
import { followLinks } from '../database/sqlite/follow-links.ts'
import { withSqliteMigrations } from '../database/sqlite/migrate.ts'
import { badArchive, type Cell, type Table } from './content.ts'
import { listTables, migrationsOf, migrationTable, quote, tablesOf } from './schema.ts'
import { withSqliteToItself } from './sqlite-exclusive.ts'
import { describeTable, readSqliteRows } from './sqlite-snapshot.ts'
import { requireEmpty, type Target, type TargetOptions } from './target.ts'

export async function openSqliteTarget(given: string, options: TargetOptions): Promise<Target> {
  const { schema, clock } = options
  // A rename over a link would replace the link, and leave the file that it leads to as it was.
  const path = followLinks(given)
  requireReplaceable(path, options)
  removeLeftovers(path)
  const temporary = `${path}.restoring-${process.pid}`
  let db: DatabaseSync | undefined
  try {
    createPrivateFile(temporary)
    await makeSchema(temporary, options)
    db = openForLoading(temporary)
  } catch (error) {
    db?.close()
    removeDatabase(temporary)
    throw error
  }
  const connection = db
  const removed = removeForLoading(connection, options)

  return {
    dialect: 'sqlite',
    findTable: (name) => (removed.tables.has(name) ? describeTable(connection, name) : undefined),
    async load(table, batches) {
      const columns = table.columns.map(({ name }) => quote(name)).join(', ')
      const places = table.columns.map(() => '?').join(', ')
      const insert = connection.prepare(`INSERT INTO ${quote(table.name)} (${columns}) VALUES (${places})`)
      for await (const rows of batches) {
        for (const row of rows) insert.run(...row.map(toSqlite))
      }
    },
    async complete(tables) {
      for (const table of tables) setCounter(connection, table)
      for (const sql of removed.statements) connection.exec(sql)
      connection.exec('COMMIT')
      const [broken] = connection.prepare('PRAGMA foreign_key_check').all()
      if (broken)
        throw badArchive(`a row of table ${broken.table} refers to a row of ${broken.parent} that is not there`)
    },
    rows: (table) => readSqliteRows(connection, table),
    async commit() {
      connection.close()
      const applied = await withSqliteMigrations(temporary, async (transaction) => {
        const names = await applyMigrations(transaction, readMigrations(schema.migrations, 'sqlite'), clock.nowIso())
        await countLists(transaction, schema.countedLists)
        return names
      })
      flush(temporary)
      // Checked again, since loading may have taken long.
      withSqliteToItself(path, (old) => {
        if (old) requireEmpty(path, tablesWithRows(old, options), options.canReplace)
        renameSync(temporary, path)
      })
      flush(dirname(path))
      return { applied }
    },
    async discard() {
      if (connection.isOpen) connection.close()
      removeDatabase(temporary)
    },
  }
}

function requireReplaceable(path: string, options: TargetOptions): void {
  withSqliteToItself(path, (old) => {
    if (old) requireEmpty(path, tablesWithRows(old, options), options.canReplace)
  })
}

/** The tables that hold more than what the migrations put in. Rows that expire by themselves do not count. */
function tablesWithRows(db: DatabaseSync, { schema }: TargetOptions): string[] {
  const names = readMigrations(schema.migrations, 'sqlite').map(({ name }) => name)
  const fresh = new Map(tablesOf(schema, names).map(({ name, rows }) => [name, rows]))
  return listTables(db).filter((name) => {
    if (schema.expiringTables.includes(name)) return false
    const limit = (fresh.get(name) ?? 0) + 1
    return db.prepare(`SELECT 1 FROM ${quote(name)} LIMIT ${limit}`).all().length === limit
  })
}

async function makeSchema(path: string, options: TargetOptions): Promise<void> {
  const migrations = migrationsOf(options.schema, 'sqlite', options.migrations)
  await withSqliteMigrations(path, async (transaction) => {
    await applyMigrations(transaction, migrations, options.clock.nowIso())
    await countLists(transaction, options.countedLists)
    for (const { name, appliedAt } of options.migrations) {
      await transaction.query(`UPDATE ${migrationTable} SET applied_at = $1 WHERE name = $2`, [appliedAt, name])
    }
  })
}

/** Without a journal: a file that is not complete is thrown away. */
function openForLoading(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  db.exec(
    'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536',
  )
  return db
}

interface Removed {
  tables: ReadonlySet<string>
  /** Make indexes and triggers again. */
  statements: readonly string[]
}

/**
 * Empties the tables and removes what would slow loading down or change other tables. Triggers that keep a search index
 * stay: the index is made by them alone.
 */
function removeForLoading(db: DatabaseSync, { isProof }: TargetOptions): Removed {
  const tables = listTables(db)
  const virtual = new Set(
    db
      .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'")
      .all()
      .map(({ name }) => String(name)),
  )
  const removed = db
    .prepare("SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL")
    .all()
    .map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }))
    .filter(({ type, sql }) => type === 'index' || isProof || !wordsOf(sql).some((word) => virtual.has(word)))
  db.exec('BEGIN')
  for (const { type, name } of removed) db.exec(`DROP ${type} ${quote(name)}`)
  for (const name of tables) db.exec(`DELETE FROM ${quote(name)}`)
  return { tables: new Set(tables), statements: removed.map(({ sql }) => sql) }
}

function wordsOf(sql: string): string[] {
  return sql.split(/\W+/)
}

function setCounter(db: DatabaseSync, { name, counter }: Table): void {
  if (!counter) return
  db.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name)
  if (counter.last === '0') return
  db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, BigInt(counter.last))
}

/** node:sqlite binds every number as a float. */
function toSqlite(cell: Cell): SQLInputValue {
  if (typeof cell === 'number' && Number.isSafeInteger(cell) && !Object.is(cell, -0)) return BigInt(cell)
  return typeof cell === 'boolean' ? BigInt(cell) : cell
}

const suffixes = ['', '-wal', '-shm', '-journal']

function removeDatabase(path: string): void {
  for (const suffix of suffixes) rmSync(`${path}${suffix}`, { force: true })
}

/** Of restores that were killed. */
function removeLeftovers(path: string): void {
  if (!existsSync(dirname(path))) return
  const start = `${basename(path)}.restoring-`
  for (const name of readdirSync(dirname(path))) {
    const pid = Number(name.slice(start.length).split('-')[0])
    if (name.startsWith(start) && !isRunning(pid)) rmSync(join(dirname(path), name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
