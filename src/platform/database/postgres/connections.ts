/** A pool of PostgreSQL connections, borrowed per statement or batch, and closed when the server stops responding. */
import { type CurrentClient, clientGone, isClientGone } from '../../../core/current-client.ts'
import { errorMessage } from '../../../core/error-message.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { parsePostgresUrl } from '../../../core/postgres-url.ts'
import { cancelWhenGone } from './cancellation.ts'
import { type Ask, type Connection, createAsk, readByTurns, streamOf } from './client.ts'
import { connectTimeoutMs, createHosts } from './hosts.ts'
import { createLiveness } from './liveness.ts'
import { endLostConnections, serverNotResponding, type Wait } from './lost-connections.ts'
import { createNamedStatements } from './named-statements.ts'
import { createOpener } from './opener.ts'
import { createPool, type PoolWaiter } from './pool.ts'
import { isForeignStatement, isReadOnly, leavesConnectionUsable } from './postgres-error-codes.ts'
import {
  type BeginStatements,
  beginStatements,
  requireSuitable,
  type Suitability,
  sessionStatement,
  suitabilityQuery,
} from './session.ts'
import { suspectAfterMs, type Use, Uses } from './uses.ts'

export interface ConnectionOptions {
  url: string
  /** Past a pooler: where to ask whether the server is alive. */
  listenUrl?: string | undefined
  poolSize: number
  statementTimeoutSeconds: number
  onConnectionLost(error: Error): void
}

/** A borrowed connection. */
export interface Borrowed {
  ask: Ask
  /** True if nothing outlasts a transaction: neither settings nor prepared statements. */
  isShared: boolean
  /** The name for a statement that is sent at once. Undefined if it must be unnamed. */
  nameOf?(sql: string): string
  /** Begins a transaction with our settings. Statements may be sent before it resolves. */
  begin(): Promise<unknown>
}

export interface Connections {
  /**
   * Borrows a connection for so many statements; the time limit applies to each. Done again if it turns out that a pooler
   * shares connections between transactions; nothing was committed then. The statements are cancelled when the client
   * disconnects.
   */
  use<T>(statements: number, work: (borrowed: Borrowed) => Promise<T>, client?: CurrentClient): Promise<T>
  isTransactionPooled(): boolean
  /** Connections are in use from when they are borrowed; with the idle ones, they are all that are open. */
  load(): { in_use: number; idle: number; waiting: number }
  end(): Promise<void>
}

interface Waiter extends Wait, PoolWaiter {}

const graceMs = 5000

export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const hosts = createHosts(options.url)
  const timeout = { statement_timeout: String(options.statementTimeoutSeconds * 1000) }
  const opener = createOpener(hosts, sessionStatement(timeout))
  const beginning = beginStatements(timeout)
  const uses = new Uses()
  const waiting = new Set<Waiter>()
  const pool = createPool({ size: options.poolSize, waiting, open, onLost: options.onConnectionLost })
  const lost = endLostConnections({
    uses,
    waits: waiting,
    findWorking: createLiveness({
      hosts: hosts.all,
      directHosts: options.listenUrl === undefined ? undefined : parsePostgresUrl(options.listenUrl).hosts,
      isTransactionPooled: opener.isTransactionPooled,
    }),
    onLost: ({ host }) => pool.dropHost(host),
  })

  async function open(): Promise<Connection> {
    const { client, host, pid, isPooled } = await opener.open()
    const statements = createNamedStatements(client)
    const connection: Connection = { client, ask: createAsk(client), statements, host, pid, isPooled }
    const stream = streamOf(client)
    readByTurns(stream)
    stream.on('data', ({ length }: Buffer) => uses.noteRead(connection, length))
    return connection
  }

  /** Uses callbacks for the same reason as createAsk. */
  function acquire(suspectAt: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      if (lost.isFrozen()) throw serverNotResponding()
      const waiter: Waiter = {
        suspectAt,
        missed: 0,
        seen: 0,
        deadline: suspectAt - suspectAfterMs + connectTimeoutMs,
        onConnection: resolve,
        onError: reject,
        giveUp(error) {
          waiting.delete(waiter)
          reject(error)
        },
      }
      pool.acquire(waiter)
    })
  }

  async function use<T>(
    statements: number,
    work: (borrowed: Borrowed) => Promise<T>,
    client?: CurrentClient,
  ): Promise<T> {
    const suspectAt = performance.now() + suspectAfterMs
    const connection = await acquire(suspectAt)
    const deadline = performance.now() + statements * options.statementTimeoutSeconds * 1000 + graceMs
    const current: Use = { deadline, bytesRead: 0, suspectAt, missed: 0 }
    uses.begin(connection, current)
    let isUsable = true
    const cancellation = client && cancelWhenGone(client, connection)
    try {
      if (client?.isGone()) throw clientGone()
      const isShared = connection.isPooled && opener.isTransactionPooled()
      return await work(isShared ? shared(connection, current, beginning) : own(connection))
    } catch (error) {
      if (cancellation?.isRequested()) throw clientGone()
      isUsable = isClientGone(error) || leavesConnectionUsable(error)
      // The other hosts may fit now, and this one no longer.
      if (isReadOnly(error) && hosts.all.length > 1) pool.dropHost(connection.host)
      if (!connection.isPooled || !isForeignStatement(error) || opener.isTransactionPooled()) throw error
      opener.assumeTransactionPooling()
    } finally {
      cancellation?.close()
      uses.end(connection)
      pool.release(connection, isUsable && !cancellation?.isRequested())
    }
    return use(statements, work, client)
  }

  async function end(): Promise<void> {
    await lost.close()
    await pool.end()
  }

  try {
    const [suitability] = await use(1, ({ ask }) => ask<Suitability>(suitabilityQuery))
    if (suitability) requireSuitable(suitability, hosts.place, hosts.all.length > 1)
  } catch (error) {
    await end()
    throw error instanceof FatalError ? error : cannotReach(hosts.place, error)
  }
  const load = () => ({ ...pool.load(), waiting: waiting.size })
  return { use, load, isTransactionPooled: opener.isTransactionPooled, end }
}

function own({ ask, statements }: Connection): Borrowed {
  statements.closeEvicted()
  return { ask, isShared: false, nameOf: statements.nameOf, begin: () => ask('BEGIN') }
}

/** The pooler may let a transaction wait for a server connection, as long as we would wait for one ourselves. */
function shared(connection: Connection, use: Use, [begin, set]: BeginStatements): Borrowed {
  const { ask } = connection
  const { deadline } = use
  connection.pid = 0
  use.deadline = Math.min(deadline, performance.now() + connectTimeoutMs)
  async function noteProcess(): Promise<void> {
    const [row] = await ask<{ pid: number }>(set)
    connection.pid = row?.pid ?? 0
    use.deadline = deadline
  }
  return { ask, isShared: true, begin: () => Promise.all([ask(begin), noteProcess()]) }
}

function cannotReach(place: string, cause: unknown): FatalError {
  const message = `cannot reach PostgreSQL at ${place}: ${errorMessage(cause)}`
  return new FatalError(message, exitCodes.unavailable, { cause })
}
