/** Logins by a proof that is no guess, such as a signature: they are not counted as attempts, and no lock stops them. */
import type { Random } from '../../core/random.ts'
import type { AuditEvent } from '../../platform/audit/audit.ts'
import type { Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Account } from './accounts.store.ts'
import { attemptSubjects } from './attempt-subjects.ts'
import type { Lockout } from './lockout.ts'
import type { LoginAttempts } from './login-attempts.ts'
import type { CompleteLogin, SignedIn } from './login-completion.ts'

export interface ProvenLogin {
  account: Account
  deviceToken: string | undefined
  event: AuditEvent
  client: Client
  /** Deciding statements. */
  before: Statement[]
}

export interface ProvenLoginDeps {
  random: Random
  lockout: Lockout
  attempts: Pick<LoginAttempts, 'findOrigin'>
  complete: CompleteLogin
}

export function createProvenLogin({ random, lockout, attempts, complete }: ProvenLoginDeps) {
  /** Returns undefined where the account changed meanwhile, or `before` found no row. */
  return async ({ account, deviceToken, event, client, before }: ProvenLogin): Promise<SignedIn | undefined> => {
    const { subject, device } = await attempts.findOrigin({ email: account.email, account, deviceToken })
    const family = random.id()
    return complete(account, {
      family,
      // The session that is being made: nothing can have locked it.
      subject: attemptSubjects.session(family, account.id),
      device,
      event,
      client,
      // First, as other logins take the rows: counter, then user. So none waits for another.
      before: [lockout.forgetUnlessLocked(subject), ...before],
      also: [],
    })
  }
}
