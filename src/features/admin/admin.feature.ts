/** Administration: users and roles, help for locked-out users, and the audit trail. */

import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { namedPlugin } from '../../platform/http/named-plugin.ts'
import { auth } from '../auth/auth.feature.ts'
import { devices } from '../devices/devices.feature.ts'
import { twoFactor } from '../two-factor/two-factor.feature.ts'
import { users } from '../users/users.feature.ts'
import { permissions } from './admin.access.ts'
import { createForbiddenRecorder } from './admin.refusals.ts'
import { userCommands } from './commands/user-commands.ts'
import { createUserFinder } from './pages/user-finder.ts'

export const admin = defineFeature({
  name: 'admin',
  // Commands create only what is named here. Without the devices, a new password would forget none of them.
  needs: { users, auth, twoFactor, devices },
  migrations: join(import.meta.dirname, 'migrations'),
  auditEvents: {
    sessions_ended: 'Signed out by an administrator',
    unlock: 'Account unlocked',
    '2fa_reset': 'Two-factor removed by an administrator',
    roles_changed: 'Roles changed',
    user_invited: 'Invited',
    user_changed: 'Changed by an administrator',
    user_disabled: 'Disabled',
    user_enabled: 'Enabled',
    user_deleted: 'Deleted by an administrator',
  },

  create: async (infrastructure, needs) =>
    (await import('./admin.create.ts')).createAdminService(infrastructure, needs),

  onForbidden: ({ admin }) => createForbiddenRecorder(admin),
  routes: (service) => async (app) => {
    const prefix = '/api/admin'
    const { adminRoutes } = await import('./admin.routes.ts')
    const { auditRoutes } = await import('./audit.routes.ts')
    const { peopleRoutes } = await import('./people.routes.ts')
    app.register(namedPlugin('admin', adminRoutes), { prefix, ...service })
    app.register(namedPlugin('audit', auditRoutes), { prefix, ...service })
    app.register(namedPlugin('people', peopleRoutes), { prefix, ...service })
  },
  pages: async (service) => ({
    overviewCards: (await import('./pages/overview.cards.ts')).createUserCards(service),
    navigation: [
      { path: '/console/users', name: 'Users', icon: 'users', key: 'u', permission: permissions.viewUsers, order: 20 },
      { path: '/console/audit', name: 'Audit', icon: 'audit', key: 'a', permission: permissions.viewAudit, order: 30 },
    ],
    actions: [
      {
        path: '/console/users/invite',
        name: 'Invite a user',
        may: (principal) => principal.can(permissions.viewUsers) && principal.can(permissions.updateUsers),
      },
    ],
    finders: [createUserFinder(service)],
    notices: {
      'roles-saved': 'The roles are saved.',
      unlocked: 'The account is unlocked.',
      'two-factor-reset': 'Two-factor reset and passkeys removed. The user signs in with the password alone.',
      'user-signed-out': 'The user is signed out everywhere.',
      'user-invited': 'The invitation is on its way.',
      'user-saved': 'The profile is saved.',
      'user-disabled': 'The user is disabled, and signed out everywhere.',
      'user-enabled': 'The user can sign in again.',
      'user-deleted': 'The user is deleted.',
    },
    routes: (kit) => async (app) => {
      const parts = { ...kit, ...service }
      const show = (await import('./pages/users.routes.ts')).addUserPages(app, parts)
      ;(await import('./pages/bulk.routes.ts')).addBulkPages(app, parts)
      ;(await import('./pages/people.routes.ts')).addPeoplePages(app, { ...parts, show })
      ;(await import('./pages/audit.routes.ts')).addAuditPages(app, parts)
    },
  }),
  commands: userCommands,
})
