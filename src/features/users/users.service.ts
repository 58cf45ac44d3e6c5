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
}

export function createUsers({ users, passwords, audit, defaultRoles }: UsersDeps) {
  return {
    async register({ email, name, password, client }: Registration): Promise<{ id: number; email: string }> {
      const user = {
        email: normaliseEmail(email),
        name,
        passwordHash: await passwords.hash(password, client),
        roles: defaultRoles,
        client,
      }
      const id = await users.insert(user)
      if (id === undefined) throw emailTaken()
      audit.count('register', 'success')
      return { id, email: user.email }
    },

    rename: users.rename,
  }
}

export type Users = ReturnType<typeof createUsers>

export function emailTaken(): AppError {
  return new AppError(409, 'Email already registered', { extra: { details: { email: ['Email already registered'] } } })
}
