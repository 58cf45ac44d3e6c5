import type { Requirement } from '../../platform/access/authorize.ts'
import type { FindEntity } from '../../platform/access/route-guards.ts'

/** Requirements for writing: authentication, the configured permission if there is one, and that of a limited key. */
export function createWriteAccess(
  permission: string | undefined,
  action?: 'create' | 'update' | 'delete',
): readonly Exclude<Requirement<FindEntity>, { policy: string }>[] {
  return [
    'authenticated',
    ...(permission === undefined ? [] : [{ permission }]),
    // Pages have no keys.
    ...(action === undefined ? [] : [{ keyPermission: `products.${action}` }]),
  ]
}
