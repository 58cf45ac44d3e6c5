/** Passkeys in the console: the card on the account page, the forms to add and remove one, and the sign-in page. */
import { join } from 'node:path'
import type { ConsolePages } from '../../../platform/pages/console-pages.ts'
import type { UsablePasskeys } from '../passkeys.create.ts'
import { passkeysCard, signInButton, userPasskeysCard } from './passkeys.views.ts'

export function createPasskeyPages(passkeys: UsablePasskeys): ConsolePages {
  const { party, own, administration } = passkeys
  return {
    assets: [join(import.meta.dirname, '..', 'assets', 'passkeys.js')],
    notices: {
      'passkey-added': 'Passkey added. You can sign in with it from now on.',
      'passkey-removed': 'Passkey removed.',
      'user-passkey-removed': 'Passkey removed. It no longer signs the user in.',
      'passkey-refused': 'That passkey does not sign you in here. Use your password, or another passkey.',
      'passkey-unverified': "Your email isn't verified yet. We sent you a new link.",
    },
    accountCards: [{ order: 40, show: async ({ id }) => passkeysCard(await own.list(id)) }],
    userCards: [
      {
        order: 40,
        async show({ id, canChange }) {
          const listed = canChange ? await administration.list(id) : []
          return listed.length > 0 ? userPasskeysCard({ userId: id, passkeys: listed }) : undefined
        },
      },
    ],
    signInOptions: [{ autocomplete: 'webauthn', show: ({ next }) => signInButton({ next, host: party.id }) }],
    routes: (kit) => async (app) =>
      (await import('./passkeys-pages.routes.ts')).addPasskeyPages(app, { ...kit, passkeys }),
  }
}
