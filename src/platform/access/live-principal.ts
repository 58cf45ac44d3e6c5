/**
 * A principal is updated in place while its connection is watched, so that code that holds on to the object sees the
 * user's current standing.
 */
import type { Principal } from './route-guards.ts'

export function updatePrincipal(held: Principal, current: Principal): void {
  Object.assign(held, current)
}

/** For tokens that are no longer valid. */
export function revokePrincipal(held: Principal): void {
  Object.assign(held, { roles: [], hasRole: () => false, can: () => false } satisfies Partial<Principal>)
}

/** A key may hold no roles, and still do no more than its owner's roles allow. */
export function rolesBehind({ key, roles }: Principal): readonly string[] {
  return key?.ownerRoles ?? roles
}
