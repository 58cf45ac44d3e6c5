/** The PostgreSQL implementation of the database interface. */
import { setTimeout as sleep } from 'node:timers/promises'
import { serviceUnavailable } from '../../../core/app-error.ts'
import { requireParams, requireValues, resolveParams } from '../batch.ts'
import type { Database, DatabaseLoad, Observe, Statement, Value } from '../database.ts'
import { createScanQueue } from '../scan-queue.ts'
import { type Borrowed, type ConnectionOptions, openConnections } from './connections.ts'
import {
  fromPostgresError,
  isConnectionError,
  isRetriable,
  ReadOnlyError,
  refusesWrites,
} from './postgres-error-codes.ts'
import { type Suitability, suitabilityQuery } from './session.ts'
import { createSharedInserts } from './shared-inserts.ts'
import { createSharedLists } from './shared-lists.ts'
import { createSharedReads } from './shared-reads.ts'
import { createStatements } from './statements.ts'

export interface PostgresOptions extends ConnectionOptions {
  observe: Observe
  /** A number from 0 to 1. */
  random(): number
}

const maxAttempts = 8

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const connections = await openConnections(options)
  const { runSingle, runAll, findTypes } = createStatements(connections)
  const readOne = createSharedReads({ run: runSingle, findTypes })
  const insertOne = createSharedInserts({ run: runSingle, findTypes })
  const sharedLists = createSharedLists(runSingle)
  const { tracked, requireOpen, close } = trackOperations(options.observe, connections.end)
  /** A write was refused. The readiness check then tries one until it succeeds. */
  let isInDoubt = false
  // At least half of the connections stay free for short queries, unless there is only one.
  const scans = createScanQueue(Math.max(1, Math.floor(options.poolSize / 2)))

  async function query<Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    requireValues(values)
    return tracked('read', () => sharedLists.all(sql, values) as Promise<Row[]>)
  }

  async function get<Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row | undefined> {
    requireValues(values)
    return tracked('read', () => readOne(sql, values) as Promise<Row | undefined>)
  }

  async function scan<Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    requireValues(values)
    return tracked('read', () => scans.run((client) => runSingle<Row>(sql, values, client)))
  }

  function load(): DatabaseLoad {
    const { waiting, ...used } = connections.load()
    return { waiting: { connection: waiting, scan: scans.waiting() }, connections: used }
  }

  async function checkWritable(): Promise<void> {
    requireOpen()
    try {
      await connections.use(1, requireWritable)
    } catch (error) {
      throw refusesWrites(error) ? serviceUnavailable(error) : error
    }
    if (!isInDoubt) return
    try {
      await connections.use(3, writeAndTakeBack)
    } catch (error) {
      // Any other failure, such as a missing privilege to create tables, proves nothing.
      if (refusesWrites(error) || isConnectionError(error)) throw serviceUnavailable(error)
    }
    isInDoubt = false
  }

  async function run(statements: Statement[]): Promise<object[][]> {
    const [first] = statements
    if (statements.length !== 1 || !first?.insertsOne) return runAll(statements)
    const row = await insertOne(first.sql, resolveParams(first.params, []))
    return [row ? [row] : []]
  }

  async function write(...statements: Statement[]): Promise<object[][]> {
    requireParams(statements)
    return tracked('write', async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await run(statements)
        } catch (error) {
          isInDoubt ||= refusesWrites(error)
          if (attempt === maxAttempts || !isRetriable(error)) throw error
          // Jitter, so that the two transactions do not collide again.
          await sleep(attempt * 20 * options.random())
        }
      }
    })
  }

  return {
    dialect: 'postgres',
    get,
    all: query,
    scan,
    // The overloads of the interface only narrow the row types.
    write: write as Database['write'],
    checkWritable,
    isTransactionPooled: connections.isTransactionPooled,
    // The files are the server's concern.
    hasFaults: () => false,
    load,
    close,
  }
}

/** Counts pending operations, because `end` does not wait for those that still wait for a connection. */
function trackOperations(observe: Observe, end: () => Promise<void>) {
  let closing: Promise<void> | undefined
  let underWay = 0
  let onIdle = () => {}

  function requireOpen(): void {
    if (closing) throw serviceUnavailable(new Error('the database is closed'))
  }

  async function tracked<T>(operation: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    requireOpen()
    underWay += 1
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      throw fromPostgresError(error)
    } finally {
      observe(operation, performance.now() - start)
      underWay -= 1
      if (underWay === 0) onIdle()
    }
  }

  async function shutDown(): Promise<void> {
    if (underWay > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    await end()
  }

  return { tracked, requireOpen, close: () => (closing ??= shutDown()) }
}

async function requireWritable({ ask }: Borrowed): Promise<void> {
  const [state] = await ask<Suitability>(suitabilityQuery)
  if (state?.standby || state?.read_only) throw new ReadOnlyError()
}

/** On a full disk small writes still succeed, so this one allocates a megabyte, in a table that is rolled back. */
async function writeAndTakeBack({ ask, begin }: Borrowed): Promise<void> {
  await begin()
  await ask('CREATE TABLE latchkey_write_check AS SELECT generate_series(1, 30000) AS filler')
  await ask('ROLLBACK')
}
