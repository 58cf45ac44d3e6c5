import type { Audit } from '../../platform/audit/audit.ts'
import { ConstraintError, type Database, rowOf } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { Client } from '../../platform/http/client.ts'
import type { AdministratorSql } from './administrators.store.ts'
import type { UserRow } from './user.ts'
import type { NewUser, UserChanges } from './user-changes.store.ts'

export interface UserStoreDeps {
  db: Database
  audit: Audit
  changes: UserChanges
  administrators: AdministratorSql
}

export function createUserStore({ db, audit, changes, administrators }: UserStoreDeps) {
  return {
    /** Returns the new id, or undefined if the email is taken. The unique index settles the race. */
    async insert(user: NewUser): Promise<number | undefined> {
      try {
        const [[row]] = await db.write<{ id: number }, object>(
          changes.insert(user),
          audit.entry({
            event: 'register',
            outcome: 'success',
            userId: rowOf(0, 'id'),
            actorId: rowOf(0, 'id'),
            client: user.client,
          }),
        )
        return row?.id
      } catch (error) {
        if (error instanceof ConstraintError && error.kind === 'unique') return undefined
        throw error
      }
    },

    /** Whether disabling or removing the user would leave no administrator. */
    async isLastAdministrator(id: number): Promise<boolean> {
      const sql = `SELECT 1 FROM users WHERE id = $1 AND NOT ${administrators.isNotLast('$1')}`
      return (await db.get(sql, [id])) !== undefined
    },

    /** Undefined for a disabled user. */
    findEnabled: (id: number) =>
      db.get<UserRow>('SELECT id, email, name, roles, token_version FROM users WHERE id = $1 AND disabled_at IS NULL', [
        id,
      ]),

    /** How to call these users. Those who were deleted are missing. */
    findNames: (ids: readonly number[]) =>
      db.all<Pick<UserRow, 'id' | 'email' | 'name'>>(`SELECT id, email, name FROM users WHERE ${idIsListed(db)}`, [
        toIdList(db, ids),
      ]),

    async rename({ id, name, client }: { id: number; name: string; client: Client }): Promise<void> {
      const before = await db.get<{ name: string }>('SELECT name FROM users WHERE id = $1', [id])
      const audited = { name: { from: before?.name, to: name } }
      await db.write(
        ...changes.rename(id, name),
        audit.entry({ event: 'name_change', outcome: 'success', userId: id, actorId: id, changes: audited, client }),
      )
    },
  }
}

export type UserStore = ReturnType<typeof createUserStore>
