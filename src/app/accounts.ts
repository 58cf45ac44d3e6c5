/** Users and what administrators do with them. Needs no key to sign with, so the command line can use it alone. */

import { createAdmin } from '../features/admin/admin.service.ts'
import { createAdminStore } from '../features/admin/admin.store.ts'
import { createLockout } from '../features/auth/lockout.ts'
import { createSessionStore } from '../features/auth/sessions.store.ts'
import { createTwoFactorStore } from '../features/two-factor/two-factor.store.ts'
import { createUsers } from '../features/users/users.service.ts'
import { createUserStore } from '../features/users/users.store.ts'
import type { OnAccessChanged } from '../platform/access/access-changes.ts'
import { compileRoles } from '../platform/access/roles.ts'
import { createAudit } from '../platform/audit/audit.ts'
import { createAuthCounters } from '../platform/audit/auth-counters.ts'
import { createMaintainedCounts } from '../platform/database/maintained-counts.ts'
import { createLimiters } from '../platform/limiter/limiter.ts'
import { createPasswords } from '../platform/passwords/passwords.ts'
import type { Infrastructure } from './infrastructure.ts'

export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts(infrastructure: Infrastructure, onAccessChanged: OnAccessChanged) {
  const { config, log, clock, db } = infrastructure
  const { auth } = config
  if (auth.bcryptCost < 10) {
    log.warn({ cost: auth.bcryptCost }, 'auth.bcrypt_cost is under 10: hashes are quick to guess')
  }
  const passwords = createPasswords({ cost: auth.bcryptCost })
  infrastructure.onClose(() => passwords.close())

  const roles = compileRoles(auth.roles)
  const audit = createAudit({
    clock,
    count: infrastructure.metrics ? createAuthCounters(infrastructure.metrics) : () => {},
  })
  const sessions = createSessionStore({ db, clock })
  const lockout = createLockout({ db, clock, attempts: auth.lockoutAttempts, seconds: auth.lockoutSeconds })
  const twoFactorStore = createTwoFactorStore({ db })
  const users = createUsers({
    users: createUserStore({ db, clock, audit }),
    passwords,
    audit,
    defaultRoles: auth.defaultRoles,
  })
  const admin = createAdmin({
    db,
    store: createAdminStore({ db, clock, counts: createMaintainedCounts(db), administrators: roles.administrators() }),
    roles,
    unlock: lockout.unlock,
    removeTwoFactor: twoFactorStore.remove,
    endSessions: sessions.revokeAll,
    audit,
    // Whoever is refused may ask again as often as they like; each is a row.
    refusals: createLimiters(undefined)('audit', { requests: 60, seconds: 60 }),
    onAccessChanged,
  })
  return { onAccessChanged, passwords, roles, audit, sessions, lockout, twoFactorStore, users, admin }
}
