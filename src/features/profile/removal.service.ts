/** Deletes a user's own account, with the password and, if two-factor is on, a code. */
import { accountErrors } from '../../core/account-errors.ts'
import { credentialErrors } from '../../core/credential-errors.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'

export interface AccountRemovalDeps {
  db: Database
  audit: Audit
  users: UsersService
  auth: AuthService
  onAccessChanged: OnAccessChanged
}

export interface Removal {
  principal: Principal
  password: string
  /** Required if two-factor is on. */
  code: string
  client: Client
}

const event = 'account_deleted'

export function createAccountRemoval({ db, audit, users, auth, onAccessChanged }: AccountRemovalDeps) {
  const { login, accounts, secondFactor } = auth

  return async ({ principal, password, code, client }: Removal): Promise<void> => {
    const { account, attempt, guards } = await login.confirmPassword({ principal, password, event, client })
    const { id: userId } = account
    if (account.two_factor && code.trim() === '') throw credentialErrors.invalidCode()
    const use = account.two_factor ? await secondFactor.findUse(userId, code) : []
    if (!use) throw await login.refuseCode(attempt)
    const [passes, stillHasVersion] = guards
    const isAdministrator = principal.can('*')
    const [takeAdministrators, ...removal] = users.changes.remove(userId)
    const statements = [
      passes,
      // Locked before the user's own row, as in every batch that may remove an administrator, to avoid deadlocks.
      ...(isAdministrator ? [takeAdministrators] : []),
      stillHasVersion,
      ...use,
      ...(isAdministrator ? removal : users.changes.removeOrdinary(userId)),
      audit.entry({ event, outcome: 'success', userId, actorId: userId, client }),
    ]
    const [passed] = await db.write(...statements).catch(users.changes.asStillReferredTo)
    if (passed?.length) return onAccessChanged(userId)
    await login.requireOpen(attempt)
    await users.changes.requireUnreferred(userId)
    const now = await accounts.findById(userId)
    if (!now || now.token_version !== account.token_version) throw credentialErrors.invalidCredentials()
    if (await users.isLastAdministrator(userId)) throw accountErrors.lastAdministrator()
    // Without a code, nothing else can have stood in the way: the user has become an administrator, or ceased to be one.
    if (use.length === 0) throw httpErrors.unavailable()
    throw await login.refuseCode(attempt)
  }
}
