import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openSqliteConnection } from './sqlite-connection.ts'
import type { FromScanner, ToScanner } from './sqlite-scanner.ts'

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

/** Read on the other side in a fraction of a millisecond. */
const rowsPerPart = 200

function scan({ id, sql, params }: Exclude<ToScanner, 'close'>): FromScanner {
  try {
    const rows = connection.all(sql, params)
    const parts: string[] = []
    for (let at = 0; at === 0 || at < rows.length; at += rowsPerPart) {
      parts.push(JSON.stringify(rows.slice(at, at + rowsPerPart)))
    }
    return { id, parts }
  } catch (error) {
    // Errors do not keep their class from thread to thread: what the other side needs goes as plain data.
    const { message, errcode } = error as { message: string; errcode?: number }
    return { id, message, errcode }
  }
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
