import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { maxAnswerBytes } from '../database.ts'
import { sqliteCodes } from './codes.ts'
import { openSqliteConnection, toPlainError } from './connection.ts'
import type { FromScanner, ToScanner } from './scanner-messages.ts'

if (!parentPort) throw new Error('sqlite-scanner-thread.ts runs as a worker thread only')
const port = parentPort
const { path } = workerData as { path: string }
const connection = openSqliteConnection(path, { queryOnly: true, busyTimeoutMs: 10_000 })
yieldToOthers()

port.on('message', (message: ToScanner) => {
  if (message === 'close') {
    connection.close()
    port.close()
    return
  }
  port.postMessage(scan(message))
})

/**
 * Where there is one core for all, a thread that the kernel lets run may do so for ten milliseconds, whatever its
 * priority. So it takes a rest by itself, in which others get their turn.
 */
const maxStretchMs = 0.5
const pauseMs = 0.05
const pause = new Int32Array(new SharedArrayBuffer(4))

/** Read on the other side in a fraction of a millisecond: rows may be a megabyte each. */
const rowsPerPart = 200
const charactersPerPart = 512 * 1024
function scan({ id, sql, params }: Exclude<ToScanner, 'close'>): FromScanner {
  try {
    const { columns, rows } = connection.iterate(sql, params)
    const parts: string[] = []
    let part: unknown[][] = []
    let length = 0
    let total = 0
    let resumedAt = performance.now()
    for (const values of rows) {
      length += lengthOf(values)
      if (part.push(values) === rowsPerPart || length > charactersPerPart) {
        const text = JSON.stringify(part)
        total += text.length
        if (total > maxAnswerBytes) {
          throw Object.assign(new Error('a scan found too much'), { errcode: sqliteCodes.outOfMemory })
        }
        parts.push(text)
        part = []
        length = 0
      }
      if (performance.now() - resumedAt > maxStretchMs) {
        Atomics.wait(pause, 0, 0, pauseMs)
        resumedAt = performance.now()
      }
    }
    return { id, columns, parts: [...parts, JSON.stringify(part)] }
  } catch (error) {
    return { id, ...toPlainError(error) }
  }
}

/** About as much as it takes: what is not text is short. */
function lengthOf(values: readonly unknown[]): number {
  let length = 0
  for (const value of values) if (typeof value === 'string') length += value.length
  return length
}

/** Where cores are few, a search must not hold up the requests of everybody else. */
function yieldToOthers(): void {
  try {
    // "<pid>/task/<tid>": to Linux a thread has a priority of its own.
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), 10)
  } catch {
    // Elsewhere it runs like the others.
  }
}
