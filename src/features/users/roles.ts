/** Compiles roles with their inherited permissions, so that the cost of a check does not depend on their depth. */
import type { RoleDefinitions } from '../../core/permissions.ts'

export interface Roles {
  has(name: string): boolean
  names(): string[]
  /** Whether one of these roles grants the permission. Unknown roles grant nothing. */
  allow(roles: readonly string[], permission: string): boolean
  /** Whether these roles grant everything that the others do. */
  cover(roles: readonly string[], others: readonly string[]): boolean
  /** Whether the holder has every permission that these roles grant. */
  areCoveredBy(holder: PermissionHolder, roles: readonly string[]): boolean
  /** Returns whether a list of permission patterns allows a permission. */
  compilePermissions(permissions: readonly string[]): (permission: string) => boolean
  /** The roles that grant `*`. */
  administrators(): string[]
}

/** `can` takes a pattern too, which is held where all that it stands for is. */
export interface PermissionHolder {
  can(permission: string): boolean
}

interface Held {
  everything: boolean
  /** `posts.` for `posts.*`. */
  prefixes: ReadonlySet<string>
  exact: ReadonlySet<string>
}

export function compileRoles(definitions: RoleDefinitions): Roles {
  const compiled = new Map(Object.keys(definitions).map((name) => [name, compile(name, definitions)]))

  function isHeld(roles: readonly string[], pattern: string): boolean {
    for (const name of roles) {
      const held = compiled.get(name)
      if (held && holds(held, pattern)) return true
    }
    return false
  }

  function areCoveredBy(holder: PermissionHolder, roles: readonly string[]): boolean {
    return roles.every((name) => patternsOf(compiled.get(name)).every((pattern) => holder.can(pattern)))
  }

  return {
    has: (name) => compiled.has(name),
    names: () => [...compiled.keys()],
    allow: isHeld,
    cover: (roles, others) => areCoveredBy({ can: (pattern) => isHeld(roles, pattern) }, others),
    areCoveredBy,
    compilePermissions(permissions) {
      const held = holdAll(permissions)
      return (permission) => holds(held, permission)
    },
    administrators: () => [...compiled].filter(([, { everything }]) => everything).map(([name]) => name),
  }
}

/**
 * `permission` may be a pattern too: `posts.*` is granted by `posts.*` or `*`, never by a list of single permissions. As
 * text a pattern starts with its own prefix, so one rule handles both.
 */
function holds({ everything, prefixes, exact }: Held, permission: string): boolean {
  if (everything) return true
  if (exact.has(permission)) return true
  if (prefixes.size === 0) return false
  // A prefix needs its dot and at least one more character.
  for (
    let dot = permission.indexOf('.');
    dot !== -1 && dot < permission.length - 1;
    dot = permission.indexOf('.', dot + 1)
  ) {
    if (prefixes.has(permission.slice(0, dot + 1))) return true
  }
  return false
}

function compile(name: string, definitions: RoleDefinitions): Held {
  const all = new Set<string>()
  const seen = new Set<string>()
  const waiting = [name]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    const { permissions = [], inherits = [] } = Object.hasOwn(definitions, next) ? (definitions[next] ?? {}) : {}
    for (const permission of permissions) all.add(permission)
    waiting.push(...inherits)
  }
  return holdAll([...all])
}

function holdAll(patterns: readonly string[]): Held {
  return {
    everything: patterns.includes('*'),
    prefixes: new Set(patterns.filter((each) => each.endsWith('.*')).map((each) => each.slice(0, -1))),
    exact: new Set(patterns.filter((each) => each !== '*' && !each.endsWith('.*'))),
  }
}

function patternsOf(held: Held | undefined): string[] {
  if (!held) return []
  return [...(held.everything ? ['*'] : []), ...[...held.prefixes].map((prefix) => `${prefix}*`), ...held.exact]
}
