/** Users who were notified of a lock, until they may be notified again. */
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../platform/database/database.ts'

const daySeconds = 86_400

export function createLockNoticeStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    /** Returns whether to notify the user: true for one of any number of parallel locks, then false for a day. */
    async claim(userId: number): Promise<boolean> {
      const now = clock.nowSeconds()
      const [claimed] = await db.write({
        sql: `INSERT INTO lock_notices (user_id, expires_at) VALUES ($1, $2)
              ON CONFLICT (user_id) DO UPDATE SET expires_at = $2 WHERE lock_notices.expires_at <= $3
              RETURNING user_id`,
        params: [userId, now + daySeconds, now],
      })
      return claimed.length > 0
    },
  }
}

export type LockNoticeStore = ReturnType<typeof createLockNoticeStore>
