/** Splits a change of a user into audit events and the statements of each. */
import { normaliseEmail } from '../../core/email.ts'
import type { AuditEvent } from '../../platform/audit/audit.ts'
import type { Statement } from '../../platform/database/database.ts'
import type { AuthService } from '../auth/auth.create.ts'
import type { UsersService } from '../users/users.create.ts'
import type { Stored } from './admin.store.ts'

/** Missing fields stay unchanged. */
export interface UserEdit {
  name?: string
  email?: string
  disabled?: boolean
}

interface Part {
  event: AuditEvent
  changes?: Record<string, { from: string; to: string }>
  statements: Statement[]
}

/** Returns no parts if nothing changes. */
export function createEditParts({ users, auth }: { users: UsersService; auth: AuthService }) {
  return ({ user }: Stored, { name, email: given, disabled }: UserEdit): Part[] => {
    const { id } = user
    const email = given === undefined ? undefined : normaliseEmail(given)
    const renames = name !== undefined && name !== user.name
    const moves = email !== undefined && email !== user.email
    const parts: Part[] = []
    if (renames || moves) {
      parts.push({
        event: 'user_changed',
        changes: {
          ...(renames && { name: { from: user.name, to: name } }),
          ...(moves && { email: { from: user.email, to: email } }),
        },
        statements: [
          ...(renames ? users.changes.rename(id, name) : []),
          // Tokens mailed to the old address must not work any more.
          ...(moves ? [...users.changes.setEmail(id, email, false), auth.mailedTokens.voidAll(id)] : []),
        ],
      })
    }
    if (disabled === true && user.disabled_at === null) {
      const [, disable] = users.changes.disable(id)
      const ends = [auth.revokeSessions(id, 'administrator'), auth.mailedTokens.voidAll(id)]
      parts.push({ event: 'user_disabled', statements: [disable, ...ends] })
    }
    if (disabled === false && user.disabled_at !== null) {
      parts.push({ event: 'user_enabled', statements: users.changes.enable(id) })
    }
    return parts
  }
}
