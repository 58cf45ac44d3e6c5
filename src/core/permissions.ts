/** What roles are defined by. */
export interface RoleDefinition {
  /** Any texts: `*` is everything, `posts.*` all that starts with `posts.`, and every other text is itself alone. */
  permissions: readonly string[]
  inherits: readonly string[]
}

export type RoleDefinitions = Readonly<Record<string, RoleDefinition>>

/** The roles of the specification's table. */
export const defaultRoles: RoleDefinitions = {
  admin: { permissions: ['*'], inherits: [] },
  editor: { permissions: ['posts.*', 'media.*'], inherits: ['viewer'] },
  viewer: { permissions: ['posts.view', 'media.view'], inherits: [] },
}
