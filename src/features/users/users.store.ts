import type { Clock } from '../../core/clock.ts'
import { lowerByCodePoint } from '../../core/text.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import { ConstraintError, type Database, rowOf } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { AdministratorSql } from './administrators.store.ts'
import type { UserChanges } from './user-changes.store.ts'

export interface NewUser {
  email: string
  name: string
  passwordHash: string
  roles: readonly string[]
  client: Client
}

export interface UserStoreDeps {
  db: Database
  clock: Clock
  audit: Audit
  changes: UserChanges
  administrators: AdministratorSql
}

export function createUserStore({ db, clock, audit, changes, administrators }: UserStoreDeps) {
  return {
    /** Returns the new id, or undefined if the email is taken. The unique index settles the race. */
    async insert({ email, name, passwordHash, roles, client }: NewUser): Promise<number | undefined> {
      try {
        const [[row]] = await db.write<{ id: number }, object>(
          {
            sql: `INSERT INTO users (email, name, name_key, password_hash, roles, registered_from, created_at, updated_at)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING id`,
            params: [
              email,
              name,
              lowerByCodePoint(name),
              passwordHash,
              JSON.stringify(roles),
              client.address,
              clock.nowIso(),
            ],
          },
          audit.entry({
            event: 'register',
            outcome: 'success',
            userId: rowOf(0, 'id'),
            actorId: rowOf(0, 'id'),
            client,
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
