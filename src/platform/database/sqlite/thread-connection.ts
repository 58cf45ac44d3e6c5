/** How the threads of a database open its file. */
import { openSqliteConnection, type SqliteConnection } from './connection.ts'
import { findIdentitySync } from './file-watch.ts'

export interface SqliteThreadData {
  path: string
  /** Device and inode of the files that the event loop has opened, by path. */
  identities: ReadonlyMap<string, string>
  maxWalBytes: number
}

/**
 * A thread may start long after the file was opened. If another file, or none, is at the path by then, SQLite would create
 * a new one there, and take the -wal and -shm of the open one for its own: it removes the first and clears the second, and
 * all connections of the process lose what they had not yet checkpointed.
 */
export function openInThread(
  { path, identities }: Pick<SqliteThreadData, 'path' | 'identities'>,
  options: { queryOnly: boolean; busyTimeoutMs: number },
): SqliteConnection {
  for (const [file, identity] of identities) {
    if (findIdentitySync(file) !== identity) throw new Error('the database file was removed or replaced')
  }
  return openSqliteConnection(path, { ...options, mustExist: true })
}
