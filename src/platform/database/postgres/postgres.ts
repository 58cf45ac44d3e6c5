/** The server engine: a pool of connections, each text a named statement that is prepared once per connection. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { serviceUnavailable } from '../../../core/app-error.ts'
import { createConcurrencyLimit } from '../../../core/concurrency-limit.ts'
import { hasReferences, isUndecided, nothing, requireParams, requireValues, resolveParams } from '../batch.ts'
import { type Database, maxWaitingScans, type Observe, type Statement, type Value } from '../database.ts'
import { type Ask, type ConnectionOptions, openConnections } from './connections.ts'
import { fromPostgresError, isConnectionError, isRetriable, refusesWrites } from './errors.ts'
import { type Suitability, suitabilityQuery } from './session.ts'

export interface PostgresOptions extends ConnectionOptions {
  observe: Observe
  /** A number from 0 to 1. */
  random(): number
}

const maxAttempts = 8

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const connections = await openConnections(options)
  const names = new Map<string, string>()
  let closing: Promise<void> | undefined
  let underWay = 0
  /** A write was refused: readiness tries one until it is taken. */
  let isInDoubt = false
  let onIdle = () => {}
  // Some connections are always left for what takes microseconds.
  const inScanSlot = createConcurrencyLimit({
    atOnce: Math.ceil(options.poolSize / 2),
    maxWaiting: maxWaitingScans,
    refusal: () => serviceUnavailable(),
  })

  /** Counts what is under way: the pool's own end() would forget those who still wait for a connection. */
  async function tracked<T>(operation: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    if (closing) throw serviceUnavailable(new Error('the database is closed'))
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
    await connections.end()
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
    return tracked('read', () => runSingle<Row>(sql, values))
  }

  async function scan<Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    requireValues(values)
    return tracked('read', () => inScanSlot(() => runSingle<Row>(sql, values)))
  }

  async function checkWritable(): Promise<void> {
    if (closing) throw serviceUnavailable(new Error('the database is closed'))
    const [state] = await connections.use(1, (ask) => ask<Suitability>(named(suitabilityQuery, [])))
    if (state?.standby || state?.read_only) throw serviceUnavailable(new Error('the database is read-only'))
    if (!isInDoubt) return
    try {
      await connections.use(3, writeAndTakeBack)
    } catch (error) {
      // Where it fails for another reason, as for want of a privilege, it tells nothing: the next write does.
      if (refusesWrites(error) || isConnectionError(error)) throw serviceUnavailable(error)
    }
    isInDoubt = false
  }

  async function write(...statements: Statement[]): Promise<object[][]> {
    requireParams(statements)
    return tracked('write', async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await runAll(statements)
        } catch (error) {
          isInDoubt ||= refusesWrites(error)
          if (attempt === maxAttempts || !isRetriable(error)) throw error
          // Two that met once should not meet again in step.
          await sleep(attempt * 20 * options.random())
        }
      }
    })
  }

  async function runAll(statements: Statement[]): Promise<object[][]> {
    const [{ sql, params } = { sql: '' }] = statements
    // A single statement is a transaction by itself; a deciding one that returns no row has changed none.
    if (statements.length === 1) return [await runSingle(sql, resolveParams(params, []))]
    const isIndependent = !statements.some((statement) => statement.decides || hasReferences(statement))
    const run = isIndependent ? pipelined : stepwise
    // BEGIN and COMMIT take their time too.
    return connections.use(statements.length + 2, (ask) => run(ask, statements))
  }

  async function runSingle<Row extends object>(sql: string, values: readonly Value[]): Promise<Row[]> {
    return connections.use(1, (ask) => ask<Row>(named(sql, values)))
  }

  /** Sends everything at once: one round trip, whatever the number of statements. */
  async function pipelined(ask: Ask, statements: Statement[]): Promise<object[][]> {
    const answers = await Promise.allSettled([
      ask('BEGIN'),
      ...statements.map(({ sql, params }) => ask(named(sql, resolveParams(params, [])))),
      ask('COMMIT'),
    ])
    // After a failed statement the server turns COMMIT into ROLLBACK; the first failure is the one that tells why.
    const failure = answers.find((answer) => answer.status === 'rejected')
    if (failure) throw failure.reason
    return answers.slice(1, -1).map((answer) => (answer as PromiseFulfilledResult<object[]>).value)
  }

  /** One after the other, where a statement needs what an earlier one returned. */
  async function stepwise(ask: Ask, statements: Statement[]): Promise<object[][]> {
    await ask('BEGIN')
    try {
      const rows: object[][] = []
      for (const statement of statements) {
        const { sql, params } = statement
        const answer = await ask(named(sql, resolveParams(params, rows)))
        if (isUndecided(statement, answer)) {
          await ask('ROLLBACK')
          return nothing(statements)
        }
        rows.push(answer)
      }
      await ask('COMMIT')
      return rows
    } catch (error) {
      if (!isConnectionError(error)) await ask('ROLLBACK')
      throw error
    }
  }

  return {
    dialect: 'postgres',
    get: async <Row extends object>(sql: string, params?: readonly Value[]) => (await query<Row>(sql, params))[0],
    all: query,
    scan,
    // The interface's overloads only sharpen the type of the rows.
    write: write as Database['write'],
    checkWritable,
    // The server looks after its own files.
    hasFaults: () => false,
    close: () => (closing ??= shutDown()),
  }
}

/**
 * On a full disk writes that need no more room pass, so this one needs some: a megabyte in a table of its own, where the
 * others are. Nothing of it stays.
 */
async function writeAndTakeBack(ask: Ask): Promise<void> {
  await ask('BEGIN')
  await ask('CREATE TABLE latchkey_write_check AS SELECT generate_series(1, 30000) AS filler')
  await ask('ROLLBACK')
}
