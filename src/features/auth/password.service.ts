/** Password changes and resets. */
import type { Client } from '../../platform/http/client.ts'
import { authErrors } from './auth.errors.ts'
import type { Login } from './login.service.ts'
import { createPasswordReset, type PasswordResetDeps } from './password-reset.service.ts'

export interface PasswordDeps extends PasswordResetDeps {
  login: Pick<Login, 'confirmPassword' | 'requireOpen'>
}

export function createPasswordService(deps: PasswordDeps) {
  const { db, accounts, sessions, resets, lockout, login, passwords, audit, onAccessChanged } = deps

  async function change(given: { userId: number; current: string; next: string; client: Client }): Promise<void> {
    const { userId, client } = given
    const event = 'password_change'
    const account = await login.confirmPassword({ userId, password: given.current, event, client })
    const [passed] = await db.write(
      lockout.passes(account.email),
      accounts.stillHasVersion(userId, account.token_version),
      accounts.setPassword(userId, await passwords.hash(given.next, client)),
      sessions.revokeAll(userId),
      resets.voidAll(userId),
      audit.entry({ event, outcome: 'success', userId, actorId: userId, client }),
    )
    if (passed && passed.length > 0) return onAccessChanged(userId)
    await login.requireOpen({ email: account.email, event, userId, actorId: userId, client })
    throw authErrors.invalidCredentials()
  }

  return { ...createPasswordReset(deps), change }
}

export type PasswordService = ReturnType<typeof createPasswordService>
