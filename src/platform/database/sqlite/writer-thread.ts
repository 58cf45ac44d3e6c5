/**
 * The writer thread. Everything that waits is committed as one transaction, so one fsync serves many requests; each
 * request has a savepoint of its own, so that one which breaks a constraint takes no neighbour with it.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { isUndecided, nothing, resolveParams } from '../batch.ts'
import { ConstraintError, type Statement } from '../database.ts'
import { fromSqliteError, openSqliteConnection, toPlainError } from './connection.ts'
import type { FromWriter, ToWriter, WriteResult } from './writer-messages.ts'

/** A commit that took much longer than this would make its first request wait for its last. */
const maxGroup = 1000

/**
 * How long a transaction gathers requests: long enough for the commit to be worth it, short enough for the event loop
 * to have something to do meanwhile. Otherwise all clients wait for the one commit, then all for the event loop.
 */
const minGatherMs = 1
const gatherPerCommit = 2

if (!parentPort) throw new Error('sqlite-writer.ts runs as a worker thread only')
const port = parentPort
const connection = openSqliteConnection((workerData as { path: string }).path, {
  queryOnly: false,
  busyTimeoutMs: 10_000,
})
let waiting: Statement[][] = []
let isClosing = false
let lastCommitMs = 0

port.on('message', (message: ToWriter) => {
  take(message)
  while (waiting.length > 0) {
    takeAll()
    port.postMessage({ results: commitSome() } satisfies FromWriter)
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

/** Whatever has come in the meantime. */
function takeAll(): void {
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) take(next.message as ToWriter)
}

/** As many of those waiting as fit into one transaction, in their order. */
function commitSome(): WriteResult[] {
  try {
    connection.run('BEGIN IMMEDIATE')
  } catch (error) {
    // Another process holds the lock: waiting again for each request by itself would only multiply the wait.
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
    // Nobody has been answered yet, so each request may run again by itself: only those that are to blame fail.
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

/** After an I/O error or a damaged page the transaction may be over, or its end may fail like the rest of it. */
function rollBack(): void {
  try {
    if (connection.isInTransaction()) connection.run('ROLLBACK')
  } catch (error) {
    if (connection.isInTransaction()) throw error
  }
}

function runRequest(statements: Statement[]): WriteResult {
  // SQLite undoes a failed statement by itself: only a batch needs a savepoint to go back to.
  const isBatch = statements.length > 1
  try {
    if (isBatch) connection.run('SAVEPOINT request')
    const rows: object[][] = []
    for (const statement of statements) {
      const answer = connection.all(statement.sql, resolveParams(statement.params, rows))
      if (isUndecided(statement, answer)) {
        if (isBatch) undo()
        return { rows: nothing(statements) }
      }
      rows.push(answer)
    }
    if (isBatch) connection.run('RELEASE request')
    return { rows }
  } catch (error) {
    // A full disk or an I/O error ends the whole transaction: then there is nothing to go back to.
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
