/** Checks the access of elements before their resolvers run. */
import type { GraphQLResolveInfo } from 'graphql'
import { authorize, impliedKeyPermission, isOpen, type Policies } from '../../access/authorize.ts'
import { type Principal, refusals } from '../../access/route-guards.ts'
import type { Resolver } from './adapt-resolvers.ts'
import type { Context, FieldAccess, FieldRequirement, RootElement } from './elements.ts'
import { selectionOf } from './selection.ts'

type GuardedResolver = (
  source: unknown,
  args: never,
  context: Context,
  info: GraphQLResolveInfo,
  entity?: unknown,
) => unknown

interface Guarded {
  requirements: readonly FieldRequirement[]
  isChange: boolean
}

export interface Guards {
  guardRoot(element: RootElement): Resolver
  guardField(field: { access: FieldAccess; resolve: Resolver }): Resolver
  /** Throws if a requirement of the element is not met. */
  check(element: RootElement, args: Record<string, unknown>, principal: Principal | undefined): Promise<void>
}

export function createGuards(policies: Policies<Principal>): Guards {
  function requirementsOf(access: FieldAccess | undefined): readonly FieldRequirement[] {
    const requirements = access === undefined ? [] : ([access].flat() as FieldRequirement[])
    for (const each of requirements) {
      if (typeof each === 'object' && 'policy' in each) policies.requireKnown(each.policy, each.action)
    }
    return requirements
  }

  const guardedBy = ({ access, kind }: RootElement): Guarded => ({
    requirements: requirementsOf(access),
    isChange: kind === 'mutation',
  })

  async function require(
    { requirements, isChange }: Guarded,
    args: Record<string, unknown>,
    user: Principal | undefined,
  ): Promise<unknown> {
    const { verdict, entity } = await authorize({
      requirements,
      isChange,
      user,
      findEntity: (find) => find(args),
      policies,
    })
    if (verdict !== 'allowed') throw refusals[verdict]()
    return entity
  }

  function guard(guarded: Guarded, resolve: GuardedResolver): Resolver {
    const { requirements, isChange } = guarded
    if (requirements.every(isOpen) && impliedKeyPermission(requirements, isChange) === null) return resolve as Resolver
    return async (source, args, context, info) => {
      const entity = await require(guarded, args, context.principal)
      return resolve(source, args as never, context, info, entity)
    }
  }

  return {
    guardRoot(element) {
      if (element.access === undefined || (Array.isArray(element.access) && element.access.length === 0)) {
        throw new Error('it declares no access')
      }
      if (element.kind === 'subscription') {
        requirementsOf(element.access)
        // Access is checked on subscribe; values come from the source.
        return (value) => value
      }
      const { resolve } = element
      return guard(
        guardedBy(element),
        resolve
          ? (_source, args, context, info, entity) =>
              resolve(args, context, { entity, selection: () => selectionOf(info) })
          : () => ({}),
      )
    },
    guardField: ({ access, resolve }) => guard({ requirements: requirementsOf(access), isChange: false }, resolve),
    async check(element, args, principal) {
      await require(guardedBy(element), args, principal)
    },
  }
}
