/**
 * Lock-out, exact under concurrency: every attempt ends in a statement on the one row of its email, so the database
 * puts them in a line. Whoever comes after the lock was set is refused, right or wrong, and learns nothing.
 */
import type { Clock } from '../../core/clock.ts'
import { attemptKey } from '../../core/email.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import { authErrors } from './auth.errors.ts'

export interface LockoutOptions {
  db: Database
  clock: Clock
  attempts: number
  seconds: number
}

export interface Failure {
  /** Until when this failure, or an earlier one, has locked the account. */
  lockedUntil: number | undefined
  /** It was this one. */
  hasLocked: boolean
}

export interface Lockout {
  /** Throws 423 while the email is locked. */
  requireOpen(email: string): Promise<void>
  /** Counts a wrong password or code. */
  countFailure(email: string): Promise<Failure>
  /** For the batch of a success: decides that nothing of it happens where the account is locked by now. */
  passes(email: string): Statement
  /** The same, and forgets the failures: for a completed login. */
  clears(email: string): [Statement, Statement]
  /** Forgets the failures and the lock. */
  unlock(email: string): Statement
}

const daySeconds = 86_400

export function createLockout({ db, clock, attempts, seconds }: LockoutOptions): Lockout {
  async function findLock(email: string): Promise<number | undefined> {
    const row = await db.get<{ locked_until: number }>(
      'SELECT locked_until FROM login_attempts WHERE email = $1 AND locked_until > $2',
      [attemptKey(email), clock.nowSeconds()],
    )
    return row?.locked_until
  }

  const unlock = (email: string): Statement => ({
    sql: 'DELETE FROM login_attempts WHERE email = $1',
    params: [attemptKey(email)],
  })

  const passes = (email: string): Statement => ({
    // The update changes nothing: it takes the row, so that a failure at the same time comes before or after.
    sql: `INSERT INTO login_attempts (email, failures, last_failure_at, locked_until, expires_at)
          VALUES ($1, 0, $2, NULL, $3)
          ON CONFLICT (email) DO UPDATE SET failures = login_attempts.failures
          WHERE login_attempts.locked_until IS NULL OR login_attempts.locked_until <= $2
          RETURNING email`,
    params: [attemptKey(email), clock.nowSeconds(), clock.nowSeconds() + daySeconds],
    decides: true,
  })

  return {
    passes,
    clears: (email) => [passes(email), unlock(email)],
    unlock,
    async requireOpen(email) {
      const until = await findLock(email)
      if (until !== undefined) throw authErrors.locked(until)
    },
    async countFailure(email) {
      const now = clock.nowSeconds()
      const [[row]] = await db.write<{ failures: number; locked_until: number | null }>({
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
      const lockedUntil = row?.locked_until ?? undefined
      // Failures are counted on under a lock, so that exactly one of them is the one that made it.
      return { lockedUntil, hasLocked: lockedUntil !== undefined && row?.failures === attempts }
    },
  }
}

/** A lock that has ended, and failures of more than a day ago, count for nothing. Nothing extends a lock. */
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
