/**
 * What a role may hold: `*`, a prefix such as `posts.*`, or a permission such as `posts.view`. Here only the form; who
 * holds what is compiled by features/access.
 */
const pattern = /^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$/

export interface RoleDefinition {
  permissions: readonly string[]
  inherits: readonly string[]
}

export type RoleDefinitions = Readonly<Record<string, RoleDefinition>>

export function isPermissionPattern(text: string): boolean {
  return pattern.test(text)
}

/** The roles of the specification's table. */
export const defaultRoles: RoleDefinitions = {
  admin: { permissions: ['*'], inherits: [] },
  editor: { permissions: ['posts.*', 'media.*'], inherits: ['viewer'] },
  viewer: { permissions: ['posts.view', 'media.view'], inherits: [] },
}
