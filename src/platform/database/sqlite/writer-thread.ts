/**
 * The writer thread. Waiting requests of all serving threads are committed as one transaction, so that one fsync serves
 * many. Each batch has a savepoint, so that a violated constraint rolls back only its own request.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { isUndecided, noRows, resolveParams } from '../batch.ts'
import { ConstraintError, type Statement } from '../database.ts'
import { fromSqliteError, toPlainError } from './connection.ts'
import { openInThread } from './thread-connection.ts'
import { createWalWriter } from './wal-limit.ts'
import type { FromWriter, ToWriter, WriteResult, WriterData } from './writer-messages.ts'

/** Bounds how long the first request of a transaction waits for the last. */
const maxGroup = 1000

/**
 * How long a transaction collects requests: long enough to be worth a commit, short enough to keep the event loop busy
 * meanwhile. Otherwise all clients would wait for the commit first, and then for the event loop. Several
 * event loops have work meanwhile anyway, and larger transactions save processor time.
 */
const minGatherMs = 1
const gatherPerCommit = { oneLoop: 4, severalLoops: 32 }

interface Request {
  from: MessagePort
  statements: Statement[]
}

if (!parentPort) throw new Error('writer-thread.ts runs as a worker thread only')
const owner = parentPort
const data = workerData as WriterData
const commits = new Int32Array(data.commits)
const busyTimeoutMs = 10_000
const connection = openInThread(data, { queryOnly: false, busyTimeoutMs })
const wal = createWalWriter(connection, { path: data.path, maxBytes: data.maxWalBytes, busyTimeoutMs })
/** That of the owner, and one for each serving thread if there are several. */
const ports = new Set<MessagePort>()
let waiting: Request[] = []
let isClosing = false
let lastCommitMs = 0
connect(owner)

function connect(port: MessagePort): void {
  ports.add(port)
  port.on('message', (message: ToWriter) => {
    take(message, port)
    work()
  })
  port.once('close', () => ports.delete(port))
}

function work(): void {
  while (waiting.length > 0) {
    takeAll()
    const answered = waiting
    send(answered, commitSome())
    wal.limit()
    takeAll()
  }
  if (!isClosing) return
  connection.close()
  for (const port of ports) port.close()
}

function take(message: ToWriter, from: MessagePort): void {
  if (message.kind === 'connect') connect(message.port)
  else if (message.kind === 'close') isClosing = true
  else {
    const requests = message.requests.map((statements) => ({ from, statements }))
    waiting = waiting.length === 0 ? requests : [...waiting, ...requests]
  }
}

function takeAll(): void {
  for (const port of ports) {
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
      take(next.message as ToWriter, port)
    }
  }
}

/** Each port gets the results of its own requests. */
function send(requests: readonly Request[], results: readonly WriteResult[]): void {
  const byPort = new Map<MessagePort, WriteResult[]>()
  for (const [i, result] of results.entries()) {
    const { from } = requests[i] as Request
    const own = byPort.get(from)
    if (own) own.push(result)
    else byPort.set(from, [result])
  }
  for (const [port, own] of byPort) port.postMessage({ results: own } satisfies FromWriter)
}

/** Commits as many waiting requests as fit into one transaction, in order. */
function commitSome(): WriteResult[] {
  try {
    connection.run('BEGIN IMMEDIATE')
  } catch (error) {
    // Another process holds the lock. Retrying per request would multiply the wait.
    const refused = waiting
    waiting = []
    return refused.map(() => failure(error))
  }
  const results: WriteResult[] = []
  try {
    const perCommit = ports.size > 2 ? gatherPerCommit.severalLoops : gatherPerCommit.oneLoop
    const until = performance.now() + Math.max(minGatherMs, perCommit * lastCommitMs)
    for (const { statements } of waiting) {
      results.push(runRequest(statements))
      if (results.length === maxGroup || performance.now() > until) break
    }
    const startedAt = performance.now()
    commit()
    lastCommitMs = performance.now() - startedAt
    waiting = waiting.slice(results.length)
    return results
  } catch {
    rollBack()
    // No result has been sent yet, so each request is run again in its own transaction: only the faulty ones fail.
    const tried = waiting.slice(0, results.length + 1)
    waiting = waiting.slice(tried.length)
    return tried.map(commitAlone)
  }
}

function commit(): void {
  connection.run('COMMIT')
  Atomics.add(commits, 0, 1)
}

function commitAlone({ statements }: Request): WriteResult {
  try {
    connection.run('BEGIN IMMEDIATE')
    const result = runRequest(statements)
    commit()
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
  const isBatch = statements.length > 1 || statements[0]?.rehearses === true
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
      if (statement.rehearses) {
        undo()
        return { rows }
      }
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
