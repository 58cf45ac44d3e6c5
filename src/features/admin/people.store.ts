/** Guards for the batches that change a user. */
import type { Statement } from '../../platform/database/database.ts'
import type { Stored } from './admin.store.ts'

/** Deciding statement: the user has not changed since it was read. The permission to act depends on the roles. */
export function isUnchanged({ user, storedRoles }: Stored): Statement {
  return {
    sql: 'UPDATE users SET roles = roles WHERE id = $1 AND roles = $2 AND email = $3 AND name = $4 RETURNING id',
    params: [user.id, storedRoles, user.email, user.name],
    decides: true,
  }
}

/** Deciding statement: the user has not accepted the invitation, and is not disabled. */
export function isStillInvited({ user, storedRoles }: Stored): Statement {
  return {
    sql: `UPDATE users SET roles = roles
          WHERE id = $1 AND roles = $2 AND email = $3 AND password_hash = '' AND disabled_at IS NULL RETURNING id`,
    params: [user.id, storedRoles, user.email],
    decides: true,
  }
}
