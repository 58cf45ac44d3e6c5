/**
 * Lock-out, exact under concurrency: every attempt ends in a statement on the one row of its email, so the database
 * puts them in a line. Whoever comes after the lock was set is refused, right or wrong, and learns nothing.
 */
import type { Statement } from '../../platform/database/database.ts'
import { authErrors } from './auth.errors.ts'
import { createLockoutStore, type LockoutStoreDeps } from './lockout.store.ts'

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
  /**
   * The same, but only of users without a second factor: with one on, whoever holds the mailbox must not get five more
   * guesses at it.
   */
  unlockWithoutSecondFactor(email: string, userId: number): Statement
}

export function createLockout(options: LockoutStoreDeps): Lockout {
  const store = createLockoutStore(options)
  const { passes, unlock, unlockWithoutSecondFactor } = store
  return {
    passes,
    clears: (email) => [passes(email), unlock(email)],
    unlock,
    unlockWithoutSecondFactor,
    async requireOpen(email) {
      const until = await store.findLock(email)
      if (until !== undefined) throw authErrors.locked(until)
    },
    async countFailure(email) {
      const row = await store.countFailure(email)
      const lockedUntil = row?.locked_until ?? undefined
      // Failures are counted on under a lock, so that exactly one of them is the one that made it.
      return { lockedUntil, hasLocked: lockedUntil !== undefined && row?.failures === options.attempts }
    },
  }
}
