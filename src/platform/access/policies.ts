import type { Policies } from './authorize.ts'
import type { Principal } from './route-guards.ts'

/** Named actions on one kind of entity. `user` is undefined for anonymous requests. */
export type Policy<Entity> = Readonly<
  Record<string, (user: Principal | undefined, entity: Entity) => boolean | Promise<boolean>>
>

/** Undeclared actions are denied; a route or element that requires one stops the start. */
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
      // The requirement pairs the policy with its kind of entity, which the types cannot express.
      return (await find(policy, action)?.(user, entity as never)) === true
    },
  }
}
