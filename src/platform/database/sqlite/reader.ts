/** Short reads, on the event loop. Those of one turn share a snapshot of the database. */
import { createTickBatcher } from '../../../core/tick-batcher.ts'
import type { Observe } from '../database.ts'
import { fromSqliteError, type SqliteConnection } from './connection.ts'
import type { SqliteFaults } from './faults.ts'

export interface SqliteReaderOptions {
  connection: SqliteConnection
  faults: SqliteFaults
  observe: Observe
  /** Throws where the database is not to be read any more. */
  requireOpen(): void
}

export interface SqliteReader {
  read<T>(query: () => T): Promise<T>
  /** What is read next sees all that is committed by now. */
  leaveSnapshot(): void
  /** Lets the reads that are due end. */
  close(): Promise<void>
}

export function createSqliteReader({ connection, faults, observe, requireOpen }: SqliteReaderOptions): SqliteReader {
  const readTogether = createTickBatcher(process.nextTick)

  /**
   * All reads of one turn of the event loop share a transaction: its locks are system calls, and under load they cost
   * as much as the read itself. It ends before a write is acknowledged, so whoever has written sees it.
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
      // It repeats the error of a read that failed, whose caller has been told.
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
