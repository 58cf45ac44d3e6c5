/** Mail that the mail server has not accepted yet. */
import type { Database, Param, Statement } from '../database/database.ts'

export interface QueuedMailRow {
  id: number
  kind: string
  user_id: number | null
  /** Encrypted. */
  message: string
  attempts: number
  /** In Unix seconds: no other node works on it before. */
  due_at: number
  valid_until: number
}

const columns = 'id, kind, user_id, message, attempts, due_at, valid_until'
/** Of what no node delivers or gives up, because mail is no longer configured. */
const keptSeconds = 7 * 86_400
const maxCounted = 10_000

export function createQueuedMailStore(db: Database) {
  return {
    insert: (row: Omit<QueuedMailRow, 'user_id' | 'attempts'> & { user_id: Param }): Statement => ({
      sql: `INSERT INTO queued_mails (id, kind, user_id, message, due_at, valid_until, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      params: [row.id, row.kind, row.user_id, row.message, row.due_at, row.valid_until, row.valid_until + keptSeconds],
    }),

    find: (id: number) => db.get<QueuedMailRow>(`SELECT ${columns} FROM queued_mails WHERE id = $1`, [id]),

    /** Deciding statement: returns no row if another node has delivered it, or its user was deleted. */
    remove: (id: number): Statement => ({
      sql: 'DELETE FROM queued_mails WHERE id = $1 RETURNING id',
      params: [id],
      decides: true,
    }),

    async hasDue(now: number): Promise<boolean> {
      return (await db.get('SELECT id FROM queued_mails WHERE due_at <= $1 LIMIT 1', [now])) !== undefined
    },

    /** Takes the mail that is due longest. If this node crashes, another takes it over from `until` on. */
    async claim(now: number, until: number): Promise<QueuedMailRow | undefined> {
      const [[row]] = await db.write<QueuedMailRow>({
        sql: `UPDATE queued_mails SET due_at = $2 WHERE id =
              (SELECT id FROM queued_mails WHERE due_at <= $1 ORDER BY due_at LIMIT 1) AND due_at <= $1
              RETURNING ${columns}`,
        params: [now, until],
      })
      return row
    },

    /** Does nothing if another node has taken the mail over since `claimedUntil`. */
    async postpone({ id, claimedUntil, dueAt }: { id: number; claimedUntil: number; dueAt: number }): Promise<void> {
      await db.write({
        sql: 'UPDATE queued_mails SET attempts = attempts + 1, due_at = $2 WHERE id = $1 AND due_at = $3',
        params: [id, dueAt, claimedUntil],
      })
    },

    /** Up to `maxCounted`. */
    async count(): Promise<number> {
      const row = await db.get<{ count: number }>(
        'SELECT count(*) AS count FROM (SELECT 1 FROM queued_mails LIMIT $1) AS counted',
        [maxCounted],
      )
      return Number(row?.count ?? 0)
    },
  }
}
