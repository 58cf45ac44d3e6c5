/** Administration: users and roles, help for locked-out users, and the audit trail. */
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { twoFactor } from '../two-factor/two-factor.feature.ts'
import { users } from '../users/users.feature.ts'
import { createForbiddenRecorder } from './admin.refusals.ts'
import { userCommands } from './commands/user-commands.ts'

export const admin = defineFeature({
  name: 'admin',
  needs: { users, auth, twoFactor },
  auditEvents: {
    sessions_ended: 'Signed out by an administrator',
    unlock: 'Account unlocked',
    '2fa_reset': 'Two-factor removed by an administrator',
    roles_changed: 'Roles changed',
  },

  create: async (infrastructure, needs) =>
    (await import('./admin.create.ts')).createAdminService(infrastructure, needs),

  onForbidden: ({ admin }) => createForbiddenRecorder(admin),
  routes:
    ({ admin }) =>
    async (app) =>
      void app.register((await import('./admin.routes.ts')).adminRoutes, { prefix: '/api/admin', admin }),
  pages: (service) => ({
    navigation: [
      { path: '/console/users', name: 'Users', permission: 'users.view', order: 20 },
      { path: '/console/audit', name: 'Audit', permission: 'audit.view', order: 30 },
    ],
    notices: {
      'roles-saved': 'The roles are saved.',
      unlocked: 'The account is unlocked.',
      'two-factor-reset': 'Two-factor is reset: the password alone signs in.',
      'user-signed-out': 'The user is signed out everywhere.',
    },
    routes: (kit) => async (app) => {
      const parts = { ...kit, ...service }
      ;(await import('./pages/users.routes.ts')).addUserPages(app, parts)
      ;(await import('./pages/audit.routes.ts')).addAuditPages(app, parts)
    },
  }),
  commands: userCommands,
})
