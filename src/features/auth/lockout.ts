/**
 * Lock-out, exact under concurrency: every attempt ends in a statement on the one row of its subject, so the database
 * serialises them. An attempt that ends after the lock was set is refused, right or wrong, and learns nothing.
 */
import type { Statement } from '../../platform/database/database.ts'
import type { AttemptSubject } from './attempt-subjects.ts'
import { authErrors } from './auth.errors.ts'
import { createLockoutStore, type LockoutStoreDeps } from './lockout.store.ts'

export interface Failure {
  /** Set if the account is now locked, by this failure or an earlier one. */
  lockedUntil: number | undefined
  /** This failure set the lock. */
  hasLocked: boolean
}

export interface Lockout {
  /** Throws 423 while the subject is locked. */
  requireOpen(subject: AttemptSubject): Promise<void>
  /** Counts a wrong password or code. */
  countFailure(subject: AttemptSubject): Promise<Failure>
  /** For the batch of a success: decides that nothing of it happens where the subject is locked by now. */
  passes(subject: AttemptSubject): Statement
  /** The same, and forgets the failures: for a completed login. */
  clears(subject: AttemptSubject): [Statement, Statement]
  /** Forgets the failures, but a lock stays until its end. */
  forgetUnlessLocked(subject: AttemptSubject): Statement
  /** Forgets the failures and locks of strangers, and of the user's own devices and sessions. */
  unlock(user: { email: string; id: number }): Statement
  /**
   * The same, but only of users without a second factor: with one on, access to the mailbox must not buy five more
   * guesses at it.
   */
  unlockWithoutSecondFactor(user: { email: string; id: number }): Statement
}

export function createLockout(options: LockoutStoreDeps): Lockout {
  const store = createLockoutStore(options)
  const { passes, forget, forgetUnlessLocked, unlock, unlockWithoutSecondFactor } = store
  return {
    passes,
    clears: (subject) => [passes(subject), forget(subject)],
    forgetUnlessLocked,
    unlock,
    unlockWithoutSecondFactor,
    async requireOpen(subject) {
      const until = await store.findLock(subject)
      if (until !== undefined) throw authErrors.locked(until)
    },
    async countFailure(subject) {
      const row = await store.countFailure(subject)
      const lockedUntil = row?.locked_until ?? undefined
      // Failures are counted under a lock too, so exactly one of them equals the limit.
      return { lockedUntil, hasLocked: lockedUntil !== undefined && row?.failures === options.attempts }
    },
  }
}
