/** Reads that may take milliseconds, on their own thread, which the serving threads of a process share. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { serviceUnavailable } from '../../../core/app-error.ts'
import { type CurrentClient, clientGone } from '../../../core/current-client.ts'
import type { ThreadLink } from '../../threads/thread-link.ts'
import type { Value } from '../database.ts'
import { createScanQueue } from '../scan-queue.ts'
import { createTextCache } from '../text-cache.ts'
import { type Column, createRowFactory, fromPlainError, type RowFactory } from './connection.ts'
import { type FromScanner, type ScanMessage, scansAtOnce } from './scanner-messages.ts'

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
  /** Scans that wait or run. */
  let underWay = 0
  let onIdle = () => {}
  const factories = createTextCache<RowFactory>()
  const queue = createScanQueue(scansAtOnce)
  const stops = new Int32Array(new SharedArrayBuffer(scansAtOnce * Int32Array.BYTES_PER_ELEMENT))
  /** The elements of `stops` that no scan uses. */
  const freeStops = Array.from(stops.keys())

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
    })
    opened.onEnd((error) => {
      link = undefined
      for (const { reject } of waiting.values()) reject(serviceUnavailable(error))
      waiting.clear()
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
    }
  }

  function scan(sql: string, params: readonly Value[]): { id: number; rows: Promise<object[]> } {
    // Ids are compared as 32-bit integers, and 0 stops none.
    lastId = (lastId % maxId) + 1
    const id = lastId
    const rows = new Promise<object[]>((resolve, reject) => {
      waiting.set(id, { sql, resolve, reject })
      void post({ kind: 'scan', id, sql, params, stops })
    })
    return { id, rows }
  }

  async function scanFor(client: CurrentClient, sql: string, params: readonly Value[]): Promise<object[]> {
    const stop = freeStops.pop() as number
    const { id, rows } = scan(sql, params)
    const stopListening = client.onGone(() => Atomics.store(stops, stop, id))
    try {
      return await rows
    } catch (error) {
      throw Atomics.load(stops, stop) === id ? clientGone() : error
    } finally {
      stopListening()
      freeStops.push(stop)
    }
  }

  return {
    async all(sql, params) {
      underWay += 1
      try {
        return await queue.run((client) => (client ? scanFor(client, sql, params) : scan(sql, params).rows))
      } finally {
        underWay -= 1
        if (underWay === 0) onIdle()
      }
    },
    waiting: () => underWay,
    async close() {
      if (underWay > 0) await new Promise<void>((resolve) => (onIdle = resolve))
      await (await link)?.close()
    },
  }
}

const maxId = 2 ** 31 - 1

/** Yields to the event loop between parts. */
async function readParts(parts: readonly string[], toRow: RowFactory): Promise<object[]> {
  const rows: object[] = []
  for (const [i, part] of parts.entries()) {
    if (i > 0) await nextTurn()
    for (const values of JSON.parse(part) as unknown[][]) rows.push(toRow(values))
  }
  return rows
}
