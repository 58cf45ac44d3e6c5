/** Who reads and writes rows, and what they get. */
import type { Principal } from '../platform/access/route-guards.ts'
import type { Described } from './declare/describe.ts'
import type { RulePrincipal } from './rules/values.ts'

/** Who acts. */
export interface Actor {
  /** Undefined: the service itself, which may do everything. */
  principal: RulePrincipal | undefined
  userId: number | null
  /** The session or API key. */
  via: string | null
  /** Of an API key with a list of permissions: whether that list allows one. */
  allows?(permission: string): boolean
}

export const system: Actor = { principal: undefined, userId: null, via: null }
export const anonymous: Actor = {
  principal: { id: undefined, can: () => false, hasRole: () => false },
  userId: null,
  via: null,
}

/** A key with a list of permissions acts for its owner; what the key itself needs, routes and elements declare. */
export function actorOf(principal: Principal | undefined): Actor {
  if (!principal) return anonymous
  const standing = () => (principal.key?.allows ? principal.key.owner : principal)
  return {
    principal: {
      id: principal.id,
      can: (permission) => standing().can(permission),
      hasRole: (name) => standing().hasRole(name),
    },
    userId: principal.id,
    via: principal.session,
    ...(principal.key?.allows && { allows: principal.key.allows }),
  }
}

/** A key that may not read a collection gets of it what anyone gets. */
export function readerOf(actor: Actor, { name }: Described): Actor {
  return actor.allows?.(`${name}.read`) === false ? anonymous : actor
}

/** A row as programs have it: values by field, and without what a reader may not see. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: number }
