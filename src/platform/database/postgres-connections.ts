/** Connections to PostgreSQL, each lent for a statement or a batch and ended where no answer comes any more. */
import type { Socket } from 'node:net'
import pg from 'pg'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { reasonOf } from '../../core/reason.ts'
import { maxAnswerBytes } from './database.ts'
import { leavesConnectionSound } from './postgres-errors.ts'
import { parserOf } from './postgres-types.ts'

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

const connectTimeoutMs = 5000
const graceMs = 5000
const lookEveryMs = 1000
/** Rows of so many bytes are read in well under a millisecond. */
const bytesPerTurn = 64 * 1024

interface Use {
  deadline: number
  bytesRead: number
}

export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const uses = new Map<pg.ClientBase, Use>()
  let bytesUnderWay = 0
  const pool = new pg.Pool(poolConfig(options))
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', options.onConnectionLost)
  pool.on('connect', (client) => {
    const stream = streamOf(client)
    readByTurns(stream)
    stream.on('data', ({ length }: Buffer) => {
      const use = uses.get(client)
      if (!use) return
      use.bytesRead += length
      bytesUnderWay += length
      if (bytesUnderWay > maxAnswerBytes) giveUpLongest()
    })
  })

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

  // The server keeps its time limit only while it can be reached: a connection that fell silent ends by ours. One look
  // at all of them, not a timer for each.
  const looking = setInterval(() => {
    const now = performance.now()
    for (const [client, { deadline }] of uses) if (now > deadline) streamOf(client).destroy()
  }, lookEveryMs)
  looking.unref()

  async function use<T>(statements: number, work: (ask: Ask) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    // A connection that is lost fails its queries, which is enough; unheard, the event would end the process.
    client.on('error', ignore)
    const deadline = performance.now() + statements * options.statementTimeoutSeconds * 1000 + graceMs
    const lent: Use = { deadline, bytesRead: 0 }
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
    clearInterval(looking)
    await pool.end()
  }

  try {
    await use(1, (ask) => ask('SELECT 1'))
  } catch (error) {
    await end()
    throw cannotReach(options.url, error)
  }
  return { use, end }
}

function poolConfig({ url, poolSize, statementTimeoutSeconds }: ConnectionOptions): pg.PoolConfig {
  return {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    statement_timeout: statementTimeoutSeconds * 1000,
    application_name: 'latchkey',
    // Compiling a plan takes longer than any of our queries.
    options: '-c timezone=UTC -c jit=off',
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser: parserOf },
  } as pg.PoolConfig
}

/** One clear line, without the password that the URL may hold. */
function cannotReach(url: string, cause: unknown): FatalError {
  const { host, pathname } = new URL(url)
  const message = `cannot reach PostgreSQL at ${host}${pathname}: ${reasonOf(cause)}`
  return new FatalError(message, exitCodes.unavailable, { cause })
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
function createAsk(client: pg.PoolClient): Ask {
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
