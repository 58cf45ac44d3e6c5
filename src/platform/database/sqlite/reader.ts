/** Short reads on the event loop. Reads of one turn share a snapshot. */
import { createTickBatcher } from '../../../core/tick-batcher.ts'
import type { Observe } from '../database.ts'
import { fromSqliteError, type SqliteConnection } from './connection.ts'
import type { SqliteFaults } from './faults.ts'

export interface SqliteReaderOptions {
  connection: SqliteConnection
  faults: SqliteFaults
  observe: Observe
  /** Throws once the database is closed or broken. */
  requireOpen(): void
}

export interface SqliteReader {
  read<T>(query: () => T): Promise<T>
  /** Makes the next read see everything committed so far. */
  leaveSnapshot(): void
  /** Waits for scheduled reads. */
  close(): Promise<void>
}

export function createSqliteReader({ connection, faults, observe, requireOpen }: SqliteReaderOptions): SqliteReader {
  const readTogether = createTickBatcher(process.nextTick)

  /**
   * Reads of one turn of the event loop share a transaction, because its locks are system calls that under load cost as
   * much as the read. It ends before a write is acknowledged, so that a client always reads its own writes.
   */
  function enterSnapshot(): void {
    if (connection.isInTransaction()) return
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

    leaveSnapshot,

    async close() {
      await new Promise<void>((resolve) => process.nextTick(resolve))
      leaveSnapshot()
      connection.close()
    },
  }
}
