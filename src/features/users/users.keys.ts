import type { CheckContext, CoreConfig } from '../../config/config.ts'
import { type KeyTree, key, type SectionKey, type ValuesOf } from '../../config/key.ts'
import { bool, choice, integer, list, rateLimit, text } from '../../config/readers.ts'
import { readRoles } from './roles-section.ts'
import { type RoleDefinitions, shippedRoles } from './shipped-roles.ts'

export const userKeys = {
  auth: {
    bcryptCost: key('auth.bcrypt_cost', integer({ min: 4, max: 31 }), 12, 'BCRYPT_COST'),
    defaultRoles: key('auth.default_roles', list(text), [], 'DEFAULT_ROLES'),
    registration: key('auth.registration', choice(['open', 'closed']), 'open', 'REGISTRATION'),
    roles: rolesKey({}),
    password: {
      minLength: key('auth.password.min_length', integer({ min: 1, max: 72 }), 8),
      requireUpper: key('auth.password.require_upper', bool, true),
      requireNumber: key('auth.password.require_number', bool, true),
      requireSymbol: key('auth.password.require_symbol', bool, false),
      refuseCommon: key('auth.password.refuse_common', bool, false, 'REFUSE_COMMON_PASSWORDS'),
    },
    rateLimit: {
      register: key('auth.rate_limit.register', rateLimit, { requests: 100, seconds: 60 }, 'RATE_LIMIT_REGISTER'),
    },
  },
}

/** With the roles that features add. One of the configuration, or of the specification, replaces an added one of its name. */
export function withAddedRoles(added: RoleDefinitions): KeyTree {
  return { auth: { ...userKeys.auth, roles: rolesKey(added) } }
}

function rolesKey(added: RoleDefinitions): SectionKey<RoleDefinitions> {
  return {
    path: 'auth.roles',
    readSection: (section) => readRoles(section, added),
    fallback: { ...added, ...shippedRoles },
  }
}

export type UsersConfig = CoreConfig & ValuesOf<typeof userKeys>

export function checkUsersConfig({ auth }: UsersConfig, { subjectOf }: CheckContext): string[] {
  return auth.defaultRoles
    .filter((role) => !Object.hasOwn(auth.roles, role))
    .map((role) => `${subjectOf(userKeys.auth.defaultRoles)}: "${role}" is no role`)
}
