/** Policies: for each kind of entity, who may do what to it. */

import type { Policies } from './authorize.ts'
import type { Principal } from './route-guards.ts'

/** Named actions, each of which answers for a user, or for nobody in particular, and an entity. */
export type Policy<Entity> = Readonly<
  Record<string, (user: Principal | undefined, entity: Entity) => boolean | Promise<boolean>>
>

/** What is not declared is denied; what is required but not declared stops the start-up. */
export function createPolicies(policies: Readonly<Record<string, Policy<never>>>): Policies<Principal> {
  function find(policy: string, action: string) {
    const actions = Object.hasOwn(policies, policy) ? policies[policy] : undefined
    return actions && Object.hasOwn(actions, action) ? actions[action] : undefined
  }
  return {
    requireKnown(policy, action) {
      if (!find(policy, action)) throw new Error(`there is no action "${action}" in a policy "${policy}"`)
    },
    async allow({ policy, action, user, entity }) {
      // Which kind of entity a policy is about, its requirement knows, not the types.
      return (await find(policy, action)?.(user, entity as never)) === true
    },
  }
}
