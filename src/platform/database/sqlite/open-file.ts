/** Opens the database file for reading; creates it if it does not exist. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { openSqliteConnection, type SqliteConnection } from './connection.ts'
import { identifyOpened, identityOf, toIdentity } from './file-watch.ts'

export interface OpenedFile {
  connection: SqliteConnection
  /** Device and inode of the opened files, by path. */
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
  makePrivate(path)
  return { connection, identities }
}

/** Not by recursive mkdir, which loops for ever where a folder cannot be created, as in /proc. */
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
 * Only the owner may read the file, because it holds password hashes. SQLite gives the -wal and -shm the same mode. Returns
 * the file's identity.
 */
function createFile(path: string): string {
  try {
    // An existing file is not opened here: closing it again would drop the locks of this process's other connections,
    // and another process could then remove the -wal.
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (found) return toIdentity(found)
    createFolder(dirname(path))
    const descriptor = openSync(path, 'a', 0o600)
    const identity = identityOf(descriptor)
    closeSync(descriptor)
    return identity
  } catch (error) {
    throw cannotOpen(path, (error as NodeJS.ErrnoException).code ?? String(error), error)
  }
}

/** Called once the file is known to be a database, so that a mistyped path does not change the mode of another file. */
function makePrivate(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    if ((mode & 0o077) !== 0) chmodSync(file, 0o600)
  }
}

function openReader(path: string): SqliteConnection {
  try {
    const connection = openSqliteConnection(path, { queryOnly: true, busyTimeoutMs: 1000 })
    // The first read creates and opens the -wal.
    connection.get('PRAGMA user_version', [])
    return connection
  } catch (error) {
    throw cannotOpen(path, (error as Error).message, error)
  }
}

function cannotOpen(path: string, reason: string, cause: unknown): FatalError {
  return new FatalError(`cannot open the database file ${path}: ${reason}`, exitCodes.cannotCreate, { cause })
}
