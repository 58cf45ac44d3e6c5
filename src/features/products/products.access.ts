import type { Requirement } from '../../platform/access/authorize.ts'
import type { FindEntity } from '../../platform/access/route-guards.ts'

/** What creating, changing and deleting takes: a user, who holds the configured permission where there is one. */
export function createWriteAccess(
  permission: string | undefined,
): readonly Exclude<Requirement<FindEntity>, { policy: string }>[] {
  return ['authenticated', ...(permission === undefined ? [] : [{ permission }])]
}
