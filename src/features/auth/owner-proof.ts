/**
 * Confirms that a link from a mail was followed by the owner of the account. The link alone proves the mailbox: somebody
 * else may have registered its address, or want it for their account.
 */
import type { Principal } from '../../platform/access/route-guards.ts'
import type { AuditEvent } from '../../platform/audit/audit.ts'
import type { Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Passwords } from '../../platform/passwords/passwords.ts'
import type { AccountStore } from './accounts.store.ts'
import { authErrors } from './auth.errors.ts'
import type { Lockout } from './lockout.ts'
import type { Attempt, LoginAttempts } from './login-attempts.ts'

/** Somebody with the token of a mail, signed in or not. */
interface WithMailedToken {
  /** The owner of the token. */
  userId: number
  principal: Pick<Principal, 'id' | 'tokenVersion'> | undefined
  /** Not checked if the principal is the owner. */
  password: string
  deviceToken: string | undefined
  event: AuditEvent
  client: Client
}

/** The session or the password of an account. The guards must begin the batch of what was confirmed. */
export interface OwnerProof {
  guards: Statement[]
  /** If the batch wrote nothing: throws the reason, unless it was another statement than a guard. */
  requireUnchanged(): Promise<void>
}

export interface OwnerProofDeps {
  accounts: AccountStore
  lockout: Lockout
  passwords: Passwords
  attempts: LoginAttempts
}

export function createOwnerProof({ accounts, lockout, passwords, attempts }: OwnerProofDeps) {
  /** Takes a session of the account or its password. A wrong password counts as it does at a login. */
  async function confirmOwner(given: WithMailedToken): Promise<OwnerProof> {
    const { userId, principal, password, deviceToken, event, client } = given
    if (principal?.id === userId) {
      const { tokenVersion: version } = principal
      return {
        guards: [accounts.stillHasVersion(userId, version)],
        requireUnchanged: () => requireVersion(userId, version, httpErrors.invalidToken()),
      }
    }
    // Not a guess.
    if (password === '') throw principal ? httpErrors.forbidden() : httpErrors.missingToken()
    const account = await accounts.findById(userId)
    if (!account) throw authErrors.invalidCredentials()
    const { subject } = await attempts.findOrigin({ email: account.email, account, deviceToken })
    const attempt: Attempt = { subject, event, userId, actorId: null, client }
    await attempts.requireOpen(attempt)
    if (!(await passwords.verify({ password, hash: account.password_hash || undefined, client }))) {
      throw await attempts.refuse(attempt, authErrors.invalidCredentials())
    }
    const { token_version: version } = account
    return {
      guards: [lockout.passes(subject), accounts.stillHasVersion(userId, version)],
      async requireUnchanged() {
        await attempts.requireOpen(attempt)
        await requireVersion(userId, version, authErrors.invalidCredentials())
      },
    }
  }

  async function requireVersion(userId: number, version: number, otherwise: Error): Promise<void> {
    if ((await accounts.findById(userId))?.token_version !== version) throw otherwise
  }

  return confirmOwner
}
