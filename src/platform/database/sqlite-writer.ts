/**
 * The writer thread. Everything that waits is committed as one transaction, so one fsync serves many requests; each
 * request has a savepoint of its own, so that one which breaks a constraint takes no neighbour with it.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { isUndecided, nothing, resolveParams } from './batch.ts'
import { ConstraintError, type Statement } from './database.ts'
import type { FromWriter, ToWriter, WriteResult } from './sqlite.ts'
import { fromSqliteError, openSqliteConnection, toPlainError } from './sqlite-connection.ts'

/** A commit that took much longer than this would make its first request wait for its last. */
const maxGroup = 1000

if (!parentPort) throw new Error('sqlite-writer.ts runs as a worker thread only')
const port = parentPort
const connection = openSqliteConnection((workerData as { path: string }).path, {
  queryOnly: false,
  busyTimeoutMs: 10_000,
})

port.on('message', (message: ToWriter) => {
  let next: ToWriter | undefined = message
  while (next) {
    if (next.kind === 'close') {
      connection.close()
      port.close()
      return
    }
    const group = next.requests
    next = undefined
    while (group.length < maxGroup) {
      const waiting = receiveMessageOnPort(port)?.message as ToWriter | undefined
      if (waiting?.kind === 'write') group.push(...waiting.requests)
      else {
        next = waiting
        break
      }
    }
    port.postMessage({ results: commitGroup(group) } satisfies FromWriter)
  }
})

function commitGroup(group: Statement[][]): WriteResult[] {
  try {
    // Another process holds the lock: waiting again for each request by itself would only multiply the wait.
    connection.run('BEGIN IMMEDIATE')
  } catch (error) {
    return group.map(() => failure(error))
  }
  try {
    const results = group.map(runRequest)
    connection.run('COMMIT')
    return results
  } catch (error) {
    if (connection.isInTransaction()) connection.run('ROLLBACK')
    // Nobody has been answered yet, so each request may run again by itself: only those that are to blame fail.
    if (group.length > 1) return group.flatMap((request) => commitGroup([request]))
    return [failure(error)]
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
