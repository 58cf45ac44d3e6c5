import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createPasswords } from '../../platform/passwords/passwords.ts'
import { compileBody, requireValid } from '../../platform/validation/body-validation.ts'
import { findPasswordProblems } from './password-policy.ts'
import { compileRoles } from './roles.ts'
import { User, type UserRow } from './user.ts'
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
  const Registration = createRegistrationSchema(auth.password)
  const validateRegistration = compileBody(Registration)
  const validateProfile = compileBody(Profile)
  return {
    ...createUsers({
      users: createUserStore({ db, clock, audit }),
      passwords,
      audit,
      defaultRoles: auth.defaultRoles,
    }),
    roles,
    passwords,
    Registration,
    /** Limits registrations per client address. */
    registrations: createLimiter('register', auth.rateLimit.register),
    /** For commands; the service does it before it listens. */
    normaliseEmails: () => normaliseEmails({ db, log }),
    createUser: (row: UserRow) => new User(row, roles),
    findPasswordProblems: (password: string) => findPasswordProblems(password, auth.password),
    /** Both throw the validation error. */
    validateRegistration: (given: object) => requireValid(validateRegistration, given),
    validateProfile: (given: object) => requireValid(validateProfile, given),
  }
}
