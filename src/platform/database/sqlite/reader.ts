/** Short reads on the event loop. Reads of one turn share a snapshot. */
import { createTickBatcher } from '../../../core/tick-batcher.ts'
import type { Observe } from '../database.ts'
import { fromSqliteError, type SqliteConnection } from './connection.ts'
import type { SqliteFaults } from './faults.ts'

export interface SqliteReaderOptions {
  connection: SqliteConnection
  /** Counts the commits of this process; see threads.ts. */
  commits: SharedArrayBuffer
  faults: SqliteFaults
  observe: Observe
  /** Throws once the database is closed or broken. */
  requireOpen(): void
}

export interface SqliteReader {
  read<T>(query: () => T): Promise<T>
  /** Waits for scheduled reads. */
  close(): Promise<void>
}

export function createSqliteReader(options: SqliteReaderOptions): SqliteReader {
  const { connection, faults, observe, requireOpen } = options
  const commits = new Int32Array(options.commits)
  let seenCommits = 0
  const readTogether = createTickBatcher(process.nextTick)

  /**
   * Reads of one turn of the event loop share a transaction, because its locks are system calls that under load cost as
   * much as the read. It ends early if any thread has committed since, so that a client always reads its own writes.
   */
  function enterSnapshot(): void {
    const latest = Atomics.load(commits, 0)
    if (connection.isInTransaction()) {
      if (latest === seenCommits) return
      leaveSnapshot()
    }
    seenCommits = latest
    connection.run('BEGIN')
    setImmediate(leaveSnapshot)
  }

  function leaveSnapshot(): void {
    if (!connection.isOpen() || !connection.isInTransaction()) return
    try {
      connection.run('COMMIT')
    } catch (error) {
      // COMMIT repeats the error of a failed read, which has been rejected already.
      faults.note(fromSqliteError(error))
      if (connection.isInTransaction()) connection.run('ROLLBACK')
    }
  }

  return {
    read(query) {
      return new Promise((resolve, reject) => {
        requireOpen()
        const start = performance.now()
        readTogether(() => {
          try {
            enterSnapshot()
            resolve(query())
          } catch (error) {
            reject(faults.note(fromSqliteError(error)))
          } finally {
            observe('read', performance.now() - start)
          }
        })
      })
    },

    async close() {
      await new Promise<void>((resolve) => process.nextTick(resolve))
      leaveSnapshot()
      connection.close()
    },
  }
}
