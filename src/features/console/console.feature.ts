/** The pages for signing in and for the user's account, and the page at `/`. Their layout is in platform/pages. */
import { isPlaygroundOpen } from '../../config/config.ts'
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { twoFactor } from '../two-factor/two-factor.feature.ts'
import { users } from '../users/users.feature.ts'
import type { ConsoleService } from './console.service.ts'

export const console = defineFeature({
  name: 'console',
  needs: { users, auth, twoFactor },
  create: (_infrastructure, needs): ConsoleService => needs,

  routes: (_service, config) => async (app) =>
    (await import('./landing.ts')).addLandingPage(app, { hasPlayground: isPlaygroundOpen(config) }),
  pages: (service) => ({
    notices: {
      'signed-out': 'You are signed out.',
      registered: 'Welcome. Your account is made: sign in to go on.',
      'reset-sent': 'If that email is registered, a message is on its way.',
      'reset-logged': 'If that email is registered, the message is in the log of the service.',
      'password-reset': 'Your password is changed. Sign in with the new one.',
      'password-changed': 'Your password is changed, and you are signed out everywhere. Sign in with the new one.',
      'signed-out-everywhere': 'You are signed out everywhere.',
      'profile-saved': 'Your profile is saved.',
      'two-factor-off': 'Two-factor is off.',
      'device-signed-out': 'That device is signed out.',
    },
    routes: (kit) => async (app) => (await import('./console.pages.ts')).addConsolePages(app, { ...kit, ...service }),
  }),
})
