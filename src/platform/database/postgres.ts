/** The server engine: a pool of connections, each text a named statement that is prepared once per connection. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { reasonOf } from '../../core/reason.ts'
import { hasReferences, isUndecided, nothing, requireParams, requireValues, resolveParams } from './batch.ts'
import {
  ConstraintError,
  type ConstraintKind,
  type Database,
  databaseUnavailable,
  type Observe,
  type Statement,
  type Value,
} from './database.ts'

export interface PostgresOptions {
  url: string
  poolSize: number
  statementTimeoutSeconds: number
  onConnectionLost(error: Error): void
  observe: Observe
  /** A number from 0 to 1. */
  random(): number
}

type Client = pg.PoolClient
type Answer = pg.QueryResult<object>

const connectTimeoutMs = 5000
/** A deadlock's victim may simply try again: nothing of its batch was kept. */
const maxAttempts = 8

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const pool = new pg.Pool(poolConfig(options))
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', options.onConnectionLost)
  const names = new Map<string, string>()
  let closing: Promise<void> | undefined
  let underWay = 0
  let onIdle = () => {}

  /** Counts what is under way: the pool's own end() would forget those who still wait for a connection. */
  async function tracked<T>(operation: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    if (closing) throw databaseUnavailable(new Error('the database is closed'))
    underWay += 1
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      throw fromPostgresError(error)
    } finally {
      options.observe(operation, performance.now() - start)
      underWay -= 1
      if (underWay === 0) onIdle()
    }
  }

  async function shutDown(): Promise<void> {
    if (underWay > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    await pool.end()
  }

  function named(sql: string, values: readonly Value[]): pg.QueryConfig {
    let name = names.get(sql)
    if (name === undefined) {
      name = `s${names.size + 1}`
      names.set(sql, name)
    }
    return { name, text: sql, values: values as Value[] }
  }

  async function query<Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    requireValues(values)
    return tracked('read', async () => (await pool.query<Row>(named(sql, values))).rows)
  }

  async function write(...statements: Statement[]): Promise<object[][]> {
    requireParams(statements)
    return tracked('write', async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await (statements.length === 1 ? runSingle(statements) : runBatch(statements))
        } catch (error) {
          if (attempt === maxAttempts || !retriableCodes.has(codeOf(error))) throw error
          // Two that met once should not meet again in step.
          await sleep(attempt * 20 * options.random())
        }
      }
    })
  }

  /** A single statement is a transaction by itself; a deciding one that returns no row has changed none. */
  async function runSingle([statement]: Statement[]): Promise<object[][]> {
    const { sql, params } = statement as Statement
    return [(await pool.query<object>(named(sql, resolveParams(params, [])))).rows]
  }

  async function runBatch(statements: Statement[]): Promise<object[][]> {
    const client = await pool.connect()
    // A connection that is lost fails its queries, which is enough; unheard, the event would end the process.
    client.on('error', ignore)
    let failed: Error | undefined
    try {
      const isIndependent = !statements.some((statement) => statement.decides || hasReferences(statement))
      return await (isIndependent ? pipelined(client, statements) : stepwise(client, statements))
    } catch (error) {
      failed = error as Error
      throw error
    } finally {
      // A connection that broke in the middle must not go back to the pool.
      client.off('error', ignore)
      client.release(failed !== undefined && isConnectionError(failed))
    }
  }

  /** Sends everything at once: one round trip, whatever the number of statements. */
  async function pipelined(client: Client, statements: Statement[]): Promise<object[][]> {
    const answers = await Promise.allSettled([
      client.query('BEGIN'),
      ...statements.map(({ sql, params }) => client.query<object>(named(sql, resolveParams(params, [])))),
      client.query('COMMIT'),
    ])
    // After a failed statement the server turns COMMIT into ROLLBACK; the first failure is the one that tells why.
    const failure = answers.find((answer) => answer.status === 'rejected')
    if (failure) throw failure.reason
    return answers.slice(1, -1).map((answer) => (answer as PromiseFulfilledResult<Answer>).value.rows)
  }

  /** One after the other, where a statement needs what an earlier one returned. */
  async function stepwise(client: Client, statements: Statement[]): Promise<object[][]> {
    await client.query('BEGIN')
    try {
      const rows: object[][] = []
      for (const statement of statements) {
        const { sql, params } = statement
        const answer = await client.query<object>(named(sql, resolveParams(params, rows)))
        if (isUndecided(statement, answer.rows)) {
          await client.query('ROLLBACK')
          return nothing(statements)
        }
        rows.push(answer.rows)
      }
      await client.query('COMMIT')
      return rows
    } catch (error) {
      if (!isConnectionError(error)) await client.query('ROLLBACK')
      throw error
    }
  }

  await requireReachable(pool, options.url)
  return {
    dialect: 'postgres',
    get: async <Row extends object>(sql: string, params?: readonly Value[]) => (await query<Row>(sql, params))[0],
    all: query,
    scan: query,
    // The interface's overloads only sharpen the type of the rows.
    write: write as Database['write'],
    close: () => (closing ??= shutDown()),
  }
}

function poolConfig({ url, poolSize, statementTimeoutSeconds }: PostgresOptions): pg.PoolConfig {
  return {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    statement_timeout: statementTimeoutSeconds * 1000,
    // The server keeps its time limit only while it can be reached: a connection that fell silent ends by ours.
    query_timeout: (statementTimeoutSeconds + 5) * 1000,
    application_name: 'latchkey',
    // Compiling a plan takes longer than any of our queries.
    options: '-c timezone=UTC -c jit=off',
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser: parserOf },
  } as pg.PoolConfig
}

/** Throws one clear line where the server does not answer, without the password that the URL may hold. */
async function requireReachable(pool: pg.Pool, url: string): Promise<void> {
  try {
    await pool.query('SELECT 1')
  } catch (error) {
    await pool.end()
    const { host, pathname } = new URL(url)
    throw new FatalError(`cannot reach PostgreSQL at ${host}${pathname}: ${reasonOf(error)}`, exitCodes.unavailable, {
      cause: error,
    })
  }
}

/** Names PostgreSQL's errors as the interface does. https://www.postgresql.org/docs/current/errcodes-appendix.html */
function fromPostgresError(error: unknown): Error {
  const kind = constraintKinds.get(codeOf(error))
  if (kind) return new ConstraintError(kind, { cause: error })
  return isConnectionError(error) || isOverloaded(codeOf(error)) ? databaseUnavailable(error) : (error as Error)
}

const constraintKinds: ReadonlyMap<string, ConstraintKind> = new Map([
  ['23502', 'not_null'],
  ['23503', 'foreign_key'],
  ['23505', 'unique'],
  ['23514', 'check'],
])
const retriableCodes: ReadonlySet<string> = new Set(['40001', '40P01'])

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

/** Out of resources (class 53), a statement over its time (57014), read-only after a fail-over (25006). */
function isOverloaded(code: string): boolean {
  return code.startsWith('53') || code === '57014' || code === '25006'
}

/** A code of the socket, of the server on its way out (57P), or none at all: the pool's and the client's own errors. */
function isConnectionError(error: unknown): boolean {
  const code = codeOf(error)
  if (/^(08|57P|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/.test(code)) return true
  return code === '' && /connect|timeout|terminated/i.test(String(error))
}

const ignore = () => {}
const int8 = 20
const timestamptz = 1184

/** Rows look as they do from SQLite: integers are numbers, timestamps ISO 8601 in UTC. */
function parserOf(oid: number, format?: string): (value: never) => unknown {
  if (oid === int8) return Number
  if (oid === timestamptz) return toIso
  return pg.types.getTypeParser(oid, format as 'text')
}

/** From what PostgreSQL writes in UTC, `2026-01-02 03:04:05.678+00`. By way of a Date it would take ten times as long. */
export function toIso(value: string): string {
  if (!/^\d{4}-.{14,21}\+00$/.test(value)) return new Date(value).toISOString()
  const milliseconds = value.slice(20, -3).slice(0, 3).padEnd(3, '0')
  return `${value.slice(0, 10)}T${value.slice(11, 19)}.${milliseconds}Z`
}
