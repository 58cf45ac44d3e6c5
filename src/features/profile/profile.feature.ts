/** Users change their name and email, and delete their account. */
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { users } from '../users/users.feature.ts'

export const profile = defineFeature({
  name: 'profile',
  needs: { users, auth },
  auditEvents: { email_change: 'Email changed', account_deleted: 'Account deleted' },

  create: async (infrastructure, needs) =>
    (await import('./profile.create.ts')).createProfileService(infrastructure, needs),
  routes: (service) => async (app) => (await import('./profile.routes.ts')).addProfileRoutes(app, service),
})
