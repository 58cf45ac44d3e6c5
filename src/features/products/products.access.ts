import type { Requirement } from '../../platform/access/authorize.ts'
import type { FindEntity } from '../../platform/access/route-guards.ts'

/** Requirements for writing: authentication, and the configured permission if there is one. */
export function createWriteAccess(
  permission: string | undefined,
): readonly Exclude<Requirement<FindEntity>, { policy: string }>[] {
  return ['authenticated', ...(permission === undefined ? [] : [{ permission }])]
}
