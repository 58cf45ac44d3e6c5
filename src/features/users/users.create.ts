import { createUserRemoval } from '../../collections/user-removal.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createPasswords } from '../../platform/passwords/passwords.ts'
import { compileBody, requireValid } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { createAdministratorSql } from './administrators.store.ts'
import { createPasswordPolicy } from './password-policy.ts'
import { compileRoles } from './roles.ts'
import { userRegistered } from './user.events.ts'
import { User, type UserRow } from './user.ts'
import { createUserChanges } from './user-changes.store.ts'
import { normaliseEmails } from './user-keys.ts'
import type { UsersConfig } from './users.keys.ts'
import { createRegistrationSchema, EmailAddress, Profile, UserEdit } from './users.schema.ts'
import { createUsers } from './users.service.ts'
import { createUserStore } from './users.store.ts'

export type UsersService = Awaited<ReturnType<typeof createUsersService>>

export async function createUsersService(infrastructure: Infrastructure<UsersConfig>) {
  const { config, log, clock, db, audit, events, createLimiter } = infrastructure
  const { auth } = config
  if (auth.bcryptCost < 10) {
    log.warn({ cost: auth.bcryptCost }, 'auth.bcrypt_cost is under 10: hashes are quick to guess')
  }
  const pool = infrastructure.openHashPool()
  infrastructure.onClose(() => pool.close())
  const passwords = createPasswords({ cost: auth.bcryptCost, pool })
  infrastructure.metrics?.addGauge({
    name: 'password_hashes',
    help: 'Password hashes being computed, and those that wait for a thread.',
    label: 'state',
    aggregator: 'first',
    read: pool.load,
  })
  const roles = compileRoles(auth.roles)
  const administrators = createAdministratorSql(roles.administrators())
  const changes = createUserChanges({ clock, administrators, removal: createUserRemoval(infrastructure) })
  const { findPasswordProblems, requireImpersonal } = await createPasswordPolicy(auth.password)
  const Registration = createRegistrationSchema(findPasswordProblems)
  const onRegistered = (user: { id: number; email: string }) => events.emit(userRegistered, user)
  const validateRegistration = compileBody(Registration)
  const validateEmail = compileBody(Type.Object({ email: EmailAddress }))
  const validateProfile = compileBody(Profile)
  return {
    ...createUsers({
      users: createUserStore({ db, audit, changes, administrators }),
      passwords,
      audit,
      defaultRoles: auth.defaultRoles,
      requireImpersonal,
      onRegistered,
    }),
    roles,
    administrators,
    /** Statements for the batches of other features. */
    changes,
    passwords,
    Registration,
    /** Limits registrations per client address. */
    registrations: createLimiter('register', auth.rateLimit.register),
    /** For commands; the service does it before it listens. */
    normaliseEmails: () => normaliseEmails({ db, log }),
    createUser: (row: UserRow) => new User(row, roles),
    findPasswordProblems,
    requireImpersonal,
    EmailAddress,
    Profile,
    UserEdit,
    /** For users who register, or are invited without roles. */
    defaultRoles: auth.defaultRoles,
    onRegistered,
    isRegistrationOpen: auth.registration === 'open',
    /** All throw what is wrong, by field. */
    validateRegistration: (given: object) =>
      requireValid<{ email: string; password: string; name: string }>(validateRegistration, given),
    validateEmail: (given: object) => requireValid<{ email: string }>(validateEmail, given),
    validateProfile: (given: object) => requireValid<{ name: string }>(validateProfile, given),
  }
}
