/** Reads that may take milliseconds, on their own thread, which the serving threads of a process share. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { serviceUnavailable } from '../../../core/app-error.ts'
import type { ThreadLink } from '../../threads/thread-link.ts'
import { maxWaitingScans, type Value } from '../database.ts'
import { type Column, createRowFactory, fromPlainError, type RowFactory } from './connection.ts'
import type { FromScanner, ScanMessage } from './scanner-messages.ts'

export type ScannerLink = ThreadLink<ScanMessage, FromScanner>

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

/** `connect` is called on first use, because most commands never scan, and again after the thread has ended. */
export function createSqliteScanner(connect: () => Promise<ScannerLink>): SqliteScanner {
  const waiting = new Map<number, Waiting>()
  let link: Promise<ScannerLink> | undefined
  let lastId = 0
  let onIdle = () => {}
  const factories = new Map<string, RowFactory>()

  function factoryOf(sql: string, columns: readonly Column[]): RowFactory {
    let factory = factories.get(sql)
    if (!factory) {
      factory = createRowFactory(columns)
      factories.set(sql, factory)
    }
    return factory
  }

  async function open(): Promise<ScannerLink> {
    const opened = await connect()
    opened.onMessage((result) => {
      const request = waiting.get(result.id)
      if (!request) return
      waiting.delete(result.id)
      if ('parts' in result) request.resolve(readParts(result.parts, factoryOf(request.sql, result.columns)))
      else request.reject(fromPlainError(result))
      if (waiting.size === 0) onIdle()
    })
    opened.onEnd((error) => {
      link = undefined
      for (const { reject } of waiting.values()) reject(serviceUnavailable(error))
      waiting.clear()
      onIdle()
    })
    return opened
  }

  async function post(message: ScanMessage): Promise<void> {
    link ??= open()
    try {
      ;(await link).post(message)
    } catch (error) {
      link = undefined
      waiting.get(message.id)?.reject(serviceUnavailable(error as Error))
      waiting.delete(message.id)
      if (waiting.size === 0) onIdle()
    }
  }

  return {
    all(sql, params) {
      return new Promise((resolve, reject) => {
        if (waiting.size >= maxWaitingScans) throw serviceUnavailable()
        lastId += 1
        waiting.set(lastId, { sql, resolve, reject })
        void post({ kind: 'scan', id: lastId, sql, params })
      })
    },
    waiting: () => waiting.size,
    async close() {
      if (waiting.size > 0) await new Promise<void>((resolve) => (onIdle = resolve))
      await (await link)?.close()
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
