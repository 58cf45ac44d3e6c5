/** Password reset tokens, stored as hashes. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'

const resetSeconds = 3600
const mailsPerHour = 3

export function createPasswordResetStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    /** Deciding statement: enforces the limit per hour. */
    insert(tokenHash: string, userId: number): Statement {
      const now = clock.nowSeconds()
      return {
        sql: `INSERT INTO password_resets (token_hash, user_id, created_at, expires_at)
              SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT)
              WHERE (SELECT count(*) FROM password_resets WHERE user_id = $2 AND created_at > $5) < $6
              RETURNING user_id`,
        params: [tokenHash, userId, now, now + resetSeconds, now - 3600, mailsPerHour],
        decides: true,
      }
    },

    /** Returns undefined if it was used or has expired. */
    find: (tokenHash: string) =>
      db.get<{ user_id: number; email: string }>(
        `SELECT r.user_id, u.email FROM password_resets r JOIN users u ON u.id = r.user_id
         WHERE r.token_hash = $1 AND r.used_at IS NULL AND r.expires_at > $2`,
        [tokenHash, clock.nowSeconds()],
      ),

    /** Deciding statement: of two parallel uses, only one finds it unused. */
    use: (tokenHash: string): Statement => ({
      sql: `UPDATE password_resets SET used_at = $1 WHERE token_hash = $2 AND used_at IS NULL AND expires_at > $1
            RETURNING user_id`,
      params: [clock.nowSeconds(), tokenHash],
      decides: true,
    }),

    /** Invalidates all tokens that were mailed to the user. */
    voidAll: (userId: number): Statement => ({
      sql: 'UPDATE password_resets SET used_at = $1 WHERE user_id = $2 AND used_at IS NULL',
      params: [clock.nowSeconds(), userId],
    }),
  }
}

export type PasswordResetStore = ReturnType<typeof createPasswordResetStore>
