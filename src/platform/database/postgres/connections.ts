/** A pool of PostgreSQL connections, borrowed per statement or batch, and closed when the server stops responding. */
import pg from 'pg'
import { errorMessage } from '../../../core/error-message.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { withTimeout } from '../../../core/timeout.ts'
import { type Ask, createAsk, readByTurns, streamOf } from './client.ts'
import { endLostConnections, serverNotResponding, type Wait } from './lost-connections.ts'
import { leavesConnectionUsable } from './postgres-error-codes.ts'
import { placeOf, requireSuitable, type Suitability, sessionStatement, suitabilityQuery } from './session.ts'
import { parserOf } from './types.ts'
import { suspectAfterMs, Uses } from './uses.ts'

export interface ConnectionOptions {
  url: string
  poolSize: number
  statementTimeoutSeconds: number
  onConnectionLost(error: Error): void
}

export interface Connections {
  /** Borrows a connection for so many statements; the time limit applies to each. */
  use<T>(statements: number, work: (ask: Ask) => Promise<T>): Promise<T>
  load(): { in_use: number; idle: number; waiting: number }
  end(): Promise<void>
}

/** Includes the wait for a free connection. If the server does not respond at all, waits end sooner (lost-connections.ts). */
const connectTimeoutMs = 10_000
const graceMs = 5000

export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const uses = new Uses()
  const waits = new Set<Wait>()
  const pids = new WeakMap<pg.ClientBase, number>()
  const setSession = sessionStatement({ statement_timeout: String(options.statementTimeoutSeconds * 1000) })
  const pool = new pg.Pool({ ...poolConfig(options), onConnect: setUp })
  // The pool replaces a broken idle connection; an 'error' event without a listener would end the process.
  pool.on('error', options.onConnectionLost)
  const lost = endLostConnections({ url: options.url, uses, waits, pidOf: (client) => pids.get(client) ?? 0 })

  async function setUp(client: pg.ClientBase): Promise<void> {
    const stream = streamOf(client)
    readByTurns(stream)
    stream.on('data', ({ length }: Buffer) => uses.noteRead(client, length))
    const session = createAsk(client)<{ pid: number }>(setSession)
    try {
      const [row] = await withTimeout(session, connectTimeoutMs)
      pids.set(client, row?.pid ?? 0)
    } catch (error) {
      stream.destroy()
      // The pool would end this client gracefully, that is, wait for the pending query.
      await session.catch(ignore)
      throw error
    }
  }

  /** Uses a callback for the same reason as createAsk. */
  function acquire(suspectAt: number): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      if (lost.isFrozen()) throw serverNotResponding()
      const wait: Wait = {
        suspectAt,
        missed: 0,
        giveUp(error) {
          waits.delete(wait)
          reject(error)
        },
      }
      waits.add(wait)
      pool.connect((error, client) => {
        const isGivenUp = !waits.delete(wait)
        if (isGivenUp) client?.release()
        else if (client) resolve(client)
        else reject(error)
      })
    })
  }

  async function use<T>(statements: number, work: (ask: Ask) => Promise<T>): Promise<T> {
    const suspectAt = performance.now() + suspectAfterMs
    const client = await acquire(suspectAt)
    // A lost connection fails its queries; the event only needs a listener, or it would end the process.
    client.on('error', ignore)
    const deadline = performance.now() + statements * options.statementTimeoutSeconds * 1000 + graceMs
    uses.begin(client, { deadline, bytesRead: 0, suspectAt, missed: 0 })
    let isUsable = true
    try {
      return await work(createAsk(client))
    } catch (error) {
      isUsable = leavesConnectionUsable(error)
      throw error
    } finally {
      uses.end(client)
      client.off('error', ignore)
      // The socket may have been destroyed just as the last of the result arrived.
      client.release(!isUsable || streamOf(client).destroyed)
    }
  }

  async function end(): Promise<void> {
    await lost.close()
    await pool.end()
  }

  try {
    const [suitability] = await use(1, (ask) => ask<Suitability>(suitabilityQuery))
    if (suitability) requireSuitable(suitability, options.url)
  } catch (error) {
    await end()
    throw error instanceof FatalError ? error : cannotReach(options.url, error)
  }
  const load = () => ({ in_use: uses.all().length, idle: pool.idleCount, waiting: waits.size })
  return { use, load, end }
}

function poolConfig({ url, poolSize }: ConnectionOptions): pg.PoolConfig {
  return {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    application_name: 'latchkey',
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser: parserOf },
  } as pg.PoolConfig
}

function cannotReach(url: string, cause: unknown): FatalError {
  const message = `cannot reach PostgreSQL at ${placeOf(url)}: ${errorMessage(cause)}`
  return new FatalError(message, exitCodes.unavailable, { cause })
}

const ignore = () => {}
