/**
 * How many rows a list has, and which id stands at which place of it, without counting: the database keeps counts for
 * blocks of ids, at three levels (see the migration "counts").
 */
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Log } from '../log/logger.ts'
import type { Database, Statement } from './database.ts'

/** The name of a table that a feature has declared as counted. */
export type CountedList = string

/** Each level's blocks hold 2^level ids. */
const levels = [21, 14, 7] as const
const fanOut = 128

const beyond: Place = { id: Number.MAX_SAFE_INTEGER, skip: 0 }

/** Where to begin reading: at this id, leaving out the first `skip` rows. */
export interface Place {
  id: number
  skip: number
}

export interface MaintainedCounts {
  total(list: CountedList): Promise<number>
  /** The same as the last statement of a batch: the number is then the one that the batch has led to. */
  totalNow(list: CountedList): Statement
  /**
   * The first statements of a batch whose total must be unlike that of any other: until it is committed, no other such
   * batch counts the list. SQLite has one writer, so it needs none.
   */
  lock(list: CountedList): Statement[]
  /** Where the row stands that has `before` rows before it, by id ascending. */
  find(list: CountedList, before: number): Promise<Place>
}

const totalSql = `SELECT CAST(COALESCE(sum(live), 0) AS BIGINT) AS total FROM current_counts WHERE list = $1 AND level = 21`

// Released by the end of the transaction. A statement that waits for it must not be the one that counts, which would
// see what there was before it waited.
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
        // Where rows have just gone, right behind the blocks that were left out.
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
 * Adds up, now and then, what PostgreSQL's writers have noted (on SQLite there is nothing to do). Whoever reads counts
 * adds the notes, so it is right at any time; this keeps them few.
 */
export function startFolding({ db, log }: { db: Database; log: Log }): { close(): Promise<void> } {
  if (db.dialect === 'sqlite') return { close: async () => {} }
  return startPeriodicTask({
    everyMs: foldEveryMs,
    work: () => foldCounts(db),
    onError: (error) => log.warn({ err: error }, 'adding up the kept counts failed; it is tried again in a second'),
  })
}

export async function foldCounts(db: Database): Promise<void> {
  if (db.dialect === 'sqlite') return
  for (let isMore = true; isMore; ) {
    const [rows] = await db.write<{ folded: number }>({ sql: fold })
    isMore = rows[0]?.folded === foldAtOnce
  }
}

// One at a time: a second node finds the lock taken and leaves it at that.
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
