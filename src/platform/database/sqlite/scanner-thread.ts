import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { maxResultBytes } from '../database.ts'
import { toPlainError } from './connection.ts'
import { sqliteCodes } from './result-codes.ts'
import type { FromScanner, ScanMessage, ToScanner } from './scanner-messages.ts'
import { openInThread, type SqliteThreadData } from './thread-connection.ts'
import { createWalPause } from './wal-limit.ts'

if (!parentPort) throw new Error('scanner-thread.ts runs as a worker thread only')
const data = workerData as SqliteThreadData
const connection = openInThread(data, { queryOnly: true, busyTimeoutMs: 10_000 })
const pauseForWal = createWalPause({ path: data.path, maxBytes: data.maxWalBytes })
const ports = new Set<MessagePort>()
yieldToOthers()
connect(parentPort)

function connect(port: MessagePort): void {
  ports.add(port)
  port.on('message', (message: ToScanner) => {
    if (message.kind === 'connect') connect(message.port)
    else if (message.kind === 'close') close()
    else {
      pauseForWal()
      port.postMessage(scan(message))
    }
  })
  port.once('close', () => ports.delete(port))
}

function close(): void {
  connection.close()
  for (const port of ports) port.close()
}

/**
 * On a single core the kernel may let a thread run for ten milliseconds, whatever its priority. So the scan pauses itself
 * to let the event loop run.
 */
const maxRunMs = 0.5
const pauseMs = 0.05
const pause = new Int32Array(new SharedArrayBuffer(4))

/** A scan keeps the -wal from being emptied. As long as a statement may take on PostgreSQL by default. */
const maxScanMs = 30_000

const stopped = 'the client has disconnected'

/** A part is parsed in a fraction of a millisecond. By size too, because a row may be a megabyte. */
const rowsPerPart = 200
const charactersPerPart = 512 * 1024
function scan({ id, sql, params, stops }: ScanMessage): FromScanner {
  const isStopped = () => stops.some((_, i) => Atomics.load(stops, i) === id)
  try {
    if (isStopped()) throw new Error(stopped)
    const { columns, rows } = connection.iterate(sql, params)
    const parts: string[] = []
    let part: unknown[][] = []
    let length = 0
    let total = 0
    const startedAt = performance.now()
    let resumedAt = startedAt
    for (const values of rows) {
      length += lengthOf(values)
      if (part.push(values) === rowsPerPart || length > charactersPerPart) {
        const text = JSON.stringify(part)
        total += text.length
        if (total > maxResultBytes) {
          throw Object.assign(new Error('a scan found too much'), { errcode: sqliteCodes.outOfMemory })
        }
        parts.push(text)
        part = []
        length = 0
      }
      if (performance.now() - resumedAt > maxRunMs) {
        Atomics.wait(pause, 0, 0, pauseMs)
        resumedAt = performance.now()
        if (isStopped()) throw new Error(stopped)
        if (resumedAt - startedAt > maxScanMs) {
          throw Object.assign(new Error('a scan took too long'), { errcode: sqliteCodes.busy })
        }
      }
    }
    return { id, columns, parts: [...parts, JSON.stringify(part)] }
  } catch (error) {
    return { id, ...toPlainError(error) }
  }
}

/** An estimate: values other than text are short. */
function lengthOf(values: readonly unknown[]): number {
  let length = 0
  for (const value of values) if (typeof value === 'string') length += value.length
  return length
}

/** With few cores, a search must not delay other requests. */
function yieldToOthers(): void {
  try {
    // "<pid>/task/<tid>": on Linux each thread has its own priority.
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), 10)
  } catch {
    // Not on Linux: normal priority.
  }
}
