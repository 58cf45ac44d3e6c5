import { setTimeout as sleep } from 'node:timers/promises'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { MigrationTransaction } from '../migrations.ts'
import { isBusy, openSqliteConnection, type SqliteConnection } from './connection.ts'
import { prepareRewrite, type RewriteOptions } from './rewrite-space.ts'

/** BEGIN IMMEDIATE is the lock: a second process waits for it and then finds nothing pending. */
export async function withSqliteMigrations<T>(
  path: string,
  work: (t: MigrationTransaction) => Promise<T>,
  options: RewriteOptions = {},
): Promise<T> {
  const connection = openSqliteConnection(path, { queryOnly: false, busyTimeoutMs: 50 })
  try {
    await begin(connection)
    const result = await work({
      dialect: 'sqlite',
      query: async <Row extends object>(sql: string, params: string[] = []) => connection.all(sql, params) as Row[],
      script: async (sql) => connection.exec(sql),
      prepare: (migration) => prepareRewrite(migration, { ...options, connection, path }),
    })
    connection.exec('COMMIT')
    return result
  } finally {
    // Closing rolls back an open transaction.
    connection.close()
  }
}

/** Sleeps between attempts instead of blocking in one, because the lock may be held by this event loop. */
async function begin(connection: SqliteConnection): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    try {
      return connection.exec('BEGIN IMMEDIATE')
    } catch (error) {
      if (!isBusy(error)) throw error
      await sleep(50)
    }
  }
  throw new FatalError('the database is locked by another process', exitCodes.unavailable)
}

const maxAttempts = 600
