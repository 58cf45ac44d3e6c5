/** Changing a password, and getting a new one by mail where the old one is forgotten. */
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Client } from '../../platform/http/client.ts'
import { authErrors } from './auth.errors.ts'
import { noRemoval } from './credentials.ts'
import type { Login } from './login.service.ts'
import { createPasswordReset, type PasswordResetDeps } from './password-reset.service.ts'

export interface PasswordDeps extends PasswordResetDeps {
  login: Pick<Login, 'confirmPassword' | 'requireOpen'>
}

export interface PasswordChange {
  principal: Pick<Principal, 'id' | 'session' | 'email' | 'name'>
  current: string
  next: string
  /** Removes the user's passkeys too. */
  removePasskeys?: boolean
  /** Of the device that makes the change: the only one that stays known. */
  deviceToken: string | undefined
  client: Client
}

export function createPasswordService(deps: PasswordDeps) {
  const { db, accounts, sessions, mailedTokens, login, devices, credentials, passwords, audit, onAccessChanged } = deps

  async function change(given: PasswordChange): Promise<void> {
    const { principal, current, next, removePasskeys, deviceToken, client } = given
    const event = 'password_change'
    const { id: userId, email, name } = principal
    // First: a new password that is refused must not cost an attempt.
    deps.requireImpersonal({ field: 'new_password', password: next, email, name })
    const confirmation = await login.confirmPassword({ principal, password: current, event, client })
    const removal = removePasskeys ? await credentials.preparePasskeyRemoval(userId) : noRemoval
    const [passed] = await db.write(
      ...confirmation.guards,
      accounts.setPassword(userId, await passwords.hash(next, client)),
      sessions.revokeAll(userId, 'password_change'),
      ...devices.forgetAll(userId, deviceToken),
      ...removal.statements,
      mailedTokens.voidAll(userId),
      audit.entry({ event, outcome: 'success', userId, actorId: userId, client, ...removal.audited }),
    )
    if (passed && passed.length > 0) return onAccessChanged(userId)
    await login.requireOpen(confirmation.attempt)
    throw authErrors.invalidCredentials()
  }

  return { ...createPasswordReset(deps), change }
}

export type PasswordService = ReturnType<typeof createPasswordService>
