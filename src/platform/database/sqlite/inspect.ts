/** Looks at a SQLite file without changing anything: neither its mode nor its -wal. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { AppliedMigration } from '../migrations.ts'
import type { TableQuestion, TableState } from '../table-state.ts'

export interface SqliteState {
  /** The folder, or the next one above it that exists. */
  folder: string
  isFolderWritable: boolean
  /** Undefined if the file system does not tell. */
  freeBytes: number | undefined
  /** Undefined if there is no file yet. */
  file: { isFolder: boolean; bytes: number; isPrivate: boolean; isWritable: boolean; names: number } | undefined
  /** Undefined in a new database. */
  applied: readonly AppliedMigration[] | undefined
  /** Why the file cannot be read. */
  problem: string | undefined
}

export async function inspectSqlite(path: string): Promise<SqliteState> {
  const folder = findFolder(dirname(path))
  const file = statSync(path, { throwIfNoEntry: false })
  return {
    folder,
    isFolderWritable: isWritable(folder),
    freeBytes: await findFreeBytes(folder),
    file: file && {
      isFolder: file.isDirectory(),
      bytes: file.size,
      isPrivate: (file.mode & 0o077) === 0,
      isWritable: isWritable(path),
      names: file.nlink,
    },
    ...(file?.isFile() && file.size > 0 ? readApplied(path) : { applied: undefined, problem: undefined }),
  }
}

export interface FolderState {
  /** The path itself, or the next folder above it that exists. */
  folder: string
  isFolder: boolean
  isWritable: boolean
  /** Undefined if the file system does not tell. */
  freeBytes: number | undefined
}

export async function inspectFolder(path: string): Promise<FolderState> {
  const folder = findFolder(path)
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
  return { folder, isFolder, isWritable: isWritable(folder), freeBytes: await findFreeBytes(folder) }
}

function findFolder(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : findFolder(dirname(folder))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

export async function findFreeBytes(path: string): Promise<number | undefined> {
  try {
    const { blocks, bavail, bsize } = await statfs(path)
    // Some file systems report no blocks.
    return blocks > 0 ? bavail * bsize : undefined
  } catch {
    return undefined
  }
}

function readApplied(path: string): Pick<SqliteState, 'applied' | 'problem'> {
  try {
    const sql = 'SELECT name, checksum FROM schema_migrations ORDER BY name'
    return { applied: readTable<AppliedMigration>(path, { table: 'schema_migrations', sql }), problem: undefined }
  } catch (error) {
    return { applied: undefined, problem: (error as Error).message }
  }
}

/** Throws if the file cannot be read. */
export function inspectSqliteTable<Row extends object>(path: string, question: TableQuestion): TableState<Row> {
  const databaseBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return { rows: databaseBytes > 0 ? readTable<Row>(path, question) : undefined, databaseBytes }
}

/** Returns undefined if there is no such table. */
function readTable<Row extends object>(path: string, { table, sql }: TableQuestion): Row[] | undefined {
  // A reader of a file in WAL mode creates its -wal and -shm. They exist while the service runs; otherwise the file is read
  // as one that nobody changes, which needs neither.
  const isInUse = existsSync(`${path}-wal`) && existsSync(`${path}-shm`)
  const url = pathToFileURL(path)
  if (!isInUse) url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true, timeout: 1000 })
  try {
    const found = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table)
    // The columns are those of the statement.
    return found && (db.prepare(sql).all() as unknown as Row[])
  } finally {
    db.close()
  }
}
