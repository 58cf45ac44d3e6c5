/**
 * Lock-out, exact under concurrency: every attempt ends with a statement on the row of its email, so the database
 * serialises them. An attempt that ends after the lock was set gets 423, right or wrong, and so reveals nothing.
 */
import type { Statement } from '../../platform/database/database.ts'
import { authErrors } from './auth.errors.ts'
import { createLockoutStore, type LockoutStoreDeps } from './lockout.store.ts'

export interface Failure {
  /** Set if the account is now locked, by this failure or an earlier one. */
  lockedUntil: number | undefined
  /** This failure set the lock. */
  hasLocked: boolean
}

export interface Lockout {
  /** Throws 423 while the email is locked. */
  requireOpen(email: string): Promise<void>
  /** Counts a wrong password or code. */
  countFailure(email: string): Promise<Failure>
  /** Deciding statement for the batch of a success: rolls it back if the account has been locked in the meantime. */
  passes(email: string): Statement
  /** `passes`, and resets the counter: for a completed login. */
  clears(email: string): [Statement, Statement]
  /** Removes the lock and the counter. */
  unlock(email: string): Statement
  /**
   * Like `unlock`, but only for users without a second factor. Otherwise an attacker with access to the mailbox would get
   * five more guesses at the code with each reset.
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
      // Failures are counted under a lock too, so exactly one of them equals the limit.
      return { lockedUntil, hasLocked: lockedUntil !== undefined && row?.failures === options.attempts }
    },
  }
}
