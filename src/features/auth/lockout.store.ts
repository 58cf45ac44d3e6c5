/** Counters of failed attempts: one row per subject, so that the database serialises its attempts. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import { type AttemptSubject, strangersKey } from './attempt-subjects.ts'

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
    /** Until when the subject is locked. */
    async findLock({ key }: AttemptSubject): Promise<number | undefined> {
      const row = await db.get<{ locked_until: number }>(
        'SELECT locked_until FROM login_attempts WHERE email = $1 AND locked_until > $2',
        [key, clock.nowSeconds()],
      )
      return row?.locked_until
    },

    async countFailure({ key, userId }: AttemptSubject): Promise<CountedFailure | undefined> {
      const now = clock.nowSeconds()
      const [[row]] = await db.write<CountedFailure>({
        sql: countSql,
        params: [
          key,
          now,
          now - daySeconds,
          attempts === 1 ? now + seconds : null,
          now + Math.max(daySeconds, seconds),
          attempts,
          now + seconds,
          userId,
        ],
      })
      return row
    },

    passes: ({ key, userId }: AttemptSubject): Statement => ({
      // The update changes nothing: it takes the row, so that a failure at the same time comes before or after.
      sql: `INSERT INTO login_attempts (email, failures, last_failure_at, locked_until, expires_at, user_id)
            VALUES ($1, 0, $2, NULL, $3, $4)
            ON CONFLICT (email) DO UPDATE SET failures = login_attempts.failures
            WHERE login_attempts.locked_until IS NULL OR login_attempts.locked_until <= $2
            RETURNING email`,
      params: [key, clock.nowSeconds(), clock.nowSeconds() + daySeconds, userId],
      decides: true,
    }),

    forget: ({ key }: AttemptSubject): Statement => ({
      sql: 'DELETE FROM login_attempts WHERE email = $1',
      params: [key],
    }),

    forgetUnlessLocked: ({ key }: AttemptSubject): Statement => ({
      sql: 'DELETE FROM login_attempts WHERE email = $1 AND (locked_until IS NULL OR locked_until <= $2)',
      params: [key, clock.nowSeconds()],
    }),

    unlock: ({ email, id }: { email: string; id: number }): Statement => ({
      sql: 'DELETE FROM login_attempts WHERE email = $1 OR user_id = $2',
      params: [strangersKey(email), id],
    }),

    unlockWithoutSecondFactor: ({ email, id }: { email: string; id: number }): Statement => ({
      sql: `DELETE FROM login_attempts WHERE (email = $1 OR user_id = $2)
            AND NOT EXISTS (SELECT 1 FROM two_factor WHERE user_id = $2 AND enabled)`,
      params: [strangersKey(email), id],
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
  INSERT INTO login_attempts (email, failures, last_failure_at, locked_until, expires_at, user_id)
  VALUES ($1, 1, $2, $4, $5, $8)
  ON CONFLICT (email) DO UPDATE SET
    failures = ${failures},
    last_failure_at = $2,
    locked_until = CASE WHEN login_attempts.locked_until > $2 THEN login_attempts.locked_until
                        WHEN ${failures} >= $6 THEN $7
                        ELSE NULL END,
    expires_at = $5
  RETURNING failures, locked_until`
