/** Attempts at a password or a code: refused while their subject is locked, and counted where they fail. */
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Passwords } from '../../platform/passwords/passwords.ts'
import type { Account, AccountStore } from './accounts.store.ts'
import { type AttemptSubject, attemptSubjects } from './attempt-subjects.ts'
import { authErrors } from './auth.errors.ts'
import type { KnownDevices } from './known-devices.ts'
import type { Lockout } from './lockout.ts'

/** A login, or the confirmation of a password or a code. */
export interface Attempt {
  subject: AttemptSubject
  event: AuditEvent
  /** Null if no user has the email. */
  userId: number | null
  /** The user whose session it comes from; null where it comes from none. */
  actorId: number | null
  client: Client
}

/** Where a login comes from. */
export interface Origin {
  subject: AttemptSubject
  device: { id: string; token: string } | undefined
}

/** What a signed-in user asks for with the password. */
interface InSession {
  principal: Pick<Principal, 'id' | 'session'>
  event: AuditEvent
  client: Client
}

/** A signed-in user who has given the right password again. */
export interface Confirmation {
  account: Account
  attempt: Attempt
  /**
   * Must begin the batch of what was confirmed. They decide that the session was not locked, nor the password changed,
   * since it was checked. Where the first finds no row, `requireOpen(attempt)` tells which it was.
   */
  guards: [Statement, Statement]
}

export interface LoginAttemptsDeps {
  db: Database
  accounts: AccountStore
  lockout: Lockout
  devices: Pick<KnownDevices, 'find' | 'onAccountLocked'>
  passwords: Passwords
  /** Mails the link again; undefined where addresses need not be verified. */
  requestVerification: ((userId: number) => void) | undefined
  audit: Audit
}

export function createLoginAttempts(deps: LoginAttemptsDeps) {
  const { db, accounts, lockout, devices, passwords, requestVerification, audit } = deps

  /** Whose failures those of a login are: a known device's of the account, or those of all strangers to the email. */
  async function findOrigin(given: {
    email: string
    account: Account | undefined
    deviceToken: string | undefined
  }): Promise<Origin> {
    const { email, account, deviceToken: token } = given
    const id = await devices.find(token, account?.id)
    return account && id !== undefined && token !== undefined
      ? { subject: attemptSubjects.device(id, account.id), device: { id, token } }
      : { subject: attemptSubjects.strangers(email), device: undefined }
  }

  async function requireOpen({ subject, ...attempt }: Attempt): Promise<void> {
    try {
      await lockout.requireOpen(subject)
    } catch (locked) {
      await db.write(audit.entry({ ...attempt, outcome: 'locked' }))
      audit.count(attempt.event, 'locked')
      throw locked
    }
  }

  /** Counts a failure and returns the error for it: the attempt that sets the lock is already refused by it. */
  async function refuse({ subject, ...attempt }: Attempt, otherwise: Error): Promise<Error> {
    const { lockedUntil, hasLocked } = await lockout.countFailure(subject)
    const isAccountLocked = hasLocked && subject.userId === null
    const outcome = lockedUntil === undefined ? 'failure' : 'locked'
    await db.write(
      audit.entry({ ...attempt, outcome }),
      ...(isAccountLocked ? [audit.entry({ ...attempt, event: 'lock', outcome: 'success', actorId: null })] : []),
    )
    audit.count(attempt.event, outcome)
    if (isAccountLocked) audit.count('lock', 'success')
    if (lockedUntil === undefined) return otherwise
    if (isAccountLocked && attempt.userId !== null) devices.onAccountLocked({ userId: attempt.userId, lockedUntil })
    return authErrors.locked(lockedUntil)
  }

  /** What was right is refused for another reason. */
  async function recordRefusal({ subject: _subject, ...attempt }: Attempt): Promise<void> {
    await db.write(audit.entry({ ...attempt, outcome: 'refused' }))
  }

  const refuseCode = (attempt: Attempt) => refuse(attempt, authErrors.invalidCode())

  function attemptInSession({ principal: { id, session }, event, client }: InSession): Attempt {
    return { subject: attemptSubjects.session(session, id), event, userId: id, actorId: id, client }
  }

  /** For what is refused before the password is checked: a locked session answers 423 there too. */
  const requireOpenSession = (given: InSession) => requireOpen(attemptInSession(given))

  /** For endpoints of signed-in users that ask for the password again. Failures count for that session alone. */
  async function confirmPassword(given: InSession & { password: string }): Promise<Confirmation> {
    const { principal, password, client } = given
    const account = await accounts.findById(principal.id)
    if (!account) throw authErrors.invalidCredentials()
    const attempt = attemptInSession(given)
    await requireOpen(attempt)
    if (!(await passwords.verify({ password, hash: account.password_hash || undefined, client }))) {
      throw await refuse(attempt, authErrors.invalidCredentials())
    }
    const guards: Confirmation['guards'] = [
      lockout.passes(attempt.subject),
      accounts.stillHasVersion(account.id, account.token_version),
    ]
    return { account, attempt, guards }
  }

  /** After the right password or code. */
  async function requireVerified({ id, email_verified_at }: Account, attempt: Attempt): Promise<void> {
    if (!requestVerification || email_verified_at !== null) return
    await requireOpen(attempt)
    await recordRefusal(attempt)
    requestVerification(id)
    throw authErrors.emailNotVerified()
  }

  return {
    findOrigin,
    requireOpen,
    requireVerified,
    recordRefusal,
    refuse,
    refuseCode,
    requireOpenSession,
    confirmPassword,
  }
}

export type LoginAttempts = ReturnType<typeof createLoginAttempts>
