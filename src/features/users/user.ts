/** A user as the rest of the service sees one. */
export interface UserRow {
  id: number
  email: string
  name: string
  token_version: number
  /** A JSON list. */
  roles: string
}

/** What a user needs to know of roles. */
export interface RoleBook {
  allow(roles: readonly string[], permission: string): boolean
}

export class User {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly tokenVersion: number
  readonly roles: readonly string[]
  // Private fields are in no JSON and in no log line.
  readonly #book: RoleBook

  constructor(row: UserRow, book: RoleBook) {
    this.id = row.id
    this.email = row.email
    this.name = row.name
    this.tokenVersion = row.token_version
    this.roles = JSON.parse(row.roles) as string[]
    this.#book = book
  }

  hasRole(role: string): boolean {
    return this.roles.includes(role)
  }

  can(permission: string): boolean {
    return this.#book.allow(this.roles, permission)
  }
}
