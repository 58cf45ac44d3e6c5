/** Opens the database file for reading; creates it if it does not exist. */
import { chmodSync, statSync } from 'node:fs'
import { openSqliteConnection, type SqliteConnection } from './connection.ts'
import { createPrivateFile } from './create-private-file.ts'
import { findIdentitySync, identifyOpened } from './file-watch.ts'
import { requireOneName } from './one-name.ts'
import { cannotOpen } from './open-errors.ts'

export interface OpenedFile {
  connection: SqliteConnection
  /** Device and inode of the opened files, by path. */
  identities: ReadonlyMap<string, string>
}

export function openSqliteFile(path: string): OpenedFile {
  createPrivateFile(path)
  requireOneName(path)
  const created = findIdentitySync(path)
  const connection = openReader(path)
  const identities = identifyOpened(path, created)
  if (!identities) {
    connection.close()
    throw cannotOpen(path, 'it was replaced while it was being opened')
  }
  makePrivate(path)
  return { connection, identities }
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
    throw cannotOpen(path, error)
  }
}
