/** Two-factor authentication with TOTP and recovery codes. */
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'

export const twoFactor = defineFeature({
  name: 'two-factor',
  needs: { auth },
  auditEvents: {
    '2fa_setup': 'Two-factor set-up begun',
    '2fa_enable': 'Two-factor turned on',
    '2fa_disable': 'Two-factor turned off',
    '2fa_recovery_codes': 'New recovery codes',
  },

  create: async (infrastructure, needs) =>
    (await import('./two-factor.create.ts')).createTwoFactorService(infrastructure, needs),

  routes: (service) => async (app) =>
    (await import('./two-factor.routes.ts')).addTwoFactorRoutes(app, { twoFactor: service, limiter: service.limiter }),
})
