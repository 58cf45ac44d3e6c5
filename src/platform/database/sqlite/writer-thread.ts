/**
 * The writer thread. Waiting requests are committed as one transaction, so that one fsync serves many. Each batch has a
 * savepoint, so that a violated constraint rolls back only its own request.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { isUndecided, noRows, resolveParams } from '../batch.ts'
import { ConstraintError, type Statement } from '../database.ts'
import { fromSqliteError, toPlainError } from './connection.ts'
import { openInThread, type SqliteThreadData } from './thread-connection.ts'
import { createWalWriter } from './wal-limit.ts'
import type { FromWriter, ToWriter, WriteResult } from './writer-messages.ts'

/** Bounds how long the first request of a transaction waits for the last. */
const maxGroup = 1000

/**
 * How long a transaction collects requests: long enough to be worth a commit, short enough to keep the event loop busy
 * meanwhile. Otherwise all clients would wait for the commit first, and then for the event loop.
 */
const minGatherMs = 1
const gatherPerCommit = 2

if (!parentPort) throw new Error('sqlite-writer.ts runs as a worker thread only')
const port = parentPort
const busyTimeoutMs = 10_000
const data = workerData as SqliteThreadData
const connection = openInThread(data, { queryOnly: false, busyTimeoutMs })
const wal = createWalWriter(connection, { path: data.path, maxBytes: data.maxWalBytes, busyTimeoutMs })
let waiting: Statement[][] = []
let isClosing = false
let lastCommitMs = 0

port.on('message', (message: ToWriter) => {
  take(message)
  while (waiting.length > 0) {
    takeAll()
    port.postMessage({ results: commitSome() } satisfies FromWriter)
    wal.limit()
    takeAll()
  }
  if (isClosing) {
    connection.close()
    port.close()
  }
})

function take(message: ToWriter): void {
  if (message.kind === 'close') isClosing = true
  else waiting = waiting.length === 0 ? message.requests : [...waiting, ...message.requests]
}

function takeAll(): void {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) take(next.message as ToWriter)
}

/** Commits as many waiting requests as fit into one transaction, in order. */
function commitSome(): WriteResult[] {
  try {
    connection.run('BEGIN IMMEDIATE')
  } catch (error) {
    // Another process holds the lock. Retrying per request would multiply the wait.
    return waiting.splice(0).map(() => failure(error))
  }
  const results: WriteResult[] = []
  try {
    const until = performance.now() + Math.max(minGatherMs, gatherPerCommit * lastCommitMs)
    for (const request of waiting) {
      results.push(runRequest(request))
      if (results.length === maxGroup || performance.now() > until) break
    }
    const startedAt = performance.now()
    connection.run('COMMIT')
    lastCommitMs = performance.now() - startedAt
    waiting = waiting.slice(results.length)
    return results
  } catch {
    rollBack()
    // No result has been sent yet, so each request is run again in its own transaction: only the faulty ones fail.
    const tried = waiting.splice(0, results.length + 1)
    return tried.map(commitAlone)
  }
}

function commitAlone(request: Statement[]): WriteResult {
  try {
    connection.run('BEGIN IMMEDIATE')
    const result = runRequest(request)
    connection.run('COMMIT')
    return result
  } catch (error) {
    rollBack()
    return failure(error)
  }
}

/** After an I/O error or on a damaged page, SQLite may have rolled back already, or ROLLBACK may fail too. */
function rollBack(): void {
  try {
    if (connection.isInTransaction()) connection.run('ROLLBACK')
  } catch (error) {
    if (connection.isInTransaction()) throw error
  }
}

function runRequest(statements: Statement[]): WriteResult {
  // SQLite undoes a failed statement by itself; only a batch needs a savepoint.
  const isBatch = statements.length > 1
  try {
    if (isBatch) connection.run('SAVEPOINT request')
    const rows: object[][] = []
    for (const statement of statements) {
      const found = connection.all(statement.sql, resolveParams(statement.params, rows))
      if (isUndecided(statement, found)) {
        if (isBatch) undo()
        return { rows: noRows(statements) }
      }
      rows.push(found)
    }
    if (isBatch) connection.run('RELEASE request')
    return { rows }
  } catch (error) {
    // A full disk or an I/O error rolls back the whole transaction, savepoints included.
    if (!connection.isInTransaction()) throw error
    if (isBatch) undo()
    return failure(error)
  }
}

function undo(): void {
  connection.run('ROLLBACK TO request')
  connection.run('RELEASE request')
}

function failure(error: unknown): WriteResult {
  const named = fromSqliteError(error)
  return named instanceof ConstraintError ? { constraint: named.kind } : toPlainError(error)
}
