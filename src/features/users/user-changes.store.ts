/**
 * What is done to a user, as statements for the batches of other features. The last one of each decides, and finds no
 * row where nobody has the id, or where it would leave no administrator who may sign in.
 */
import type { UserRemoval } from '../../collections/user-removal.ts'
import { accountErrors } from '../../core/account-errors.ts'
import type { Clock } from '../../core/clock.ts'
import { lowerByCodePoint } from '../../core/text.ts'
import { ConstraintError, type Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { AdministratorSql } from './administrators.store.ts'

export interface NewUser {
  email: string
  name: string
  /** Empty while there is no password, as for an invited user. */
  passwordHash: string
  roles: readonly string[]
  client: Client
}

export interface UserChangesDeps {
  clock: Clock
  administrators: AdministratorSql
  removal: UserRemoval
}

export function createUserChanges({ clock, administrators, removal }: UserChangesDeps) {
  return {
    /** Returns the id. Throws a ConstraintError of kind `unique` where the email is taken. */
    insert: ({ email, name, passwordHash, roles, client }: NewUser): Statement => ({
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
    }),
    /** Tokens end with the version; sessions are revoked by the feature that keeps them. */
    disable: (id: number): [Statement, Statement] => [
      administrators.takeAll,
      {
        sql: `UPDATE users SET disabled_at = $1, token_version = token_version + 1, updated_at = $1
              WHERE id = $2 AND disabled_at IS NULL AND ${administrators.isNotLast('$2')} RETURNING id`,
        params: [clock.nowIso(), id],
        decides: true,
      },
    ],
    enable: (id: number): Statement[] => [
      {
        sql: 'UPDATE users SET disabled_at = NULL, updated_at = $1 WHERE id = $2 AND disabled_at IS NOT NULL RETURNING id',
        params: [clock.nowIso(), id],
        decides: true,
      },
    ],
    /** Sessions, second factor and what else belongs to the user go with the row, by the foreign keys. */
    remove: (id: number): [Statement, ...Statement[]] => [
      administrators.takeAll,
      ...removal.statements(id),
      {
        sql: `DELETE FROM users WHERE id = $1 AND ${administrators.isNotLast('$1')} RETURNING id`,
        params: [id],
        decides: true,
      },
    ],
    /** For one who is no administrator: finds no row where that has changed. Takes no other user's row. */
    removeOrdinary: (id: number): Statement[] => [
      ...removal.statements(id),
      {
        sql: `DELETE FROM users WHERE id = $1 AND NOT (${administrators.holds('roles')}) RETURNING id`,
        params: [id],
        decides: true,
      },
    ],
    /** For the error of a batch with a removal. A table of an extension may reference the user. */
    asStillReferredTo(error: unknown): never {
      throw error instanceof ConstraintError && error.kind === 'foreign_key' ? accountErrors.stillReferredTo() : error
    },
    /** For a batch with a removal that was rolled back. */
    async requireUnreferred(id: number): Promise<void> {
      if (await removal.isHeld(id)) throw accountErrors.stillReferredTo()
    },
    rename: (id: number, name: string): Statement[] => [
      {
        sql: 'UPDATE users SET name = $1, name_key = $2, updated_at = $3 WHERE id = $4 RETURNING id',
        params: [name, lowerByCodePoint(name), clock.nowIso(), id],
        decides: true,
      },
    ],
    /** Throws a ConstraintError of kind `unique` where somebody else has the address. */
    setEmail: (id: number, email: string, isVerified: boolean): Statement[] => [
      {
        sql: 'UPDATE users SET email = $1, email_verified_at = $2, updated_at = $3 WHERE id = $4 RETURNING id',
        params: [email, isVerified ? clock.nowIso() : null, clock.nowIso(), id],
        decides: true,
      },
    ],
    setVerified: (id: number): Statement => ({
      sql: 'UPDATE users SET email_verified_at = $1 WHERE id = $2 AND email_verified_at IS NULL',
      params: [clock.nowIso(), id],
    }),
  }
}

export type UserChanges = ReturnType<typeof createUserChanges>
