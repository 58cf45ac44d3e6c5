/** The features of the service, in the order in which they need one another and in which their routes are described. */
import { admin } from '../features/admin/admin.feature.ts'
import { apiKeys } from '../features/api-keys/api-keys.feature.ts'
import { auth } from '../features/auth/auth.feature.ts'
import { console } from '../features/console/console.feature.ts'
import { posts } from '../features/posts/posts.feature.ts'
import { products } from '../features/products/products.feature.ts'
import { twoFactor } from '../features/two-factor/two-factor.feature.ts'
import { users } from '../features/users/users.feature.ts'
import type { Feature } from '../platform/feature.ts'

export const ownFeatures = [
  users,
  auth,
  twoFactor,
  posts,
  admin,
  apiKeys,
  products,
  console,
] as const satisfies readonly Feature[]

/** Our own, then those of extensions. */
export function withOwnFeatures(extensions: readonly Feature[] = []): readonly Feature[] {
  return [...ownFeatures, ...extensions]
}
