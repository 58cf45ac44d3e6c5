/** Connections to PostgreSQL, each lent for a statement or a batch and ended where no answer comes any more. */
import type { Socket } from 'node:net'
import pg from 'pg'
import { errorMessage } from '../../../core/error-message.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { startPeriodicTask } from '../../../core/periodic-task.ts'
import { withTimeout } from '../../../core/timeout.ts'
import { maxAnswerBytes } from '../database.ts'
import { leavesConnectionSound } from './errors.ts'
import { findWorking } from './liveness.ts'
import { placeOf, requireSuitable, type Suitability, sessionStatement, suitabilityQuery } from './session.ts'
import { parserOf } from './types.ts'

export interface ConnectionOptions {
  url: string
  poolSize: number
  statementTimeoutSeconds: number
  onConnectionLost(error: Error): void
}

/** Asks the connection that was lent. */
export type Ask = <Row extends object>(query: string | pg.QueryConfig) => Promise<Row[]>

export interface Connections {
  /** Lends one for so many statements, each of which has the whole time limit for itself. */
  use<T>(statements: number, work: (ask: Ask) => Promise<T>): Promise<T>
  end(): Promise<void>
}

/** Waiting for a free connection included: a queue that moves is let be, one that stands still is ended sooner. */
const connectTimeoutMs = 10_000
const graceMs = 5000
/** Together with the time limit of a look, a server that is frozen holds nobody for longer than five seconds. */
const lookEveryMs = 500
const suspectAfterMs = 1500
const looksBeforeLost = 2
/** Rows of so many bytes are read in well under a millisecond. */
const bytesPerTurn = 64 * 1024

interface Suspect {
  /** When the server is to be asked whether it is still at it. */
  suspectAt: number
  /** How often in a row the server knew nothing of the statement, or did not answer. */
  missed: number
}

interface Use extends Suspect {
  deadline: number
  bytesRead: number
}

/** Whoever waits for a connection, be it that all are in use or that a new one is being made. */
interface Wait extends Suspect {
  giveUp(error: Error): void
}

export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const uses = new Map<pg.ClientBase, Use>()
  const waits = new Set<Wait>()
  const pids = new WeakMap<pg.ClientBase, number>()
  let bytesUnderWay = 0
  /** Known not to answer: whoever comes is refused at once, until it does. */
  let isFrozen = false
  const setSession = sessionStatement({ statement_timeout: String(options.statementTimeoutSeconds * 1000) })
  const pool = new pg.Pool({ ...poolConfig(options), onConnect: setUp })
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', options.onConnectionLost)

  async function setUp(client: pg.ClientBase): Promise<void> {
    const stream = streamOf(client)
    readByTurns(stream)
    stream.on('data', ({ length }: Buffer) => {
      const use = uses.get(client)
      if (!use) return
      use.bytesRead += length
      use.suspectAt = performance.now() + suspectAfterMs
      bytesUnderWay += length
      if (bytesUnderWay > maxAnswerBytes) giveUpLongest()
    })
    const answer = createAsk(client)<{ pid: number }>(setSession)
    try {
      const [row] = await withTimeout(answer, connectTimeoutMs)
      pids.set(client, row?.pid ?? 0)
    } catch (error) {
      stream.destroy()
      // The pool ends what failed to be set up, which would wait for the answer to what is under way.
      await answer.catch(ignore)
      throw error
    }
  }

  /** Whoever has read the most, not whoever reads the last of it. */
  function giveUpLongest(): void {
    let longest: [pg.ClientBase, Use] | undefined
    for (const each of uses) if (!longest || each[1].bytesRead > longest[1].bytesRead) longest = each
    if (!longest) return
    const [client, use] = longest
    bytesUnderWay -= use.bytesRead
    use.bytesRead = 0
    streamOf(client).destroy()
  }

  // One look at all of them, not a timer for each. The server keeps its time limit only while it can be reached, so ours
  // is the last resort.
  const looking = startPeriodicTask({ everyMs: lookEveryMs, work: endLost, onError: ignore })

  async function endLost(): Promise<void> {
    const now = performance.now()
    for (const [client, { deadline }] of uses) if (now > deadline) streamOf(client).destroy()
    const suspects = [...uses].filter(([, { suspectAt }]) => now > suspectAt)
    const longWaits = [...waits].filter(({ suspectAt }) => now > suspectAt)
    if (suspects.length + longWaits.length === 0 && !isFrozen) return
    const working = await findWorking(
      options.url,
      suspects.map(([client]) => pids.get(client) ?? 0),
    ).catch(() => undefined)
    if (working) isFrozen = false
    for (const [client, use] of suspects) {
      // It may have been answered meanwhile, and lent again.
      if (uses.get(client) !== use || use.suspectAt > now) continue
      if (working?.has(pids.get(client) ?? 0)) {
        use.suspectAt = performance.now() + suspectAfterMs
        use.missed = 0
        continue
      }
      use.missed += 1
      // Not at once: its answer may have been on its way, and a server may be slow to take a connection.
      if (use.missed < looksBeforeLost) continue
      isFrozen ||= !working
      streamOf(client).destroy()
    }
    for (const wait of longWaits) {
      wait.missed = working ? 0 : wait.missed + 1
      if (working) wait.suspectAt = performance.now() + suspectAfterMs
      isFrozen ||= wait.missed >= looksBeforeLost
    }
    // Those that came later would find out the same.
    if (isFrozen) for (const wait of waits) wait.giveUp(doesNotAnswer())
  }

  /** By a callback, for the reason that createAsk gives. */
  function acquire(suspectAt: number): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      if (isFrozen) throw doesNotAnswer()
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
    // A connection that is lost fails its queries, which is enough; unheard, the event would end the process.
    client.on('error', ignore)
    const deadline = performance.now() + statements * options.statementTimeoutSeconds * 1000 + graceMs
    const lent: Use = { deadline, bytesRead: 0, suspectAt, missed: 0 }
    uses.set(client, lent)
    let isSound = true
    try {
      return await work(createAsk(client))
    } catch (error) {
      isSound = leavesConnectionSound(error)
      throw error
    } finally {
      uses.delete(client)
      bytesUnderWay -= lent.bytesRead
      client.off('error', ignore)
      // It may have been given up with the last of its answer.
      client.release(!isSound || streamOf(client).destroyed)
    }
  }

  async function end(): Promise<void> {
    await looking.close()
    await pool.end()
  }

  try {
    const [suitability] = await use(1, (ask) => ask<Suitability>(suitabilityQuery))
    if (suitability) requireSuitable(suitability, options.url)
  } catch (error) {
    await end()
    throw error instanceof FatalError ? error : cannotReach(options.url, error)
  }
  return { use, end }
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

function doesNotAnswer(): Error {
  return new Error('connection timeout: the server does not answer')
}

/** Node reads a socket until it is empty. A thousand rows read at once would hold up everybody for milliseconds. */
function readByTurns(stream: Socket): void {
  let read = 0
  const goOn = () => {
    read = 0
    stream.resume()
  }
  stream.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read < bytesPerTurn || stream.isPaused()) return
    stream.pause()
    setImmediate(goOn)
  })
}

/**
 * By a callback. The promise that the client would make, and so would its timer for each query, ties what was found to
 * what is found next: V8 then keeps and copies the rows of a hundred queries, for 8 to 16 ms at a time.
 */
function createAsk(client: pg.ClientBase): Ask {
  return <Row extends object>(query: string | pg.QueryConfig) =>
    new Promise<Row[]>((resolve, reject) => {
      client.query<Row>(query as pg.QueryConfig, (error: Error | null, answer) => {
        if (error) reject(error)
        else resolve(answer.rows)
      })
    })
}

/** The types of a pool's clients do not tell of it. */
function streamOf(client: pg.ClientBase): Socket {
  return (client as pg.Client).connection.stream as Socket
}

const ignore = () => {}
