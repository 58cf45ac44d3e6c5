/** Attempts with a password or a code: refused while the account is locked, and counted if they fail. */
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Passwords } from '../../platform/passwords/passwords.ts'
import type { Account, AccountStore } from './accounts.store.ts'
import { authErrors } from './auth.errors.ts'
import type { Lockout } from './lockout.ts'

/** A login, or the confirmation of a password or a code. */
export interface Attempt {
  email: string
  event: AuditEvent
  /** Null if no user has the email. */
  userId: number | null
  /** The user of the session that it comes from, if any. */
  actorId: number | null
  client: Client
}

export interface LoginAttemptsDeps {
  db: Database
  accounts: AccountStore
  lockout: Lockout
  passwords: Passwords
  audit: Audit
}

export function createLoginAttempts({ db, accounts, lockout, passwords, audit }: LoginAttemptsDeps) {
  async function requireOpen({ email, ...attempt }: Attempt): Promise<void> {
    try {
      await lockout.requireOpen(email)
    } catch (locked) {
      await db.write(audit.entry({ ...attempt, outcome: 'locked' }))
      audit.count(attempt.event, 'locked')
      throw locked
    }
  }

  /** Counts a failure. Returns the error to throw: `otherwise`, or 423 if the account is now locked. */
  async function refuse({ email, ...attempt }: Attempt, otherwise: Error): Promise<Error> {
    const { lockedUntil, hasLocked } = await lockout.countFailure(email)
    const outcome = lockedUntil === undefined ? 'failure' : 'locked'
    await db.write(
      audit.entry({ ...attempt, outcome }),
      ...(hasLocked ? [audit.entry({ ...attempt, event: 'lock', outcome: 'success', actorId: null })] : []),
    )
    audit.count(attempt.event, outcome)
    if (hasLocked) audit.count('lock', 'success')
    return lockedUntil === undefined ? otherwise : authErrors.locked(lockedUntil)
  }

  const refuseCode = (attempt: Attempt) => refuse(attempt, authErrors.invalidCode())

  /**
   * For endpoints of signed-in users that ask for the password again. The batch that follows must start with
   * `lockout.passes`, because the account may have been locked while the password was checked.
   */
  async function confirmPassword(given: {
    userId: number
    password: string
    event: AuditEvent
    client: Client
  }): Promise<Account> {
    const account = await accounts.findById(given.userId)
    if (!account) throw authErrors.invalidCredentials()
    const attempt: Attempt = {
      email: account.email,
      event: given.event,
      userId: account.id,
      actorId: account.id,
      client: given.client,
    }
    await requireOpen(attempt)
    const { password, client } = given
    if (!(await passwords.verify({ password, hash: account.password_hash, client }))) {
      throw await refuse(attempt, authErrors.invalidCredentials())
    }
    return account
  }

  return { requireOpen, refuse, refuseCode, confirmPassword }
}

export type LoginAttempts = ReturnType<typeof createLoginAttempts>
