import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createPasswords } from '../../platform/passwords/passwords.ts'
import { compileBody, requireValid } from '../../platform/validation/body-validation.ts'
import { createAdministratorSql } from './administrators.store.ts'
import { findPasswordProblems } from './password-policy.ts'
import { compileRoles } from './roles.ts'
import { User, type UserRow } from './user.ts'
import { createUserChanges } from './user-changes.store.ts'
import { normaliseEmails } from './user-keys.ts'
import type { UsersConfig } from './users.keys.ts'
import { createRegistrationSchema, Profile } from './users.schema.ts'
import { createUsers } from './users.service.ts'
import { createUserStore } from './users.store.ts'

export type UsersService = ReturnType<typeof createUsersService>

export function createUsersService(infrastructure: Infrastructure<UsersConfig>) {
  const { config, log, clock, db, audit, createLimiter } = infrastructure
  const { auth } = config
  if (auth.bcryptCost < 10) {
    log.warn({ cost: auth.bcryptCost }, 'auth.bcrypt_cost is under 10: hashes are quick to guess')
  }
  const passwords = createPasswords({ cost: auth.bcryptCost })
  infrastructure.onClose(() => passwords.close())
  const roles = compileRoles(auth.roles)
  const administrators = createAdministratorSql(roles.administrators())
  const changes = createUserChanges({ clock, administrators })
  const Registration = createRegistrationSchema(auth.password)
  const validateRegistration = compileBody(Registration)
  const validateProfile = compileBody(Profile)
  return {
    ...createUsers({
      users: createUserStore({ db, clock, audit, changes }),
      passwords,
      audit,
      defaultRoles: auth.defaultRoles,
    }),
    roles,
    administrators,
    /** Statements for the batches of other features. */
    changes,
    passwords,
    Registration,
    /** Of new users, by address. */
    registrations: createLimiter('register', auth.rateLimit.register),
    /** Of users from before, for commands; the service does it before it listens. */
    normaliseEmails: () => normaliseEmails({ db, log }),
    createUser: (row: UserRow) => new User(row, roles),
    findPasswordProblems: (password: string) => findPasswordProblems(password, auth.password),
    /** Both throw what is wrong, by field. */
    validateRegistration: (given: object) =>
      requireValid<{ email: string; password: string; name: string }>(validateRegistration, given),
    validateProfile: (given: object) => requireValid<{ name: string }>(validateProfile, given),
  }
}
