import type pg from 'pg'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { MigrationTransaction } from '../migrations.ts'
import { createHosts } from './hosts.ts'
import { beginStatements } from './session.ts'

// An arbitrary number, the same in every process.
export const migrationLock = 7_236_114_809

/** Lock and settings are bound to the transaction, not to the session, so it works through any connection pooler. */
export async function withPostgresMigrations<T>(
  url: string,
  work: (t: MigrationTransaction) => Promise<T>,
): Promise<T> {
  const { client } = await createHosts(url).open({ application_name: 'latchkey migrations' })
  try {
    for (const sql of beginStatements({ lock_timeout: '60s' })) await client.query(sql)
    await lock(client)
    const result = await work({
      dialect: 'postgres',
      query: async <Row extends object>(sql: string, params: string[] = []) =>
        (await client.query<Row>(sql, params)).rows,
      script: async (sql) => void (await client.query(sql)),
    })
    await client.query('COMMIT')
    return result
  } finally {
    // Closing rolls back an open transaction.
    await client.end()
  }
}

async function lock(client: pg.Client): Promise<void> {
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock])
  } catch (error) {
    const message = `cannot get the lock for migrations: ${(error as Error).message}`
    throw new FatalError(message, exitCodes.unavailable, { cause: error })
  }
}
