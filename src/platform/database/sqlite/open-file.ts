/** Opens the database file for reading, and makes it first where there is none. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { openSqliteConnection, type SqliteConnection } from './connection.ts'
import { identifyOpened, identityOf } from './file-watch.ts'

export interface OpenedFile {
  connection: SqliteConnection
  /** Of the files that were opened, by their paths. */
  identities: ReadonlyMap<string, string>
}

export function openSqliteFile(path: string): OpenedFile {
  const created = createFile(path)
  const connection = openReader(path)
  const identities = identifyOpened(path, created)
  if (!identities) {
    connection.close()
    throw cannotOpen(path, 'it was replaced while it was being opened', undefined)
  }
  closeToOthers(path)
  return { connection, identities }
}

/** Folder by folder: where one cannot be made, as in /proc, mkdir's own recursion tries for ever. */
function createFolder(folder: string): void {
  if (existsSync(folder)) return
  createFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * The file holds password hashes: nobody but its owner may read it. SQLite gives its -wal and -shm the same mode. Returns
 * the identity of the file.
 */
function createFile(path: string): string {
  try {
    createFolder(dirname(path))
    const descriptor = openSync(path, 'a', 0o600)
    const identity = identityOf(descriptor)
    closeSync(descriptor)
    return identity
  } catch (error) {
    throw cannotOpen(path, (error as NodeJS.ErrnoException).code ?? String(error), error)
  }
}

/** Once it is known to be a database: whoever mistypes the path must not find the modes of another file changed. */
function closeToOthers(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    if ((mode & 0o077) !== 0) chmodSync(file, 0o600)
  }
}

function openReader(path: string): SqliteConnection {
  try {
    const connection = openSqliteConnection(path, { queryOnly: true, busyTimeoutMs: 1000 })
    // The first read makes and opens the -wal.
    connection.get('PRAGMA user_version', [])
    return connection
  } catch (error) {
    throw cannotOpen(path, (error as Error).message, error)
  }
}

function cannotOpen(path: string, reason: string, cause: unknown): FatalError {
  return new FatalError(`cannot open the database file ${path}: ${reason}`, exitCodes.cannotCreate, { cause })
}
