/** Sessions that are over, and why: kept for a while, for their owners. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { ListedSession, SessionEnd } from './sessions.store.ts'

/** `expiry`: it was not used for too long, or has reached the age at which every session ends. */
export type EndReason = SessionEnd | 'expiry'

export interface EndedSession extends ListedSession {
  ended_at: string
  reason: EndReason
}

/** How long rows stay after their end. */
export const endedKeptSeconds = 30 * 86_400
const maxListed = 100

/** Rows of an earlier version may be revoked without a reason: there is nothing to tell of them. */
const isOver = `s.expires_at <= $2 AND s.expires_at > $3 AND (s.revoked_at IS NULL OR s.ended_reason IS NOT NULL)`
const reason = `COALESCE(s.ended_reason, 'expiry') AS reason`

export function createEndedSessionStore({ db, clock }: { db: Database; clock: Clock }) {
  const window = () => [clock.nowSeconds(), clock.nowSeconds() - endedKeptSeconds]
  return {
    /** The last to end first. */
    async list(userId: number): Promise<EndedSession[]> {
      const rows = await db.all<Omit<EndedSession, 'ended_at'> & { expires_at: number }>(
        `SELECT s.id, s.address, s.user_agent, s.created_at, s.last_used_at, s.expires_at, ${reason}
         FROM sessions s WHERE s.user_id = $1 AND ${isOver} ORDER BY s.expires_at DESC, s.id LIMIT ${maxListed}`,
        [userId, ...window()],
      )
      return rows.map(({ reason: why, expires_at, ...row }) => ({
        ...row,
        ended_at: new Date(expires_at * 1000).toISOString(),
        reason: why,
      }))
    },

    /**
     * The client has thrown its tokens away, as far as we know: a refresh would still be served, and takes the note
     * back. Where none comes, the session ends by itself, and this is why.
     */
    noteLogOut: (family: string): Statement => ({
      sql: `UPDATE sessions SET ended_reason = 'logout' WHERE id = $1 AND revoked_at IS NULL`,
      params: [family],
    }),

    /** Why the session behind a browser's cookie ended; undefined where the cookie is unknown or stands for a live one. */
    async findReason(idHash: string): Promise<EndReason | undefined> {
      const row = await db.get<{ reason: EndReason }>(
        `SELECT ${reason} FROM web_sessions w JOIN sessions s ON s.id = w.family WHERE w.id_hash = $1 AND ${isOver}`,
        [idHash, ...window()],
      )
      return row?.reason
    },

    /** Whether, why and when a session ended; undefined where there is none of this id. */
    async findEnd(family: string): Promise<{ isOver: boolean; reason: EndReason; ended_at: string } | undefined> {
      const row = await db.get<{ reason: EndReason; expires_at: number; is_over: boolean | number }>(
        `SELECT s.expires_at, ${reason}, (${isOver}) AS is_over FROM sessions s WHERE s.id = $1`,
        [family, ...window()],
      )
      return (
        row && {
          isOver: Boolean(row.is_over),
          reason: row.reason,
          ended_at: new Date(row.expires_at * 1000).toISOString(),
        }
      )
    },
  }
}

export type EndedSessionStore = ReturnType<typeof createEndedSessionStore>
