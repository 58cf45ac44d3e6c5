/** Administration: users and their roles, help for those who are locked out, and the audit trail. */
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { twoFactor } from '../two-factor/two-factor.feature.ts'
import { users } from '../users/users.feature.ts'
import { createAdminService } from './admin.create.ts'
import { createForbiddenRecorder } from './admin.refusals.ts'
import { adminRoutes } from './admin.routes.ts'
import { userCommands } from './commands/user-commands.ts'
import { addAuditPages } from './pages/audit.routes.ts'
import { addUserPages } from './pages/users.routes.ts'

export const admin = defineFeature({
  name: 'admin',
  needs: { users, auth, twoFactor },
  auditEvents: {
    sessions_ended: 'Signed out by an administrator',
    unlock: 'Account unlocked',
    '2fa_reset': 'Two-factor removed by an administrator',
    roles_changed: 'Roles changed',
  },

  create: createAdminService,

  onForbidden: ({ admin }) => createForbiddenRecorder(admin),
  routes:
    ({ admin }) =>
    (app) =>
      void app.register(adminRoutes, { prefix: '/api/admin', admin }),
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
    routes: (kit) => (app) => {
      addUserPages(app, { ...kit, ...service })
      addAuditPages(app, { ...kit, ...service })
    },
  }),
  commands: userCommands,
})
