/** Removes expired rows in the background, in small batches so that requests never wait for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Log } from '../log/logger.ts'
import type { Database } from './database.ts'

/**
 * A table with an indexed column `expires_at` in Unix seconds or, if `keptSeconds` is given, with a column `at`. The latter
 * needs no index, because its keys grow with time.
 */
export interface Expiring {
  table: string
  key: string
  keptSeconds?: number
  /** How long rows stay after their `expires_at`, if they are still shown. */
  keptAfterSeconds?: number
  /** A row that has not expired means that a node runs. */
  isPresence?: boolean
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
/** Rows examined per batch. More than a batch, because with differing clocks of nodes keys are not quite in time order. */
const maxExamined = 5000

export function startCleanup({ db, clock, log, tables }: CleanupOptions) {
  let isClosed = false

  /** Returns how many rows it removed. */
  async function run(): Promise<number> {
    let removed = 0
    for (const { table, key, keptSeconds, keptAfterSeconds = 0 } of tables) {
      const sql = keptSeconds === undefined ? removeExpired(table, key) : removeOld(table, key)
      for (let isMore = true; isMore && !isClosed; ) {
        const end =
          keptSeconds === undefined
            ? clock.nowSeconds() - keptAfterSeconds
            : new Date(clock.now() - keptSeconds * 1000).toISOString()
        const [rows] = await db.write({ sql, params: [end] })
        removed += rows.length
        isMore = rows.length === batch
        if (isMore) await sleep(pauseMs)
      }
    }
    return removed
  }

  const repeated = startPeriodicTask({
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

function removeExpired(table: string, key: string): string {
  // The condition is repeated, because a row may have been renewed while this statement waited for its lock.
  return `DELETE FROM ${table} WHERE ${key} IN
    (SELECT ${key} FROM ${table} WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${batch})
    AND expires_at <= $1 RETURNING ${key}`
}

function removeOld(table: string, key: string): string {
  return `DELETE FROM ${table} WHERE ${key} IN
    (SELECT ${key} FROM (SELECT ${key}, at FROM ${table} ORDER BY ${key} LIMIT ${maxExamined}) AS first_ones
     WHERE at <= $1 ORDER BY ${key} LIMIT ${batch})
    RETURNING ${key}`
}
