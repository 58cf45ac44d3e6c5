/** The columns of a user that signing in needs. */
import type { Clock } from '../../core/clock.ts'
import { isPossibleEmail } from '../../core/email.ts'
import type { Database, Statement } from '../../platform/database/database.ts'

export interface Account {
  id: number
  email: string
  password_hash: string
  token_version: number
  /** Null while the user may sign in. */
  disabled_at: string | null
  email_verified_at: string | null
  /** Null where it was never set up. */
  two_factor: boolean | null
}

const select = `SELECT u.id, u.email, u.password_hash, u.token_version, u.disabled_at, u.email_verified_at,
                       t.enabled AS two_factor
                FROM users u LEFT JOIN two_factor t ON t.user_id = u.id`

export function createAccountStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    findByEmail: async (email: string) =>
      isPossibleEmail(email) ? db.get<Account>(`${select} WHERE u.email = $1`, [email]) : undefined,
    findById: (id: number) => db.get<Account>(`${select} WHERE u.id = $1`, [id]),

    /** Deciding statement: the password and sessions have not changed since that version was read. */
    stillHasVersion: (id: number, version: number): Statement => ({
      sql: 'UPDATE users SET token_version = token_version WHERE id = $1 AND token_version = $2 RETURNING id',
      params: [id, version],
      decides: true,
    }),

    /** Also decides that it has still the same address, to which a token is about to be mailed. */
    stillHasAddress: ({ id, token_version, email }: Account): Statement => ({
      sql: `UPDATE users SET token_version = token_version WHERE id = $1 AND token_version = $2 AND email = $3
            RETURNING id`,
      params: [id, token_version, email],
      decides: true,
    }),

    /** Also decides that no second factor has been enabled in the meantime. */
    stillHasVersionAlone: (id: number, version: number): Statement => ({
      sql: `UPDATE users SET token_version = token_version WHERE id = $1 AND token_version = $2
            AND NOT EXISTS (SELECT 1 FROM two_factor t WHERE t.user_id = $1 AND t.enabled) RETURNING id`,
      params: [id, version],
      decides: true,
    }),

    /** The same password at another cost, so sessions stay valid. */
    rehash: (id: number, from: string, to: string): Statement => ({
      sql: 'UPDATE users SET password_hash = $1 WHERE id = $2 AND password_hash = $3',
      params: [to, id, from],
    }),

    /** Ends every session. */
    setPassword: (id: number, hash: string): Statement => ({
      sql: `UPDATE users SET password_hash = $1, token_version = token_version + 1, updated_at = $2 WHERE id = $3 RETURNING id, email`,
      params: [hash, clock.nowIso(), id],
      decides: true,
    }),
  }
}

export type AccountStore = ReturnType<typeof createAccountStore>
