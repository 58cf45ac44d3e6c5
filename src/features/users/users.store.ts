import type { Clock } from '../../core/clock.ts'
import { lowerByCodePoint } from '../../core/text.ts'
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

    async rename({ id, name, client }: { id: number; name: string; client: Client }): Promise<void> {
      const before = await db.get<{ name: string }>('SELECT name FROM users WHERE id = $1', [id])
      const changes = { name: { from: before?.name, to: name } }
      await db.write(
        {
          sql: 'UPDATE users SET name = $1, name_key = $2, updated_at = $3 WHERE id = $4',
          params: [name, lowerByCodePoint(name), clock.nowIso(), id],
        },
        audit.entry({ event: 'name_change', outcome: 'success', userId: id, actorId: id, changes, client }),
      )
    },
  }
}

export type UserStore = ReturnType<typeof createUserStore>
