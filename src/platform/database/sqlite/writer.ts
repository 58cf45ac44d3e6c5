/** Writes, on their own thread, which the serving threads of a process share. */
import { serviceUnavailable } from '../../../core/app-error.ts'
import type { ThreadLink } from '../../threads/thread-link.ts'
import { requireParams } from '../batch.ts'
import { ConstraintError, type Observe, type Statement } from '../database.ts'
import { fromPlainError } from './connection.ts'
import type { SqliteFaults } from './faults.ts'
import type { FromWriter, WriteMessage, WriteResult } from './writer-messages.ts'

export type WriterLink = ThreadLink<WriteMessage, FromWriter>

export interface SqliteWriterOptions {
  link: WriterLink
  faults: SqliteFaults
  observe: Observe
  /** Throws if the database must not be written. */
  requireWritable(): void
}

export interface SqliteWriter {
  write(...statements: Statement[]): Promise<object[][]>
  /** Unfinished writes. */
  waiting(): number
  /** The error that ended the thread, if any. It is not restarted. */
  failure(): Error | undefined
  /** Waits for pending writes. */
  close(): Promise<void>
}

interface Waiting {
  since: number
  resolve(rows: object[][]): void
  reject(error: Error): void
}

export function createSqliteWriter(options: SqliteWriterOptions): SqliteWriter {
  const { link, faults, observe, requireWritable } = options
  /** In the order of the requests, which is also the order of the results. */
  const waiting: Waiting[] = []
  let outbox: Statement[][] = []
  /** Whether the last transaction had no other write of this thread. */
  let isAlone = true
  let failure: Error | undefined
  let onIdle = () => {}

  link.onMessage(({ results }) => {
    const now = performance.now()
    isAlone = results.length === 1
    for (const [i, request] of waiting.splice(0, results.length).entries()) {
      observe('write', now - request.since)
      settle(request, results[i] as WriteResult)
    }
    if (waiting.length === 0) onIdle()
  })
  link.onEnd((error) => breakDown(error))

  function breakDown(error: Error): void {
    failure = serviceUnavailable(error)
    for (const { reject } of waiting.splice(0)) reject(failure)
    onIdle()
  }

  function settle({ resolve, reject }: Waiting, result: WriteResult): void {
    if ('rows' in result) {
      faults.noteWritten()
      resolve(result.rows)
    } else if ('constraint' in result) reject(new ConstraintError(result.constraint))
    else reject(faults.note(fromPlainError(result)))
  }

  function flush(): void {
    if (outbox.length === 0) return
    const requests = outbox
    outbox = []
    link.post({ kind: 'write', requests })
  }

  return {
    write(...statements) {
      return new Promise((resolve, reject) => {
        requireWritable()
        requireParams(statements)
        waiting.push({ since: performance.now(), resolve, reject })
        // All writes of one turn of the event loop cross to the thread as one message. Where they come one by one, none waits
        // for others.
        if (outbox.push(statements) > 1) return
        if (isAlone && waiting.length === 1) process.nextTick(flush)
        else setImmediate(flush)
      })
    },
    waiting: () => waiting.length,

    failure: () => failure,

    async close() {
      flush()
      if (waiting.length > 0) await new Promise<void>((resolve) => (onIdle = resolve))
      if (!failure) await link.close()
    },
  }
}
