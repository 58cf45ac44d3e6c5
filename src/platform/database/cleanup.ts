/** Removes rows that have expired, in the background and in small batches, so that nobody ever waits for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { repeat } from '../../core/repeat.ts'
import type { Log } from '../log/logger.ts'
import type { Database } from './database.ts'

/** A table with a column `expires_at` in Unix seconds, or with a column `at`, after which rows are kept for so long. */
export interface Expiring {
  table: string
  key: string
  keptSeconds?: number
}

export interface CleanupOptions {
  db: Database
  clock: Clock
  log: Log
  tables: readonly Expiring[]
}

const everyMs = 60_000
const batch = 500
const pauseMs = 20

export function startCleanup({ db, clock, log, tables }: CleanupOptions) {
  let isClosed = false

  /** Answers how many rows it removed. */
  async function run(): Promise<number> {
    let removed = 0
    for (const { table, key, keptSeconds } of tables) {
      const column = keptSeconds === undefined ? 'expires_at' : 'at'
      // The time is asked for twice: a row that was renewed while we waited for it is not expired any more.
      const sql = `DELETE FROM ${table} WHERE ${key} IN
        (SELECT ${key} FROM ${table} WHERE ${column} <= $1 ORDER BY ${column} LIMIT ${batch})
        AND ${column} <= $1 RETURNING ${key}`
      for (let isMore = true; isMore && !isClosed; ) {
        const end =
          keptSeconds === undefined ? clock.nowSeconds() : new Date(clock.now() - keptSeconds * 1000).toISOString()
        const [rows] = await db.write({ sql, params: [end] })
        removed += rows.length
        isMore = rows.length === batch
        if (isMore) await sleep(pauseMs)
      }
    }
    return removed
  }

  const repeated = repeat({
    everyMs,
    work: run,
    onError: (error) => log.warn({ err: error }, 'clean-up failed; it is tried again in a minute'),
  })

  return {
    run,
    async close() {
      isClosed = true
      await repeated.close()
    },
  }
}
