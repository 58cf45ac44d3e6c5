/** The embedded engine: reads on the event loop (microseconds), writes and long reads on a thread of their own each. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { serviceUnavailable } from '../../../core/app-error.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { createTickBatcher } from '../../../core/tick-batcher.ts'
import type { Log } from '../../log/logger.ts'
import { requireParams, requireValues } from '../batch.ts'
import { ConstraintError, type Database, type Observe, type Statement, type Value } from '../database.ts'
import { fromPlainError, fromSqliteError, openSqliteConnection, type SqliteConnection } from './connection.ts'
import { createSqliteFaults } from './faults.ts'
import { identifyOpened, identityOf, watchSqliteFile } from './file-watch.ts'
import { startSqliteScanner } from './scanner.ts'
import type { FromWriter, ToWriter, WriteResult } from './writer-messages.ts'

interface Waiting {
  since: number
  resolve(rows: object[][]): void
  reject(error: Error): void
}

export interface SqliteOptions {
  path: string
  observe: Observe
  log: Pick<Log, 'error' | 'info'> | undefined
}

export function openSqlite({ path, observe, log }: SqliteOptions): Database {
  const created = createFile(path)
  const reader = openReader(path)
  const identities = identifyOpened(path, created)
  if (!identities) {
    reader.close()
    throw cannotOpen(path, 'it was replaced while it was being opened', undefined)
  }
  closeToOthers(path)
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: { path } })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const scanner = startSqliteScanner(path)
  const faults = createSqliteFaults(path, log)
  const fileWatch = watchSqliteFile({ path, identities, log })

  /** In the order of their requests, which is the order the writer answers in. */
  const waiting: Waiting[] = []
  let outbox: Statement[][] = []
  let broken: Error | undefined
  let closing: Promise<void> | undefined
  let onIdle = () => {}

  worker.on('message', ({ results }: FromWriter) => {
    leaveSnapshot()
    const now = performance.now()
    for (const [i, request] of waiting.splice(0, results.length).entries()) {
      observe('write', now - request.since)
      settle(request, results[i] as WriteResult)
    }
    if (waiting.length === 0) onIdle()
  })
  worker.once('error', (error: Error) => breakDown(error))
  worker.once('exit', () => {
    if (!closing) breakDown(new Error('the writer thread ended'))
  })

  function breakDown(error: Error): void {
    broken = serviceUnavailable(error)
    for (const { reject } of waiting.splice(0)) reject(broken)
    onIdle()
  }

  function requireOpen(): void {
    if (broken) throw broken
    if (closing) throw serviceUnavailable(new Error('the database is closed'))
  }

  function requireFile(): void {
    if (fileWatch.isLost()) {
      throw serviceUnavailable(new Error('the database file was removed or replaced'), { isReported: true })
    }
  }

  function settle({ resolve, reject }: Waiting, result: WriteResult): void {
    if ('rows' in result) {
      faults.noteWritten()
      resolve(result.rows)
    } else if ('constraint' in result) reject(new ConstraintError(result.constraint))
    else reject(faults.note(fromPlainError(result)))
  }

  const readTogether = createTickBatcher(process.nextTick)

  function read<T>(query: () => T): Promise<T> {
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
  }

  /**
   * All reads of one turn of the event loop share a transaction: its locks are system calls, and under load they cost
   * as much as the read itself. It ends before a write is acknowledged, so whoever has written sees it.
   */
  function enterSnapshot(): void {
    if (reader.isInTransaction()) return
    reader.run('BEGIN')
    setImmediate(leaveSnapshot)
  }

  function leaveSnapshot(): void {
    if (!reader.isOpen() || !reader.isInTransaction()) return
    try {
      reader.run('COMMIT')
    } catch (error) {
      // It repeats the error of a read that failed, whose caller has been told.
      faults.note(fromSqliteError(error))
      if (reader.isInTransaction()) reader.run('ROLLBACK')
    }
  }

  function flush(): void {
    if (outbox.length === 0) return
    const requests = outbox
    outbox = []
    worker.postMessage({ kind: 'write', requests } satisfies ToWriter)
  }

  function write(...statements: Statement[]): Promise<object[][]> {
    return new Promise((resolve, reject) => {
      requireOpen()
      requireFile()
      requireParams(statements)
      waiting.push({ since: performance.now(), resolve, reject })
      // What this turn of the event loop asks for crosses to the thread as one message.
      if (outbox.push(statements) === 1) setImmediate(flush)
    })
  }

  async function shutDown(): Promise<void> {
    // Behind the reads that are due.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    leaveSnapshot()
    reader.close()
    flush()
    if (waiting.length > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    if (!broken) worker.postMessage({ kind: 'close' } satisfies ToWriter)
    await Promise.all([exited, scanner.close(), fileWatch.close()])
  }

  return {
    dialect: 'sqlite',
    async get<Row extends object>(sql: string, params: readonly Value[] = []) {
      requireValues(params)
      return read(() => reader.get(sql, params) as Row | undefined)
    },
    async all<Row extends object>(sql: string, params: readonly Value[] = []) {
      requireValues(params)
      return read(() => reader.all(sql, params) as Row[])
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
    // The interface's overloads only sharpen the type of the rows.
    write: write as Database['write'],
    // The same value as before: nothing changes, but a page is written and committed.
    checkWritable: async () => void (await write({ sql: 'PRAGMA user_version = 0' })),
    hasFaults: faults.hasFaults,
    close: () => (closing ??= shutDown()),
  }
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
