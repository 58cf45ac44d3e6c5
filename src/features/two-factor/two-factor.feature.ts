/** The second factor: codes of an app by the time, and recovery codes. */
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { createTwoFactorService } from './two-factor.create.ts'
import { addTwoFactorRoutes } from './two-factor.routes.ts'

export const twoFactor = defineFeature({
  name: 'two-factor',
  needs: { auth },
  auditEvents: {
    '2fa_setup': 'Two-factor set-up begun',
    '2fa_enable': 'Two-factor turned on',
    '2fa_disable': 'Two-factor turned off',
    '2fa_recovery_codes': 'New recovery codes',
  },

  create: createTwoFactorService,
  routes: (service) => (app) => addTwoFactorRoutes(app, { twoFactor: service, limiter: service.limiter }),
})
