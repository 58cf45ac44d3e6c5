/** The users table. */
import type { Clock } from '../../core/clock.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import { ConstraintError, type Database, rowOf } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'

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
}

export function createUserStore({ db, clock, audit }: UserStoreDeps) {
  return {
    /** Answers the new id, or undefined where the email is taken: the unique index settles who comes first. */
    async insert({ email, name, passwordHash, roles, client }: NewUser): Promise<number | undefined> {
      try {
        const [[row]] = await db.write<{ id: number }, object>(
          {
            sql: `INSERT INTO users (email, name, password_hash, roles, registered_from, created_at, updated_at)
                  VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING id`,
            params: [email, name, passwordHash, JSON.stringify(roles), client.address, clock.nowIso()],
          },
          audit.entry({ event: 'register', outcome: 'success', userId: rowOf(0, 'id'), client }),
        )
        return row?.id
      } catch (error) {
        if (error instanceof ConstraintError && error.kind === 'unique') return undefined
        throw error
      }
    },

    async rename({ id, name, client }: { id: number; name: string; client: Client }): Promise<void> {
      await db.write(
        { sql: 'UPDATE users SET name = $1, updated_at = $2 WHERE id = $3', params: [name, clock.nowIso(), id] },
        audit.entry({ event: 'name_change', outcome: 'success', userId: id, client }),
      )
    },
  }
}

export type UserStore = ReturnType<typeof createUserStore>
