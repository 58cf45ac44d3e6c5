/**
 * Row counts and positions of large lists without COUNT(*) and OFFSET. Triggers maintain counts per block of ids, at three
 * levels (see the migration "counts").
 */
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Log } from '../log/logger.ts'
import type { Database, Statement } from './database.ts'

/** The name of a table that a feature has declared as counted. */
export type CountedList = string

/**
 * How counts are read and restored: the view adds what PostgreSQL's writers have not folded yet. SQLite has no table of
 * changes.
 */
export const countTables = { counts: 'kept_counts', changes: 'kept_count_changes', view: 'current_counts' } as const

/** Each level's blocks hold 2^level ids. */
const levels = [21, 14, 7] as const
const fanOut = 128

const beyond: Place = { id: Number.MAX_SAFE_INTEGER, skip: 0 }

/** Where to start reading: at this id, skipping `skip` rows. */
export interface Place {
  id: number
  skip: number
}

export interface MaintainedCounts {
  total(list: CountedList): Promise<number>
  /** As the last statement of a batch: counts the batch's own changes too. */
  totalNow(list: CountedList): Statement
  /**
   * As the first statements of a batch whose total must be unique: no other such batch counts the list until this one
   * commits. SQLite has a single writer and needs no lock.
   */
  lock(list: CountedList): Statement[]
  /** Finds the row that has `before` rows before it, by id ascending. */
  find(list: CountedList, before: number): Promise<Place>
}

const totalSql = `SELECT CAST(COALESCE(sum(live), 0) AS BIGINT) AS total FROM current_counts WHERE list = $1 AND level = 21`

// Released at the end of the transaction. A separate statement, because one that waits for the lock and counts would
// count on a snapshot from before the wait.
const lockSql = 'SELECT 1 AS locked FROM pg_advisory_xact_lock(71522, hashtext($1))'

export function createMaintainedCounts(db: Database): MaintainedCounts {
  return {
    async total(list) {
      const row = await db.get<{ total: number }>(totalSql, [list])
      return row?.total ?? 0
    },

    totalNow: (list) => ({ sql: totalSql, params: [list] }),

    lock: (list) => (db.dialect === 'sqlite' ? [] : [{ sql: lockSql, params: [list] }]),

    async find(list, before) {
      let skip = before
      let [first, end] = [0, Number.MAX_SAFE_INTEGER]
      if (before === 0) return { id: first, skip }
      for (const level of levels) {
        const blocks = await db.all<{ block: number; live: number }>(
          `SELECT block, live FROM current_counts
           WHERE list = $1 AND level = $2 AND block >= $3 AND block < $4 ORDER BY block`,
          [list, level, first, end],
        )
        const found = blocks.find(({ live }) => {
          if (skip < live) return true
          skip -= live
          return false
        })
        // Rows were deleted between the queries: continue right after the skipped blocks.
        if (!found) return level === levels[0] ? beyond : { id: end * 2 ** level, skip }
        first = found.block * fanOut
        end = first + fanOut
      }
      return { id: first, skip }
    },
  }
}

const foldEveryMs = 1000
const foldAtOnce = 20_000

/**
 * Folds the count changes of PostgreSQL's writers into kept_counts. Readers add pending changes, so counts are always
 * exact; folding keeps the changes few. SQLite has none.
 */
export function startFolding({ db, log }: { db: Database; log: Log }): { close(): Promise<void> } {
  if (db.dialect === 'sqlite') return { close: async () => {} }
  return startPeriodicTask({
    everyMs: foldEveryMs,
    work: () => foldCounts(db),
    onError: (error) => log.warn({ err: error }, 'folding the row counts failed; retrying in a second'),
  })
}

export async function foldCounts(db: Database): Promise<void> {
  if (db.dialect === 'sqlite') return
  for (let isMore = true; isMore; ) {
    const [rows] = await db.write<{ folded: number }>({ sql: fold })
    isMore = rows[0]?.folded === foldAtOnce
  }
}

// One node at a time: if another holds the lock, no row is selected.
const fold = `
  WITH gone AS (
    DELETE FROM kept_count_changes WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM kept_count_changes WHERE (SELECT pg_try_advisory_xact_lock(7152203481)) LIMIT ${foldAtOnce}
    )) RETURNING list, block, change
  ), added AS (
    INSERT INTO kept_counts (list, level, block, live)
    SELECT list, level, block >> (level - 7), sum(change)
    FROM gone, (VALUES (7), (14), (21)) AS levels (level) GROUP BY 1, 2, 3
    ON CONFLICT (list, level, block) DO UPDATE SET live = kept_counts.live + excluded.live
  )
  SELECT count(*) AS folded FROM gone`
