/** Passkeys: signing in with WebAuthn credentials, without a password. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { admin } from '../admin/admin.feature.ts'
import { auth } from '../auth/auth.feature.ts'
import { users } from '../users/users.feature.ts'

export const passkeys = defineFeature({
  name: 'passkeys',
  // Stored passkeys are removed by resets all the same.
  isCreatedIfDisabled: true,
  needs: { users, auth, admin },
  migrations: join(import.meta.dirname, 'migrations'),
  auditEvents: {
    passkey_added: 'Passkey added',
    passkey_removed: 'Passkey removed',
    passkey_login: 'Sign-in with a passkey',
    passkey_counter: 'Passkey counter went back',
  },

  create: async (infrastructure, needs) =>
    (await import('./passkeys.create.ts')).createPasskeysService(infrastructure, needs),

  routes:
    ({ usable }) =>
    async (app) => {
      if (usable) (await import('./passkeys.routes.ts')).addPasskeyRoutes(app, usable)
    },
  pages: async ({ usable }) => (usable ? (await import('./pages/passkeys.pages.ts')).createPasskeyPages(usable) : {}),
})
