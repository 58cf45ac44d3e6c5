/** API keys in the console: cards on the account page and on a user's page, and the form for a new key. */
import type { ConsolePages } from '../../../platform/pages/console-pages.ts'
import type { ApiKeysService } from '../api-keys.create.ts'
import { keysCard, welcomeCard } from './keys.views.ts'

export function createKeyPages(keys: ApiKeysService): ConsolePages {
  return {
    notices: {
      'api-key-ended': 'The API key is ended.',
      'user-api-key-ended': "The user's API key is ended.",
    },
    accountCards: [
      {
        order: 50,
        show: async ({ id }) =>
          keysCard({
            keys: await keys.list(id),
            now: keys.clock.nowIso(),
            about: 'For programs that act as you, with the permissions that both you and the key have.',
            owner: 'you',
            newKey: '/console/account/keys/new',
            endPath: (key) => `/console/account/keys/${key}/end`,
          }),
      },
    ],
    userCards: [
      {
        order: 50,
        async show({ id, canChange }) {
          const listed = await keys.list(id)
          if (listed.length === 0) return undefined
          return keysCard({
            keys: listed,
            now: keys.clock.nowIso(),
            about: 'Programs act as this user by them.',
            owner: 'the user',
            ...(canChange && { endPath: (key: string) => `/console/users/${id}/keys/${key}/end` }),
          })
        },
      },
    ],
    welcomeCards: [{ order: 50, show: welcomeCard }],
    routes: (kit) => async (app) => (await import('./keys.routes.ts')).addKeyPages(app, { ...kit, keys }),
  }
}
