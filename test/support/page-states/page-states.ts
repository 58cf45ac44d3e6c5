/**
 * Every page of the console in every state. Add a new page to its part; all tests that use the list then check it. The
 * order matters: a state may depend on the ones before. Whether `npm test` checks it too is for `statesToCheck`.
 */
import { accountStates } from './account.ts'
import { adminStates } from './admin.ts'
import { collectionStates } from './collections.ts'
import { overviewStates } from './overview.ts'
import type { PageState } from './page-state.ts'
import { productStates } from './products.ts'
import { setUpStates } from './set-up.ts'
import { signInStates } from './sign-in.ts'
import { webhookStates } from './webhooks.ts'

/** Each list is of parts on one service, in this order. Those of the second end sessions and remove the administrator. */
export const pageStatesByPart: readonly Readonly<Record<string, readonly PageState[]>>[] = [
  {
    products: productStates,
    collections: collectionStates,
    overview: overviewStates,
    webhooks: webhookStates,
    admin: adminStates,
    account: accountStates,
  },
  { 'sign-in': signInStates, 'set-up': setUpStates },
]
