/** Users who were notified of a lock, until they may be notified again. */
import type { Clock } from '../../core/clock.ts'
import type { Statement } from '../../platform/database/database.ts'

const daySeconds = 86_400

export function createLockNoticeStore({ clock }: { clock: Clock }) {
  return {
    /** Deciding statement: returns a row for one of any number of parallel locks, then none for a day. */
    claim(userId: number): Statement {
      const now = clock.nowSeconds()
      return {
        sql: `INSERT INTO lock_notices (user_id, expires_at) VALUES ($1, $2)
              ON CONFLICT (user_id) DO UPDATE SET expires_at = $2 WHERE lock_notices.expires_at <= $3
              RETURNING user_id`,
        params: [userId, now + daySeconds, now],
        decides: true,
      }
    },
  }
}

export type LockNoticeStore = ReturnType<typeof createLockNoticeStore>
