import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createLimiters } from '../../platform/limiter/limiter.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { TwoFactorService } from '../two-factor/two-factor.create.ts'
import type { UsersService } from '../users/users.create.ts'
import { createAdmin } from './admin.service.ts'
import { createAdminStore } from './admin.store.ts'

export interface AdminNeeds {
  users: UsersService
  auth: AuthService
  twoFactor: TwoFactorService
}

export type AdminService = ReturnType<typeof createAdminService>

export function createAdminService(infrastructure: Infrastructure, { users, auth, twoFactor }: AdminNeeds) {
  const { db, clock, counts, audit, onAccessChanged } = infrastructure
  return {
    users,
    describeEvent: audit.describe,
    admin: createAdmin({
      db,
      store: createAdminStore({ db, clock, counts, administrators: users.administrators }),
      roles: users.roles,
      lastAdministrator: users.lastAdministrator,
      unlock: auth.lockout.unlock,
      removeTwoFactor: twoFactor.remove,
      endSessions: (userId) => auth.revokeSessions(userId, 'administrator'),
      audit,
      // Each refusal is a row of the audit trail, so a client that repeats a forbidden request must be limited.
      refusals: createLimiters(undefined)('audit', { requests: 60, seconds: 60 }),
      onAccessChanged,
    }),
  }
}
