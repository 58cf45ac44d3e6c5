export interface RoleDefinition {
  /** `*` matches everything, `posts.*` everything that starts with `posts.`, any other text only itself. */
  permissions: readonly string[]
  inherits: readonly string[]
}

export type RoleDefinitions = Readonly<Record<string, RoleDefinition>>

/** The roles of the specification's table, for installations without the section auth.roles. Equal to config/auth.mlc. */
export const shippedRoles: RoleDefinitions = {
  admin: { permissions: ['*'], inherits: [] },
  editor: { permissions: ['posts.*', 'media.*'], inherits: ['viewer'] },
  viewer: { permissions: ['posts.view', 'media.view'], inherits: [] },
}
