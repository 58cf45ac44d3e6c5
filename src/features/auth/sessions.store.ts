/** Token families: one row per login, with the id of its one live refresh token. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'

/** The claims of a token pair. Stored instead of the tokens. */
export interface PairClaims {
  userId: number
  version: number
  family: string
  accessId: string
  refreshId: string
  issuedAt: number
  accessExpiresAt: number
  refreshExpiresAt: number
}

export interface SessionRow {
  id: string
  user_id: number
  live_refresh_id: string
  pair: string
  previous_refresh_id: string | null
  retry_key_hash: string | null
  rotated_at: number | null
  ends_at: number
  revoked_at: number | null
  token_version: number
}

/** Why a session ended before its time. */
export type SessionEnd = 'reuse' | 'logout' | 'everywhere' | 'password_change' | 'administrator'

export interface NewSession {
  pair: PairClaims
  endsAt: number
  /** The known device that it was made from. */
  deviceId: string | undefined
  client: Client
}

export interface ListedSession {
  id: string
  address: string
  user_agent: string
  created_at: string
  last_used_at: string
}

/** Scripts may create more sessions than a list should show. */
const maxListed = 100
/** Live and ended ones of a user: all of them are listed, ended or deleted at once. */
const maxPerUser = 1000
/** How many a login removes at most, where an earlier version has left more. */
const maxForgotten = 100

export function createSessionStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    insert: ({ pair, endsAt, deviceId, client }: NewSession): Statement => ({
      sql: `INSERT INTO sessions (id, user_id, live_refresh_id, pair, address, user_agent, created_at, last_used_at, ends_at, expires_at, device_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10)`,
      params: [
        pair.family,
        pair.userId,
        pair.refreshId,
        JSON.stringify(pair),
        client.address,
        client.userAgent,
        clock.nowIso(),
        endsAt,
        lastExpiryOf(pair),
        deviceId ?? null,
      ],
    }),

    find: (family: string) =>
      db.get<SessionRow>(
        `SELECT s.id, s.user_id, s.live_refresh_id, s.pair, s.previous_refresh_id, s.retry_key_hash, s.rotated_at,
                s.ends_at, s.revoked_at, u.token_version
         FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id = $1`,
        [family],
      ),

    /** Settles the race: only one of any number of parallel refreshes still finds its id live. */
    rotate: ({
      presented,
      successor,
      retryKeyHash,
    }: {
      presented: string
      successor: PairClaims
      retryKeyHash: string | null
    }): Statement => ({
      sql: `UPDATE sessions
            SET live_refresh_id = $1, pair = $2, previous_refresh_id = $3, retry_key_hash = $4, rotated_at = $5,
                last_used_at = $6, expires_at = $7, ended_reason = NULL
            WHERE id = $8 AND live_refresh_id = $3 AND revoked_at IS NULL
              AND EXISTS (SELECT 1 FROM users WHERE users.id = sessions.user_id AND users.token_version = $9)
            RETURNING id`,
      params: [
        successor.refreshId,
        JSON.stringify(successor),
        presented,
        retryKeyHash,
        clock.nowSeconds(),
        clock.nowIso(),
        lastExpiryOf(successor),
        successor.family,
        successor.version,
      ],
      decides: true,
    }),

    revoke: (family: string, reason: SessionEnd): Statement => ({
      sql: `${endSql} WHERE id = $3 AND ${isLive} RETURNING id`,
      params: [clock.nowSeconds(), reason, family],
      decides: true,
    }),

    revokeOwn: (family: string, userId: number, reason: SessionEnd): Statement => ({
      sql: `${endSql} WHERE id = $3 AND user_id = $4 AND ${isLive} RETURNING id`,
      params: [clock.nowSeconds(), reason, family, userId],
      decides: true,
    }),

    revokeAll: (userId: number, reason: SessionEnd): Statement => ({
      sql: `${endSql} WHERE user_id = $3 AND ${isLive}`,
      params: [clock.nowSeconds(), reason, userId],
    }),

    forgetOldest,

    /** Invalidates all tokens of the user, which carry the old version. */
    raiseVersion: (userId: number): Statement => ({
      sql: 'UPDATE users SET token_version = token_version + 1, updated_at = $1 WHERE id = $2',
      params: [clock.nowIso(), userId],
    }),

    revokeToken: (id: string, expiresAt: number): Statement => ({
      sql: 'INSERT INTO revoked_tokens (id, expires_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
      params: [id, expiresAt],
    }),

    list: (userId: number) =>
      db.all<ListedSession>(
        `SELECT id, address, user_agent, created_at, last_used_at FROM sessions
         WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2 ORDER BY last_used_at DESC, id LIMIT ${maxListed}`,
        [userId, clock.nowSeconds()],
      ),
  }
}

/** Every token has expired where the row has. It then ends no second time, for another reason. */
const isLive = 'revoked_at IS NULL AND expires_at > $1'
/** The row expires at once: ended sessions are found, and cleaned up, by the time of their end. */
const endSql = 'UPDATE sessions SET revoked_at = $1, ended_reason = $2, expires_at = $1'

export type SessionStore = ReturnType<typeof createSessionStore>

/** The row must outlive both tokens; which one lives longer is configurable. */
function lastExpiryOf(pair: PairClaims): number {
  return Math.max(pair.accessExpiresAt, pair.refreshExpiresAt)
}

/**
 * Leaves so many as a user may have, and the given one: ended ones go first, then those that were not used for the longest
 * time. The batch must hold the user's row, so that parallel logins count each other.
 */
function forgetOldest(userId: number, exceptFamily: string): Statement {
  return {
    sql: `DELETE FROM sessions WHERE id IN (
            SELECT id FROM sessions WHERE user_id = $1 AND id <> $2 AND expires_at < (
              SELECT expires_at FROM sessions WHERE user_id = $1
              ORDER BY expires_at DESC LIMIT 1 OFFSET ${maxPerUser - 1})
            ORDER BY expires_at LIMIT ${maxForgotten})
          RETURNING id`,
    params: [userId, exceptFamily],
  }
}
