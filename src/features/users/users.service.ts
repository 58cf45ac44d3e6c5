import { accountErrors } from '../../core/account-errors.ts'
import { AppError } from '../../core/app-error.ts'
import { normaliseEmail } from '../../core/email.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Passwords } from '../../platform/passwords/passwords.ts'
import type { RegistrationBody } from './users.schema.ts'
import type { UserStore } from './users.store.ts'

export interface Registration extends RegistrationBody {
  client: Client
}

export interface UsersDeps {
  users: UserStore
  passwords: Pick<Passwords, 'hash'>
  audit: Pick<Audit, 'count'>
  defaultRoles: readonly string[]
  requireImpersonal(given: { field: string; password: string; email?: string; name?: string }): void
  onRegistered(user: { id: number; email: string }): Promise<void>
}

export function createUsers(deps: UsersDeps) {
  const { users, passwords, audit, defaultRoles } = deps
  return {
    async register({ email, name, password, client }: Registration): Promise<{ id: number; email: string }> {
      deps.requireImpersonal({ field: 'password', password, email, name })
      const user = {
        email: normaliseEmail(email),
        name,
        passwordHash: await passwords.hash(password, client),
        roles: defaultRoles,
        client,
      }
      const id = await users.insert(user)
      if (id === undefined) throw accountErrors.emailTaken()
      audit.count('register', 'success')
      const registered = { id, email: user.email }
      await deps.onRegistered(registered)
      return registered
    },

    rename: users.rename,
    findNames: users.findNames,
    findEnabled: users.findEnabled,
    isLastAdministrator: users.isLastAdministrator,
  }
}

export type Users = ReturnType<typeof createUsers>

export function registrationClosed(): AppError {
  return new AppError(403, 'Registration is closed')
}
