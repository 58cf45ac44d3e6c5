/** Failed attempts: one row per email, whose lock serialises parallel attempts. */
import type { Clock } from '../../core/clock.ts'
import { attemptKey } from '../../core/email.ts'
import type { Database, Statement } from '../../platform/database/database.ts'

export interface LockoutStoreDeps {
  db: Database
  clock: Clock
  attempts: number
  seconds: number
}

export interface CountedFailure {
  failures: number
  locked_until: number | null
}

const daySeconds = 86_400

export function createLockoutStore({ db, clock, attempts, seconds }: LockoutStoreDeps) {
  return {
    /** Returns the end of the lock. */
    async findLock(email: string): Promise<number | undefined> {
      const row = await db.get<{ locked_until: number }>(
        'SELECT locked_until FROM login_attempts WHERE email = $1 AND locked_until > $2',
        [attemptKey(email), clock.nowSeconds()],
      )
      return row?.locked_until
    },

    async countFailure(email: string): Promise<CountedFailure | undefined> {
      const now = clock.nowSeconds()
      const [[row]] = await db.write<CountedFailure>({
        sql: countSql,
        params: [
          attemptKey(email),
          now,
          now - daySeconds,
          attempts === 1 ? now + seconds : null,
          now + Math.max(daySeconds, seconds),
          attempts,
          now + seconds,
        ],
      })
      return row
    },

    passes: (email: string): Statement => ({
      // The update changes nothing, but locks the row, so that a parallel failure is counted before or after.
      sql: `INSERT INTO login_attempts (email, failures, last_failure_at, locked_until, expires_at)
            VALUES ($1, 0, $2, NULL, $3)
            ON CONFLICT (email) DO UPDATE SET failures = login_attempts.failures
            WHERE login_attempts.locked_until IS NULL OR login_attempts.locked_until <= $2
            RETURNING email`,
      params: [attemptKey(email), clock.nowSeconds(), clock.nowSeconds() + daySeconds],
      decides: true,
    }),

    unlock: (email: string): Statement => ({
      sql: 'DELETE FROM login_attempts WHERE email = $1',
      params: [attemptKey(email)],
    }),

    unlockWithoutSecondFactor: (email: string, userId: number): Statement => ({
      sql: `DELETE FROM login_attempts WHERE email = $1
            AND NOT EXISTS (SELECT 1 FROM two_factor WHERE user_id = $2 AND enabled)`,
      params: [attemptKey(email), userId],
    }),
  }
}

export type LockoutStore = ReturnType<typeof createLockoutStore>

/** Starts over after a lock has ended, and a day after the last failure. Nothing extends a lock. */
const failures = `(CASE
  WHEN login_attempts.locked_until <= $2 THEN 1
  WHEN login_attempts.locked_until IS NULL AND login_attempts.last_failure_at <= $3 THEN 1
  ELSE login_attempts.failures + 1 END)`
const countSql = `
  INSERT INTO login_attempts (email, failures, last_failure_at, locked_until, expires_at) VALUES ($1, 1, $2, $4, $5)
  ON CONFLICT (email) DO UPDATE SET
    failures = ${failures},
    last_failure_at = $2,
    locked_until = CASE WHEN login_attempts.locked_until > $2 THEN login_attempts.locked_until
                        WHEN ${failures} >= $6 THEN $7
                        ELSE NULL END,
    expires_at = $5
  RETURNING failures, locked_until`
