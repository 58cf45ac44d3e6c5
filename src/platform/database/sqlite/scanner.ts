/** Reads that may take milliseconds, on their own thread. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { serviceUnavailable } from '../../../core/app-error.ts'
import { maxWaitingScans, type Value } from '../database.ts'
import { type Column, createRowFactory, fromPlainError, type RowFactory } from './connection.ts'
import type { FromScanner, ToScanner } from './scanner-messages.ts'

export interface SqliteScanner {
  all(sql: string, params: readonly Value[]): Promise<object[]>
  /** Unfinished scans. */
  waiting(): number
  /** Waits for pending scans. */
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

  /** Started on first use, because most commands never scan. */
  function start(): Worker {
    const started = new Worker(new URL('./scanner-thread.ts', import.meta.url), { workerData: { path } })
    exited = new Promise((resolve) => started.once('exit', () => resolve()))
    started.on('message', (result: FromScanner) => {
      const request = waiting.get(result.id)
      if (!request) return
      waiting.delete(result.id)
      if ('parts' in result) request.resolve(readParts(result.parts, factoryOf(request.sql, result.columns)))
      else request.reject(fromPlainError(result))
    })
    // The next scan starts a new thread.
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
    waiting: () => waiting.size,
    async close() {
      worker?.postMessage('close' satisfies ToScanner)
      await exited
    },
  }
}

/** Yields to the event loop between parts. */
async function readParts(parts: readonly string[], toRow: RowFactory): Promise<object[]> {
  const rows: object[] = []
  for (const [i, part] of parts.entries()) {
    if (i > 0) await nextTurn()
    for (const values of JSON.parse(part) as unknown[][]) rows.push(toRow(values))
  }
  return rows
}
