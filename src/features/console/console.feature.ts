/** The pages for signing in and for the user's account, and the page at `/`. Their layout is in platform/pages. */
import { isPlaygroundOpen } from '../../config/config.ts'
import { defineFeature } from '../../platform/feature.ts'
import type { NavigationEntry } from '../../platform/pages/frame/navigation.ts'
import { createThemeReader } from '../../platform/pages/frame/theme.ts'
import { auth } from '../auth/auth.feature.ts'
import { profile } from '../profile/profile.feature.ts'
import { twoFactor } from '../two-factor/two-factor.feature.ts'
import { users } from '../users/users.feature.ts'
import type { ConsoleService } from './console.service.ts'

export const console = defineFeature({
  name: 'console',
  needs: { users, auth, twoFactor, profile },
  create: (_infrastructure, needs): ConsoleService => needs,

  routes: (service, config) => async (app) =>
    (await import('./landing.ts')).addLandingPage(app, {
      hasPlayground: isPlaygroundOpen(config),
      hasProducts: !config.features.disabled.includes('products'),
      guestNavigation: guestNavigation(service),
      themeOf: createThemeReader(config.server.publicUrl),
    }),
  pages: (service) => ({
    guestNavigation: guestNavigation(service),
    notices: {
      'signed-out': 'You are signed out.',
      registered: 'Welcome. Your account is made: sign in to go on.',
      'reset-sent': 'If that email is registered, a message is on its way.',
      'reset-logged': 'If that email is registered, the message is in the log of the service.',
      'password-reset': 'Your password is changed. Sign in with the new one.',
      'invitation-accepted': 'Your password is set. Sign in to begin.',
      'password-changed': 'Your password is changed, and you are signed out everywhere. Sign in with the new one.',
      'signed-out-everywhere': 'You are signed out everywhere.',
      'profile-saved': 'Your profile is saved.',
      'two-factor-off': 'Two-factor is off.',
      'email-changed': 'Your email is changed.',
      'email-link-sent': 'A message to the new address is on its way. Follow its link to change your email.',
      'email-verified': 'Your email is verified.',
      'verification-sent': 'A message with a link is on its way.',
      'account-deleted': 'Your account is deleted.',
      'device-signed-out': 'That device is signed out.',
    },
    routes: (kit) => async (app) => (await import('./console.pages.ts')).addConsolePages(app, { ...kit, ...service }),
  }),
})

function guestNavigation({ users }: ConsoleService): NavigationEntry[] {
  return [
    { path: '/console/sign-in', name: 'Sign in' },
    ...(users.isRegistrationOpen ? [{ path: '/console/register', name: 'Register' }] : []),
  ]
}
