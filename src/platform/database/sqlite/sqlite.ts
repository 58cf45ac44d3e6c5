/** The SQLite implementation of the database interface: short reads on the event loop, writes and scans on threads. */
import { serviceUnavailable } from '../../../core/app-error.ts'
import type { Log } from '../../log/logger.ts'
import { requireValues } from '../batch.ts'
import type { Database, Observe, Value } from '../database.ts'
import { createSqliteFaults } from './faults.ts'
import { watchSqliteFile } from './file-watch.ts'
import { openSqliteFile } from './open-file.ts'
import { createSqliteReader } from './reader.ts'
import { createSqliteScanner } from './scanner.ts'
import type { SqliteThreadData } from './thread-connection.ts'
import { type SqliteThreads, startSqliteThreads } from './threads.ts'
import { defaultMaxWalBytes } from './wal-limit.ts'
import { createSqliteWriter } from './writer.ts'

export interface SqliteOptions {
  path: string
  observe: Observe
  log: Pick<Log, 'error' | 'info'> | undefined
  /** Beyond this size the -wal is emptied, as soon as nobody reads from it. */
  maxWalBytes?: number
  /** Nothing can be written any more, and nothing is read. */
  onWriterDeath?: (error: Error) => void
  /** Called once the file is open. By default starts threads of its own. */
  connectThreads?: (file: SqliteThreadData) => SqliteThreads
}

export function openSqlite(options: SqliteOptions): Database {
  const { path, observe, log, maxWalBytes = defaultMaxWalBytes, connectThreads = startSqliteThreads } = options
  const { connection, identities } = openSqliteFile(path)
  const file = { path, identities, maxWalBytes }
  const faults = createSqliteFaults(path, log)
  const { writer: link, commits, connectScanner } = connectThreads(file)
  const { read, close: closeReader } = createSqliteReader({ connection, commits, faults, observe, requireOpen })
  const writer = createSqliteWriter({ link, faults, observe, requireWritable })
  if (options.onWriterDeath) link.onEnd(options.onWriterDeath)
  const scanner = createSqliteScanner(connectScanner)
  const fileWatch = watchSqliteFile({ path, identities, log })
  let closing: Promise<void> | undefined

  function requireOpen(): void {
    const failure = writer.failure()
    if (failure) throw failure
    if (closing) throw serviceUnavailable(new Error('the database is closed'))
  }

  function requireWritable(): void {
    requireOpen()
    if (fileWatch.isLost()) {
      throw serviceUnavailable(new Error('the database file was removed or replaced'), { isReported: true })
    }
  }

  async function shutDown(): Promise<void> {
    // The reader last: its connection keeps the -wal for threads that have only begun to start.
    await Promise.all([scanner.close(), fileWatch.close()])
    await writer.close()
    await closeReader()
  }

  return {
    dialect: 'sqlite',
    async get<Row extends object>(sql: string, params: readonly Value[] = []) {
      requireValues(params)
      return read(() => connection.get(sql, params) as Row | undefined)
    },
    async all<Row extends object>(sql: string, params: readonly Value[] = []) {
      requireValues(params)
      return read(() => connection.all(sql, params) as Row[])
    },
    async scan<Row extends object>(sql: string, params: readonly Value[] = []) {
      requireOpen()
      requireValues(params)
      const start = performance.now()
      try {
        return (await scanner.all(sql, params)) as Row[]
      } catch (error) {
        throw faults.note(error as Error)
      } finally {
        observe('read', performance.now() - start)
      }
    },
    // The overloads of the interface only narrow the row types.
    write: writer.write as Database['write'],
    // Sets the value it already has: nothing changes, but a page is written and committed.
    checkWritable: async () => void (await writer.write({ sql: 'PRAGMA user_version = 0' })),
    hasFaults: faults.hasFaults,
    load: () => ({ waiting: { writer: writer.waiting(), scanner: scanner.waiting() } }),
    close: () => (closing ??= shutDown()),
  }
}
