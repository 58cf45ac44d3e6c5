/** Looks at a SQLite file without changing anything: neither its mode nor its -wal. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { AppliedMigration } from '../migrations.ts'

export interface SqliteState {
  /** The folder, or the next one above it that exists. */
  folder: string
  isFolderWritable: boolean
  /** Undefined if the file system does not tell. */
  freeBytes: number | undefined
  /** Undefined if there is no file yet. */
  file: { bytes: number; isPrivate: boolean; isWritable: boolean } | undefined
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
    file: file && { bytes: file.size, isPrivate: (file.mode & 0o077) === 0, isWritable: isWritable(path) },
    ...(file && file.size > 0 ? readApplied(path) : { applied: undefined, problem: undefined }),
  }
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
  // A reader of a file in WAL mode creates its -wal and -shm. They exist while the service runs; otherwise the file is read
  // as one that nobody changes, which needs neither.
  const isInUse = existsSync(`${path}-wal`) && existsSync(`${path}-shm`)
  const url = pathToFileURL(path)
  if (!isInUse) url.searchParams.set('immutable', '1')
  try {
    const db = new DatabaseSync(url, { readOnly: true, timeout: 1000 })
    try {
      const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'").get()
      const applied = table && db.prepare('SELECT name, checksum FROM schema_migrations ORDER BY name').all()
      // The columns are those of the statement.
      return { applied: applied as unknown as AppliedMigration[] | undefined, problem: undefined }
    } finally {
      db.close()
    }
  } catch (error) {
    return { applied: undefined, problem: (error as Error).message }
  }
}
