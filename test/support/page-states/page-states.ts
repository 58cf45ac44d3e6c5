/**
 * Every page of the console in every state. A new page is added to its part, and is then looked at by all tests that go
 * through the list. They go in this order: what one leaves behind the next may need.
 */
import { accountStates } from './account.ts'
import { adminStates } from './admin.ts'
import type { PageState } from './page-state.ts'
import { productStates } from './products.ts'
import { signInStates } from './sign-in.ts'

/** Each part stands for itself. */
export const pageStatesByPart: Readonly<Record<string, readonly PageState[]>> = {
  'sign-in': signInStates,
  products: productStates,
  account: accountStates,
  admin: adminStates,
}
