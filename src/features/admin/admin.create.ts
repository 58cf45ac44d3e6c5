import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createLimiters } from '../../platform/limiter/limiter.ts'
import { compileBody, requireValid } from '../../platform/validation/body-validation.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { TwoFactorService } from '../two-factor/two-factor.create.ts'
import type { UsersService } from '../users/users.create.ts'
import { createAdmin } from './admin.service.ts'
import { createAdminStore } from './admin.store.ts'
import { createAuditTrailStore } from './audit-trail.store.ts'
import { baseUrlOf } from './base-url.ts'
import { createInvitations } from './invitations.service.ts'
import { createPeopleSchemas } from './people.schema.ts'
import { createPeople } from './people.service.ts'

export interface AdminNeeds {
  users: UsersService
  auth: AuthService
  twoFactor: TwoFactorService
}

export type AdminService = ReturnType<typeof createAdminService>

export function createAdminService(infrastructure: Infrastructure, { users, auth, twoFactor }: AdminNeeds) {
  const { config, db, clock, counts, audit, onAccessChanged } = infrastructure
  const store = createAdminStore({ db, clock, counts, administrators: users.administrators })
  const admin = createAdmin({
    db,
    store,
    roles: users.roles,
    unlock: auth.lockout.unlock,
    /** Passkeys too: each of them is both factors. */
    async removeSecondFactors(userId) {
      const { statements, audited } = await auth.credentials.preparePasskeyRemoval(userId)
      return { statements: [...twoFactor.remove(userId), ...statements], audited }
    },
    endSessions: (userId) => [auth.revokeSessions(userId, 'administrator'), ...auth.devices.forgetAll(userId)],
    audit,
    // Each refusal is a row of the audit trail, so a client that repeats a forbidden request must be limited.
    refusals: createLimiters(undefined)('audit', { requests: 60, seconds: 60 }),
    onAccessChanged,
  })
  const shared = { db, store, acts: admin.acts, users, auth }
  const schemas = createPeopleSchemas(users)
  const validateInvitation = compileBody(schemas.Invitation)
  const validateEdit = compileBody(schemas.UserEdit)
  return {
    users,
    auditTrail: {
      ...createAuditTrailStore({ db, counts }),
      describe: audit.describe,
      /** All that features declare, by their descriptions. */
      events: audit.events,
      /** 0: for ever. */
      retentionDays: config.audit.retentionDays,
    },
    admin,
    countUsers: () => counts.total('users'),
    searchUsers: store.searchFirst,
    people: createPeople({ ...shared, onAccessChanged }),
    invitations: createInvitations({ ...shared, baseUrl: baseUrlOf(config) }),
    schemas,
    /** For pages and the command line. Both throw the problems, by field. */
    validateInvitation: (given: object) => requireValid(validateInvitation, given),
    validateEdit: (given: object) => requireValid(validateEdit, given),
  }
}
