/**
 * Every page of the console in every state. A new page is added to its part, and is then looked at by all tests that go
 * through the list. They go in this order: what one leaves behind the next may need.
 */
import { accountPlaces } from './account.ts'
import { adminPlaces } from './admin.ts'
import type { Place } from './place.ts'
import { productsPlaces } from './products.ts'
import { signInPlaces } from './sign-in.ts'

/** Each part stands for itself. */
export const placesByPart: Readonly<Record<string, readonly Place[]>> = {
  'sign-in': signInPlaces,
  products: productsPlaces,
  account: accountPlaces,
  admin: adminPlaces,
}
