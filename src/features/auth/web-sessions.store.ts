/** Browser sessions: hashed cookie values, each with its token family. */
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { PrincipalRow } from './principals.store.ts'

export interface WebSessionRow extends PrincipalRow {
  family: string
  used_at: number
  expires_at: number
  ends_at: number
}

export interface NewWebSession {
  idHash: string
  family: string
  version: number
  ttlSeconds: number
}

export function createWebSessionStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    async insert({ idHash, family, version, ttlSeconds }: NewWebSession): Promise<void> {
      const now = clock.nowSeconds()
      await db.write({
        sql: `INSERT INTO web_sessions (id_hash, family, token_version, used_at, expires_at)
              VALUES ($1, $2, $3, $4, $5)`,
        params: [idHash, family, version, now, now + ttlSeconds],
      })
    },

    find: (idHash: string) =>
      db.get<WebSessionRow>(
        `SELECT u.id, u.email, u.name, u.roles, u.token_version,
                w.family, w.used_at, w.expires_at, s.ends_at
         FROM web_sessions w JOIN sessions s ON s.id = w.family JOIN users u ON u.id = s.user_id
         WHERE w.id_hash = $1 AND w.expires_at > $2 AND s.expires_at > $2 AND s.ends_at > $2 AND s.revoked_at IS NULL
           AND u.token_version = w.token_version`,
        [idHash, clock.nowSeconds()],
      ),

    /** Records a use, and extends the session and its family. */
    async use({ idHash, family, expiresAt }: { idHash: string; family: string; expiresAt: number }): Promise<void> {
      await db.write(
        {
          sql: 'UPDATE web_sessions SET used_at = $1, expires_at = $2 WHERE id_hash = $3',
          params: [clock.nowSeconds(), expiresAt, idHash],
        },
        {
          sql: `UPDATE sessions SET last_used_at = $1, expires_at = CASE WHEN expires_at < $2 THEN $2 ELSE expires_at END
                WHERE id = $3 AND revoked_at IS NULL`,
          params: [clock.nowIso(), expiresAt, family],
        },
      )
    },
  }
}

export type WebSessionStore = ReturnType<typeof createWebSessionStore>
