/**
 * One moment of a SQLite file, read in a transaction on a connection of its own. Writers go on; the -wal grows until the
 * end, and is then written back here rather than by the next commit of the service.
 */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { isCounted } from '../database/counted-lists.ts'
import { countTables } from '../database/maintained-counts.ts'
import type { DeclaredSchema } from '../database/migrations.ts'
import { type Cell, type Column, type Content, inOrder, type Kind, type Row, type Table } from './content.ts'
import { type AppliedRow, knownMigrations, listTables, migrationTable, quote, tablesOf } from './schema.ts'

export interface Snapshot extends Content {
  /** Tables in the database that no migration of the program makes. */
  readonly leftOut: readonly string[]
  close(): Promise<void>
}

const rowsAtOnce = 500

export async function openSqliteSnapshot(path: string, schema: DeclaredSchema): Promise<Snapshot> {
  if (!existsSync(path)) throw new FatalError(`there is no database at ${path}`, exitCodes.noInput)
  const db = new DatabaseSync(path, { timeout: 10_000, readBigInts: true })
  try {
    db.exec('PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; BEGIN')
    const applied = readApplied(db)
    const migrations = knownMigrations(schema, 'sqlite', applied)
    const tables = tablesOf(
      schema,
      migrations.map(({ name }) => name),
    ).map(({ name }) => describeTable(db, name))
    const names = new Set(tables.map(({ name }) => name))
    return {
      dialect: 'sqlite',
      migrations,
      countedLists: await listCounted(db, schema),
      tables,
      leftOut: listTables(db).filter((name) => !names.has(name)),
      estimatedRows: tables.reduce((sum, { name }) => sum + estimateRows(db, name), 0),
      rows: (table) => readSqliteRows(db, table),
      async close() {
        db.exec('COMMIT; PRAGMA query_only = OFF; PRAGMA wal_checkpoint(PASSIVE)')
        db.close()
      },
    }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Rows in the order of an integer key, which makes them quick to insert; in any order otherwise. */
export async function* readSqliteRows(db: DatabaseSync, table: Table): AsyncGenerator<readonly Row[]> {
  const statement = db.prepare(`SELECT ${table.columns.map(({ name }) => quote(name)).join(', ')} ${fromOf(db, table)}`)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  const booleans = table.columns.flatMap(({ kind }, i) => (kind === 'boolean' ? [i] : []))
  let rows: Cell[][] = []
  for (const found of statement.iterate() as Iterable<unknown> as Iterable<Cell[]>) {
    for (const i of booleans) if (found[i] === 0n || found[i] === 1n) found[i] = found[i] === 1n
    if (rows.push(found) === rowsAtOnce) {
      yield rows
      rows = []
    }
  }
  if (rows.length > 0) yield rows
}

function fromOf(db: DatabaseSync, { name }: Table): string {
  if (name === countTables.counts) return `FROM ${countTables.view} WHERE live <> 0`
  const keys = tableInfo(db, name).filter(({ pk }) => Number(pk) > 0)
  const [key] = keys
  return `FROM ${quote(name)}${keys.length === 1 && key?.type === 'INTEGER' ? ` ORDER BY ${quote(key.name)}` : ''}`
}

export function describeTable(db: DatabaseSync, name: string): Table {
  const info = tableInfo(db, name)
  const columns = info.map((column): Column => ({ name: column.name, kind: kindOf(column.type) }))
  return { name, columns: inOrder(columns), counter: counterOf(db, name, info) }
}

interface ColumnInfo {
  name: string
  type: string
  pk: number | bigint
}

function tableInfo(db: DatabaseSync, table: string): ColumnInfo[] {
  return db.prepare('SELECT name, type, pk FROM pragma_table_info(?)').all(table) as unknown as ColumnInfo[]
}

/** By the declared type, as SQLite derives affinity from it: https://sqlite.org/datatype3.html#determination_of_column_affinity */
function kindOf(type: string): Kind {
  const upper = type.toUpperCase()
  if (upper === 'BOOLEAN') return 'boolean'
  if (upper.includes('INT')) return 'integer'
  if (upper.includes('CHAR') || upper.includes('CLOB') || upper.includes('TEXT')) return 'text'
  if (upper === 'BLOB') return 'bytes'
  return upper.includes('REAL') || upper.includes('FLOA') || upper.includes('DOUB') ? 'real' : 'other'
}

/** Tables declared AUTOINCREMENT have a row in sqlite_sequence once they have had a row. */
function counterOf(db: DatabaseSync, table: string, info: readonly ColumnInfo[]): Table['counter'] {
  const created = db.prepare("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?").get(table)
  if (!String(created?.sql).toUpperCase().includes('AUTOINCREMENT')) return undefined
  const column = info.find(({ pk }) => Number(pk) > 0)?.name
  if (column === undefined) return undefined
  const row = db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table)
  return { column, last: String(row?.seq ?? 0) }
}

function readApplied(db: DatabaseSync): AppliedRow[] {
  const isThere = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(migrationTable)
  if (!isThere) throw new FatalError('the database has no tables yet: there is nothing to copy', exitCodes.badData)
  const rows = db.prepare(`SELECT name, checksum, applied_at FROM ${migrationTable} ORDER BY name`)
  return rows.all() as unknown as AppliedRow[]
}

async function listCounted(db: DatabaseSync, { countedLists }: DeclaredSchema): Promise<string[]> {
  const query = async <Found extends object>(sql: string, params: string[] = []) =>
    db.prepare(sql.replace('$1', '?')).all(...params) as Found[]
  const counted: string[] = []
  for (const list of countedLists) if (await isCounted({ dialect: 'sqlite', query }, list)) counted.push(list)
  return counted
}

/** The largest row id, which SQLite finds at once; tables without one are small. */
function estimateRows(db: DatabaseSync, table: string): number {
  try {
    return Number(db.prepare(`SELECT max(rowid) AS last FROM ${quote(table)}`).get()?.last ?? 0)
  } catch {
    return 0
  }
}
