/** Changing a password, and getting a new one by mail where the old one is forgotten. */
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Client } from '../../platform/http/client.ts'
import { authErrors } from './auth.errors.ts'
import type { Login } from './login.service.ts'
import { createPasswordReset, type PasswordResetDeps } from './password-reset.service.ts'

export interface PasswordDeps extends PasswordResetDeps {
  login: Pick<Login, 'confirmPassword' | 'requireOpen'>
}

export interface PasswordChange {
  principal: Pick<Principal, 'id' | 'session'>
  current: string
  next: string
  /** Of the device that makes the change: the only one that stays known. */
  deviceToken: string | undefined
  client: Client
}

export function createPasswordService(deps: PasswordDeps) {
  const { db, accounts, sessions, resets, login, devices, passwords, audit, onAccessChanged } = deps

  async function change({ principal, current, next, deviceToken, client }: PasswordChange): Promise<void> {
    const event = 'password_change'
    const { id: userId } = principal
    const confirmation = await login.confirmPassword({ principal, password: current, event, client })
    const [passed] = await db.write(
      ...confirmation.guards,
      accounts.setPassword(userId, await passwords.hash(next, client)),
      sessions.revokeAll(userId, 'password_change'),
      ...devices.forgetAll(userId, deviceToken),
      resets.voidAll(userId),
      audit.entry({ event, outcome: 'success', userId, actorId: userId, client }),
    )
    if (passed && passed.length > 0) return onAccessChanged(userId)
    await login.requireOpen(confirmation.attempt)
    throw authErrors.invalidCredentials()
  }

  return { ...createPasswordReset(deps), change }
}

export type PasswordService = ReturnType<typeof createPasswordService>
