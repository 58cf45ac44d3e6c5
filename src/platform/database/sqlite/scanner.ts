/** Reads that may take milliseconds, on a thread of their own. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { serviceUnavailable } from '../../../core/app-error.ts'
import { maxWaitingScans, type Value } from '../database.ts'
import { type Column, createRowFactory, fromPlainError, type RowFactory } from './connection.ts'
import type { FromScanner, ToScanner } from './scanner-messages.ts'

export interface SqliteScanner {
  all(sql: string, params: readonly Value[]): Promise<object[]>
  /** Lets what was asked before end. */
  close(): Promise<void>
}

interface Waiting {
  sql: string
  resolve(rows: Promise<object[]>): void
  reject(error: Error): void
}

export function startSqliteScanner(path: string): SqliteScanner {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let exited = Promise.resolve()
  let lastId = 0
  const factories = new Map<string, RowFactory>()

  function factoryOf(sql: string, columns: readonly Column[]): RowFactory {
    let factory = factories.get(sql)
    if (!factory) {
      factory = createRowFactory(columns)
      factories.set(sql, factory)
    }
    return factory
  }

  /** Started by the first who needs it: a command that makes a user does not. */
  function start(): Worker {
    const started = new Worker(new URL('./scanner-thread.ts', import.meta.url), { workerData: { path } })
    exited = new Promise((resolve) => started.once('exit', () => resolve()))
    started.on('message', (answer: FromScanner) => {
      const request = waiting.get(answer.id)
      if (!request) return
      waiting.delete(answer.id)
      if ('parts' in answer) request.resolve(readParts(answer.parts, factoryOf(request.sql, answer.columns)))
      else request.reject(fromPlainError(answer))
    })
    // The next one who asks starts it anew.
    started.once('error', (error) => end(error as Error))
    started.once('exit', () => end(new Error('the thread for long reads ended')))
    function end(error: Error): void {
      if (worker !== started) return
      worker = undefined
      for (const { reject } of waiting.values()) reject(serviceUnavailable(error))
      waiting.clear()
    }
    return started
  }

  return {
    all(sql, params) {
      return new Promise((resolve, reject) => {
        if (waiting.size >= maxWaitingScans) throw serviceUnavailable()
        worker ??= start()
        lastId += 1
        waiting.set(lastId, { sql, resolve, reject })
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
async function readParts(parts: readonly string[], toRow: RowFactory): Promise<object[]> {
  const rows: object[] = []
  for (const [i, part] of parts.entries()) {
    if (i > 0) await nextTurn()
    for (const values of JSON.parse(part) as unknown[][]) rows.push(toRow(values))
  }
  return rows
}
