import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { ConcurrentIndex, MigrationTransaction, SteppedUpdate } from '../migrations.ts'
import { createHosts } from './hosts.ts'
import { beginStatements } from './session.ts'

// An arbitrary number, the same in every process.
export const migrationLock = 7_236_114_809

const lockAttempts = 600
const lockPauseMs = 100

/** Lock and settings are bound to the transaction, not to the session, so it works through any connection pooler. */
export async function withPostgresMigrations<T>(
  url: string,
  work: (t: MigrationTransaction) => Promise<T>,
  onLongWork: (line: string) => void = () => {},
): Promise<T> {
  const open = async () => (await createHosts(url).open({ application_name: 'latchkey migrations' })).client
  const client = await open()
  try {
    await beginLocked(client)
    const result = await work({
      dialect: 'postgres',
      query: async <Row extends object>(sql: string, params: string[] = []) =>
        (await client.query<Row>(sql, params)).rows,
      script: async (sql) => void (await client.query(sql)),
      buildIndexes: (indexes) => buildIndexes(client, open, indexes, onLongWork),
      runSteps: (steps) => runSteps(open, steps, onLongWork),
    })
    await client.query('COMMIT')
    return result
  } finally {
    // Closing rolls back an open transaction.
    await client.end()
  }
}

/** Polls, because CREATE INDEX CONCURRENTLY in another process waits for every transaction that has a snapshot. */
async function beginLocked(client: pg.Client): Promise<void> {
  // The transaction is idle while indexes are built.
  const begin = beginStatements({ lock_timeout: '60s', idle_in_transaction_session_timeout: '0' })
  for (let attempt = 0; attempt < lockAttempts; attempt++) {
    for (const sql of begin) await client.query(sql)
    const { rowCount } = await client.query(`SELECT 1 WHERE pg_try_advisory_xact_lock(${migrationLock})`)
    if (rowCount === 1) return
    await client.query('ROLLBACK')
    await sleep(lockPauseMs)
  }
  throw new FatalError('cannot get the lock for migrations: another process is migrating', exitCodes.unavailable)
}

const undefinedColumn = '42703'

/**
 * On a connection of its own, because CONCURRENTLY refuses to run in a transaction. The transaction of the migrations has
 * not touched a table yet, so nobody waits for it; its lock keeps other processes from building the same index.
 */
async function buildIndexes(
  transaction: pg.Client,
  open: () => Promise<pg.Client>,
  indexes: readonly ConcurrentIndex[],
  onLongWork: (line: string) => void,
): Promise<void> {
  for (const { name, table, definition } of indexes) {
    // Without parameters: with some, the snapshot would be kept until the next statement, and the build would wait for it.
    const { rowCount } = await transaction.query(`SELECT 1 WHERE to_regclass('${table}') IS NOT NULL`)
    if (rowCount === 0) continue
    const client = await open()
    // Also without parameters.
    const progress = setInterval(async () => {
      const { rows } = await transaction.query<{ phase: string; done: string }>(progressOf(table)).catch(() => none)
      for (const { phase, done } of rows) onLongWork(`building the index ${name}: ${phase}, ${done}%`)
    }, progressMs)
    try {
      // An interrupted build leaves an index behind that is never used.
      const invalid = 'SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid'
      if ((await client.query(invalid, [name])).rowCount !== 0) await client.query(`DROP INDEX CONCURRENTLY ${name}`)
      await client.query(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${definition}`)
    } catch (error) {
      // Another pending migration adds the column, so the index is left to its own.
      if ((error as { code?: unknown }).code === undefinedColumn) continue
      const message = `cannot build the index ${name}: ${(error as Error).message}`
      throw new FatalError(message, exitCodes.unavailable, { cause: error })
    } finally {
      clearInterval(progress)
      await client.end()
    }
  }
}

const progressMs = 10_000
const none = { rows: [] }

function progressOf(table: string): string {
  return `SELECT phase, COALESCE(100 * blocks_done / NULLIF(blocks_total, 0), 0) AS done
    FROM pg_stat_progress_create_index WHERE relid = to_regclass('${table}')`
}

/** Fewer rows take no time. */
const manyRows = 10_000
const stepMs = 100
const pauseMs = 20

/** On a connection of its own, each step in a transaction of its own, so that nobody waits for longer than that. */
async function runSteps(
  open: () => Promise<pg.Client>,
  steps: readonly SteppedUpdate[],
  onLongWork: (line: string) => void,
): Promise<void> {
  for (const { table, set, where, without } of steps) {
    const client = await open()
    const alter = (action: string) =>
      without.length === 0
        ? ''
        : `ALTER TABLE "${table}" ${without.map((name) => `${action} TRIGGER ${name}`).join(', ')};`
    try {
      const { rows } = await client.query<{ last: string }>(`SELECT COALESCE(max(id), 0) AS last FROM "${table}"`)
      const last = Number(rows[0]?.last)
      let toldAt = performance.now()
      for (let [done, count] = [0, 1000]; last > manyRows && done < last; ) {
        const began = performance.now()
        const to = done + count
        await client.query(`BEGIN; SET LOCAL lock_timeout = '60s'; ${alter('DISABLE')}
          UPDATE "${table}" SET ${set} WHERE id > ${done} AND id <= ${to} AND (${where}); ${alter('ENABLE')} COMMIT`)
        const now = performance.now()
        done = to
        count = Math.ceil(Math.min(2 * count, (count * stepMs) / (now - began)))
        if (now - toldAt > progressMs) {
          onLongWork(`updating the rows of ${table} for a migration: ${Math.min(done, last)} of ${last}`)
          toldAt = now
        }
        await sleep(pauseMs)
      }
    } catch (error) {
      // It needs a table, a column or a trigger that another pending migration adds.
      if (notThere.includes(String((error as { code?: unknown }).code))) continue
      const message = `cannot update the rows of ${table}: ${(error as Error).message}`
      throw new FatalError(message, exitCodes.unavailable, { cause: error })
    } finally {
      await client.end()
    }
  }
}

const notThere = [undefinedColumn, '42P01', '42704']
