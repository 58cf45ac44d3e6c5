/** SQL on who may do everything: somebody always may. Roles are kept as a JSON list of names. */
import type { Statement } from '../../platform/database/database.ts'

/** `names` are the roles that hold `*`. */
export function createAdministratorSql(names: readonly string[]) {
  // Not by LIKE, to which "_" is a wildcard and case, on SQLite, no matter.
  const holds = (column: string) =>
    names.map((name) => `replace(${column}, '"${name}"', '') <> ${column}`).join(' OR ') || 'FALSE'
  // As the index `users_with_roles` says it: most users hold no role, and none of them is read.
  const isAdministrator = (column: string) => `${column} <> '[]' AND (${holds(column)})`

  return {
    /** Whether these roles hold `*`. */
    holds,
    /** Takes the rows of all administrators: two who disable each other at once find out in turn. */
    takeAll: { sql: `UPDATE users SET roles = roles WHERE ${isAdministrator('roles')}` } satisfies Statement,
    /** A condition on a row of `users`: it is not the only administrator who may sign in. `id` is a placeholder. */
    isNotLast: (id: string) =>
      `(NOT (${holds('roles')}) OR EXISTS (SELECT 1 FROM users o WHERE o.id <> ${id} AND o.disabled_at IS NULL AND ${isAdministrator('o.roles')}))`,
    exists: `SELECT 1 FROM users WHERE disabled_at IS NULL AND ${isAdministrator('roles')} LIMIT 1`,
  }
}

export type AdministratorSql = ReturnType<typeof createAdministratorSql>
