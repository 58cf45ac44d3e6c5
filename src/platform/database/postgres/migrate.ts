import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { ConcurrentIndex, MigrationTransaction } from '../migrations.ts'
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
      buildIndexes: (indexes) => buildIndexes(client, open, indexes),
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
): Promise<void> {
  for (const { name, table, definition } of indexes) {
    // Without parameters: with some, the snapshot would be kept until the next statement, and the build would wait for it.
    const { rowCount } = await transaction.query(`SELECT 1 WHERE to_regclass('${table}') IS NOT NULL`)
    if (rowCount === 0) continue
    const client = await open()
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
      await client.end()
    }
  }
}
