/** What has failed as often as it may: changes of durable listeners, and mail. */
import { errorMessage } from '../../core/error-message.ts'
import type { Database, Statement } from '../database/database.ts'

export interface DeadLetter {
  id: number
  listener: string
  type: string
  entity_id: number | null
  attempts: number
  error: string
  failed_at: string
  /** In Unix seconds. Null if no attempt is due. */
  retry_at: number | null
}

export interface NewDeadLetter {
  listener: string
  /** Unique for the listener. */
  changeId: number
  type: string
  entityId: number | null
  /** What the listener gets again. Stored as JSON. */
  entry: object
  attempts: number
}

/** With the entry, as JSON. */
export interface DueLetter extends DeadLetter {
  entry: string
}

export interface Failure {
  error: string
  failedAt: string
  expiresAt: number
}

/** Without `after` itself. */
export interface IdRange {
  after: number
  upTo: number
}

const columns = 'id, listener, type, entity_id, attempts, error, failed_at, retry_at'
const keptSeconds = 90 * 86_400
const maxErrorLength = 500
/** How many are counted. */
export const maxCounted = 10_000
const batch = 500

/** Goes from one listener to the next by the index, however many dead letters each has. */
const dueListenersText = `
  WITH RECURSIVE due (listener) AS (
    SELECT MIN(listener) FROM dead_letters WHERE retry_at IS NOT NULL
    UNION ALL
    SELECT (SELECT MIN(listener) FROM dead_letters WHERE retry_at IS NOT NULL AND listener > due.listener)
    FROM due WHERE due.listener IS NOT NULL
  )
  SELECT listener FROM due WHERE EXISTS (
    SELECT 1 FROM dead_letters WHERE dead_letters.listener = due.listener AND retry_at <= $1)`

/** `now` in milliseconds. */
export function failureOf(error: unknown, now: number): Failure {
  return {
    error: textOf(error).slice(0, maxErrorLength).toWellFormed(),
    failedAt: new Date(now).toISOString(),
    expiresAt: Math.floor(now / 1000) + keptSeconds,
  }
}

/** Must not throw, and must return storable text: a failure that cannot be stored would be retried forever. */
function textOf(error: unknown): string {
  try {
    return errorMessage(error).replaceAll('\0', '\ufffd')
  } catch {
    return 'The error has no message'
  }
}

export function createDeadLetterStore(db: Database) {
  return {
    /** For the batch that ends the attempts. */
    insert(letter: NewDeadLetter, { error, failedAt, expiresAt }: Failure): Statement {
      const { listener, changeId, type, entityId, entry, attempts } = letter
      return {
        sql: `INSERT INTO dead_letters (listener, change_id, type, entity_id, entry, attempts, error, failed_at, expires_at)
              VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (listener, change_id) DO NOTHING`,
        params: [listener, changeId, type, entityId, JSON.stringify(entry), attempts, error, failedAt, expiresAt],
      }
    },

    /** Newest first. */
    list: ({ before, limit }: { before: number; limit: number }) =>
      db.all<DeadLetter>(`SELECT ${columns} FROM dead_letters WHERE id < $1 ORDER BY id DESC LIMIT $2`, [
        before,
        limit,
      ]),

    /** By listener, up to `maxCounted` in all. */
    async count(): Promise<Record<string, number>> {
      const rows = await db.all<{ listener: string; count: number }>(
        `SELECT listener, count(*) AS count FROM (SELECT listener FROM dead_letters ORDER BY id LIMIT $1) AS oldest
         GROUP BY listener`,
        [maxCounted],
      )
      return Object.fromEntries(rows.map(({ listener, count }) => [listener, Number(count)]))
    },

    async oldest(): Promise<string | undefined> {
      const row = await db.get<{ failed_at: string }>('SELECT failed_at FROM dead_letters ORDER BY id LIMIT 1')
      return row?.failed_at
    },

    /** Deciding statement: returns no row if it is gone. A retry that is due or running is left alone: it must not run twice. */
    requestRetry: (id: number, now: number): Statement => ({
      sql: 'UPDATE dead_letters SET retry_at = COALESCE(retry_at, $2) WHERE id = $1 RETURNING id',
      params: [id, now],
      decides: true,
    }),

    discard: (id: number): Statement => ({
      sql: 'DELETE FROM dead_letters WHERE id = $1 RETURNING id',
      params: [id],
      decides: true,
    }),

    /** Up to `batch`, the oldest first. Returns their ids, ascending. */
    async requestRetries({ after, upTo }: IdRange, now: number): Promise<number[]> {
      const [rows] = await db.write<{ id: number }>({
        sql: `UPDATE dead_letters SET retry_at = $1 WHERE id IN
              (SELECT id FROM dead_letters WHERE id > $2 AND id <= $3 AND retry_at IS NULL ORDER BY id LIMIT $4)
              RETURNING id`,
        params: [now, after, upTo, batch],
      })
      return idsOf(rows)
    },

    /** Up to `batch`, the oldest first. Returns their ids, ascending. */
    async discardSome({ after, upTo }: IdRange): Promise<number[]> {
      const [rows] = await db.write<{ id: number }>({
        sql: `DELETE FROM dead_letters WHERE id IN
              (SELECT id FROM dead_letters WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3) RETURNING id`,
        params: [after, upTo, batch],
      })
      return idsOf(rows)
    },

    /** The listeners of what is due. */
    async dueListeners(now: number): Promise<string[]> {
      const rows = await db.all<{ listener: string }>(dueListenersText, [now])
      return rows.map(({ listener }) => listener)
    },

    /** Takes the oldest that is due for this listener. If this node crashes, another takes it over from `until` on. */
    async claim(listener: string, { now, until }: { now: number; until: number }): Promise<DueLetter | undefined> {
      const [[row]] = await db.write<DueLetter>({
        sql: `UPDATE dead_letters SET retry_at = $3 WHERE id =
              (SELECT id FROM dead_letters WHERE listener = $1 AND retry_at <= $2 ORDER BY retry_at, id LIMIT 1)
              AND retry_at <= $2 RETURNING ${columns}, entry`,
        params: [listener, now, until],
      })
      return row
    },

    async remove(id: number): Promise<void> {
      await db.write({ sql: 'DELETE FROM dead_letters WHERE id = $1', params: [id] })
    },

    async failAgain(id: number, { error, failedAt, expiresAt }: Failure): Promise<void> {
      await db.write({
        sql: `UPDATE dead_letters SET attempts = attempts + 1, error = $2, failed_at = $3, expires_at = $4, retry_at = NULL
              WHERE id = $1`,
        params: [id, error, failedAt, expiresAt],
      })
    },
  }
}

function idsOf(rows: readonly { id: number }[]): number[] {
  return rows.map(({ id }) => id).sort((a, b) => a - b)
}

export type DeadLetterStore = ReturnType<typeof createDeadLetterStore>
