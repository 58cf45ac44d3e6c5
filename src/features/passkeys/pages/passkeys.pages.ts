/** Passkeys in the console: the card on the account page, the forms to add and remove one, and the sign-in page. */
import { join } from 'node:path'
import type { ConsolePages } from '../../../platform/pages/console-pages.ts'
import type { UsablePasskeys } from '../passkeys.create.ts'
import { passkeysCard, signInButton } from './passkeys.views.ts'

export function createPasskeyPages(passkeys: UsablePasskeys): ConsolePages {
  const { party, own } = passkeys
  return {
    assets: [join(import.meta.dirname, '..', 'assets', 'passkeys.js')],
    notices: {
      'passkey-added': 'The passkey is added. You can sign in with it from now on.',
      'passkey-removed': 'The passkey is removed.',
      'passkey-refused': 'That passkey does not sign you in here. Use your password, or another passkey.',
      'passkey-unverified': 'Your email is not verified. A message with a link is on its way.',
    },
    accountCards: [{ order: 40, show: async ({ id }) => passkeysCard(await own.list(id)) }],
    signInOptions: [{ autocomplete: 'webauthn', show: ({ next }) => signInButton({ next, host: party.id }) }],
    routes: (kit) => async (app) =>
      (await import('./passkeys-pages.routes.ts')).addPasskeyPages(app, { ...kit, passkeys }),
  }
}
