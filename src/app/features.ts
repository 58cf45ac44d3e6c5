/** The service's own features. Their order is the order in which /openapi.json describes their routes. */
import { admin } from '../features/admin/admin.feature.ts'
import { apiKeys } from '../features/api-keys/api-keys.feature.ts'
import { auth } from '../features/auth/auth.feature.ts'
import { backup } from '../features/backup/backup.feature.ts'
import { collections } from '../features/collections/collections.feature.ts'
import { console } from '../features/console/console.feature.ts'
import { deadLetters } from '../features/dead-letters/dead-letters.feature.ts'
import { devices } from '../features/devices/devices.feature.ts'
import { jobs } from '../features/jobs/jobs.feature.ts'
import { overview } from '../features/overview/overview.feature.ts'
import { passkeys } from '../features/passkeys/passkeys.feature.ts'
import { posts } from '../features/posts/posts.feature.ts'
import { products } from '../features/products/products.feature.ts'
import { profile } from '../features/profile/profile.feature.ts'
import { setUp } from '../features/set-up/set-up.feature.ts'
import { twoFactor } from '../features/two-factor/two-factor.feature.ts'
import { users } from '../features/users/users.feature.ts'
import { webhooks } from '../features/webhooks/webhooks.feature.ts'
import type { Feature } from '../platform/feature.ts'
import { requireNoClashes } from './feature-clashes.ts'

export const ownFeatures = [
  users,
  auth,
  twoFactor,
  passkeys,
  profile,
  devices,
  posts,
  admin,
  apiKeys,
  products,
  collections,
  webhooks,
  deadLetters,
  jobs,
  backup,
  setUp,
  overview,
  console,
] as const satisfies readonly Feature[]

export function isOwn(feature: Feature): boolean {
  return (ownFeatures as readonly Feature[]).includes(feature)
}

/** What `features.disabled` may name. */
export const switchableFeatures: readonly Feature[] = [products, posts, webhooks, passkeys, overview, backup]

/** Without those that `disabled` names. Their migrations, configuration keys and audit events are declared all the same. */
export function withoutDisabled(features: readonly Feature[], disabled: readonly string[]): readonly Feature[] {
  return features.filter((feature) => !(switchableFeatures.includes(feature) && disabled.includes(feature.name)))
}

/** The enabled features, and those whose service is needed even if they are disabled. */
export function createdAmong(features: readonly Feature[], enabled: readonly Feature[]): readonly Feature[] {
  return features.filter((feature) => enabled.includes(feature) || feature.definition.isCreatedIfDisabled)
}

const noExtensions: readonly Feature[] = []

/** By list of extensions: the command line, the configuration and the start each need the same one. */
const checkedLists = new WeakMap<readonly Feature[], readonly Feature[]>()

/** Returns the service's own features, then the extensions. Throws a FatalError when they clash; checked once per list. */
export function withOwnFeatures(extensions = noExtensions): readonly Feature[] {
  const checked = checkedLists.get(extensions)
  if (checked) return checked
  const features = [...ownFeatures, ...extensions]
  requireNoClashes(features)
  checkedLists.set(extensions, features)
  return features
}
