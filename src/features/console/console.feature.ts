/** The pages for signing in and for one's own account, and the page at `/`. The frame is platform/pages. */
import { isPlaygroundOpen } from '../../config/config.ts'
import { defineFeature } from '../../platform/feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { twoFactor } from '../two-factor/two-factor.feature.ts'
import { users } from '../users/users.feature.ts'
import { addAccountPages } from './account/account.routes.ts'
import { addDevicePages } from './account/devices.routes.ts'
import { addTwoFactorPages } from './account/two-factor.routes.ts'
import type { ConsoleService } from './console.service.ts'
import { addLandingPage } from './landing.ts'
import { addPasswordPages } from './sign-in/password.routes.ts'
import { addRegisterPages } from './sign-in/register.routes.ts'
import { addSignInPages } from './sign-in/sign-in.routes.ts'

export const console = defineFeature({
  name: 'console',
  needs: { users, auth, twoFactor },
  create: (_infrastructure, needs): ConsoleService => needs,

  routes: (_service, config) => (app) => addLandingPage(app, { hasPlayground: isPlaygroundOpen(config) }),
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
    routes: (kit) => (app) => {
      const parts = { ...kit, ...service }
      addSignInPages(app, parts)
      addRegisterPages(app, parts)
      addPasswordPages(app, parts)
      addAccountPages(app, parts)
      addTwoFactorPages(app, parts)
      addDevicePages(app, parts)
    },
  }),
})
