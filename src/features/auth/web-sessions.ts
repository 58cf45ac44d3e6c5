/**
 * Browsers that are signed in. Their cookie holds an unguessable id, kept hashed, that stands for a token family: what
 * ends the family ends it too. It is not traded at each use as refresh tokens are, so pages may load in parallel.
 */
import { hash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Database } from '../../platform/database/database.ts'
import type { PrincipalRow } from './authenticator.ts'

export interface WebSessionsDeps {
  db: Database
  clock: Clock
  random: Random
  /** How long it lasts unused. */
  ttlSeconds: number
  createUser(row: PrincipalRow): Omit<Principal, 'session' | 'token'>
}

interface WebSessionRow extends PrincipalRow {
  family: string
  used_at: number
  expires_at: number
  ends_at: number
}

/** Each use would be a write otherwise. */
const usedEverySeconds = 300

export function createWebSessions({ db, clock, random, ttlSeconds, createUser }: WebSessionsDeps) {
  /** Puts the end off, but not beyond the family's own. */
  async function use(idHash: string, { family, ends_at }: WebSessionRow): Promise<void> {
    const now = clock.nowSeconds()
    const expiresAt = Math.min(now + ttlSeconds, ends_at)
    await db.write(
      {
        sql: 'UPDATE web_sessions SET used_at = $1, expires_at = $2 WHERE id_hash = $3',
        params: [now, expiresAt, idHash],
      },
      {
        sql: `UPDATE sessions SET last_used_at = $1, expires_at = CASE WHEN expires_at < $2 THEN $2 ELSE expires_at END
              WHERE id = $3 AND revoked_at IS NULL`,
        params: [clock.nowIso(), expiresAt, family],
      },
    )
  }

  const read = (idHash: string) =>
    db.get<WebSessionRow>(
      `SELECT u.id, u.email, u.name, u.roles, u.token_version,
              w.family, w.used_at, w.expires_at, s.ends_at
       FROM web_sessions w JOIN sessions s ON s.id = w.family JOIN users u ON u.id = s.user_id
       WHERE w.id_hash = $1 AND w.expires_at > $2 AND s.ends_at > $2 AND s.revoked_at IS NULL
         AND u.token_version = w.token_version`,
      [idHash, clock.nowSeconds()],
    )

  const toPrincipal = (idHash: string, row: WebSessionRow): Principal =>
    Object.assign(createUser(row), {
      session: row.family,
      token: { id: `web ${idHash}`, expiresAt: row.expires_at },
    })

  return {
    /** Returns what the cookie holds. */
    async begin({ family, version }: { family: string; version: number }): Promise<string> {
      const id = random.bytes(32).toString('base64url')
      const now = clock.nowSeconds()
      await db.write({
        sql: `INSERT INTO web_sessions (id_hash, family, token_version, used_at, expires_at)
              VALUES ($1, $2, $3, $4, $5)`,
        params: [hashId(id), family, version, now, now + ttlSeconds],
      })
      return id
    },

    async find(id: string): Promise<Principal | undefined> {
      const idHash = hashId(id)
      const row = await read(idHash)
      if (!row) return undefined
      if (clock.nowSeconds() - row.used_at >= usedEverySeconds) await use(idHash, row)
      return toPrincipal(idHash, row)
    },

    /** Like `find`, but no use of it: a page that is only left open does not put the end off. */
    async look(id: string): Promise<Principal | undefined> {
      const idHash = hashId(id)
      const row = await read(idHash)
      return row && toPrincipal(idHash, row)
    },
  }
}

export type WebSessions = ReturnType<typeof createWebSessions>

function hashId(id: string): string {
  return hash('sha256', id, 'base64url')
}
