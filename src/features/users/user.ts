export interface UserRow {
  id: number
  email: string
  name: string
  token_version: number
  /** A JSON list. */
  roles: string
}

export interface RolePermissions {
  allow(roles: readonly string[], permission: string): boolean
}

export class User {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly tokenVersion: number
  readonly roles: readonly string[]
  // Private, so that it appears neither in JSON nor in the log.
  readonly #permissions: RolePermissions

  constructor(row: UserRow, permissions: RolePermissions) {
    this.id = row.id
    this.email = row.email
    this.name = row.name
    this.tokenVersion = row.token_version
    this.roles = JSON.parse(row.roles) as string[]
    this.#permissions = permissions
  }

  hasRole(role: string): boolean {
    return this.roles.includes(role)
  }

  can(permission: string): boolean {
    return this.#permissions.allow(this.roles, permission)
  }
}
