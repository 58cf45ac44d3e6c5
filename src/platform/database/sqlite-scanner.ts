/** Reads that may take milliseconds, on a thread of their own. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { databaseUnavailable, type Value } from './database.ts'
import { fromPlainError, type PlainError } from './sqlite-connection.ts'

export type ToScanner = { id: number; sql: string; params: readonly Value[] } | 'close'
/** Rows cross as JSON, which takes half the time of a structured clone. Some at a time, so that they can be read so. */
export type FromScanner = { id: number; parts: string[] } | ({ id: number } & PlainError)

export interface SqliteScanner {
  all(sql: string, params: readonly Value[]): Promise<object[]>
  /** Lets what was asked before end. */
  close(): Promise<void>
}

interface Waiting {
  resolve(rows: Promise<object[]>): void
  reject(error: Error): void
}

/** A search takes some milliseconds: whoever comes after this many would wait for too long. */
const maxWaiting = 128

export function startSqliteScanner(path: string): SqliteScanner {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let exited = Promise.resolve()
  let lastId = 0

  /** Started by the first who needs it: a command that makes a user does not. */
  function start(): Worker {
    const started = new Worker(new URL('./sqlite-scanner-thread.ts', import.meta.url), { workerData: { path } })
    exited = new Promise((resolve) => started.once('exit', () => resolve()))
    started.on('message', (answer: FromScanner) => {
      const request = waiting.get(answer.id)
      waiting.delete(answer.id)
      if ('parts' in answer) request?.resolve(readParts(answer.parts))
      else request?.reject(fromPlainError(answer))
    })
    // The next one who asks starts it anew.
    started.once('error', (error) => end(error as Error))
    started.once('exit', () => end(new Error('the thread for long reads ended')))
    function end(error: Error): void {
      if (worker !== started) return
      worker = undefined
      for (const { reject } of waiting.values()) reject(databaseUnavailable(error))
      waiting.clear()
    }
    return started
  }

  return {
    all(sql, params) {
      return new Promise((resolve, reject) => {
        if (waiting.size >= maxWaiting) throw databaseUnavailable(undefined)
        worker ??= start()
        lastId += 1
        waiting.set(lastId, { resolve, reject })
        worker.postMessage({ id: lastId, sql, params } satisfies ToScanner)
      })
    },
    async close() {
      worker?.postMessage('close' satisfies ToScanner)
      await exited
    },
  }
}

/** The event loop serves others between two parts. */
async function readParts(parts: readonly string[]): Promise<object[]> {
  const rows: object[] = []
  for (const [i, part] of parts.entries()) {
    if (i > 0) await nextTurn()
    rows.push(...(JSON.parse(part) as object[]))
  }
  return rows
}
