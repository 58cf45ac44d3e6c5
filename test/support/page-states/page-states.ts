/**
 * Every page of the console in every state. Add a new page to its part; all tests that use the list then check it. The
 * order matters: a state may depend on the one before.
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

/** The parts are independent. */
export const pageStatesByPart: Readonly<Record<string, readonly PageState[]>> = {
  'sign-in': signInStates,
  products: productStates,
  collections: collectionStates,
  account: accountStates,
  admin: adminStates,
  overview: overviewStates,
  webhooks: webhookStates,
  'set-up': setUpStates,
}
