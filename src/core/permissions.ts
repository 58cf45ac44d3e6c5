export interface RoleDefinition {
  /** `*` matches everything, `posts.*` everything that starts with `posts.`, any other text only itself. */
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
