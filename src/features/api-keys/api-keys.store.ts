/** API keys. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'

/** A key without its hash, as lists show it. */
export interface ListedKey {
  id: string
  name: string
  hint: string
  /** Null: all permissions of the owner. */
  permissions: string[] | null
  expires_at: string | null
  created_at: string
  last_used_at: string | null
}

/** A key with its owner. */
export interface KeyRow {
  key_id: string
  key_name: string
  /** A JSON list. */
  permissions: string | null
  ends_at: number | null
  last_used_at: string | null
  id: number
  email: string
  name: string
  roles: string
  token_version: number
}

export interface NewKey {
  id: string
  userId: number
  keyHash: string
  name: string
  hint: string
  permissions: readonly string[] | null
  endsAt: number | null
  createdAt: string
}

interface ListedRow extends Omit<ListedKey, 'permissions' | 'expires_at'> {
  permissions: string | null
  ends_at: number | null
}

export const maxKeys = 50
/** How long expired keys stay in the list, so that owners see why a program is refused. */
const keptSeconds = 30 * 86_400
/** Per user. */
const maxExpired = 50

const isLive = '(ends_at IS NULL OR ends_at > $2)'
const columns = 'id, name, hint, permissions, ends_at, created_at, last_used_at'

export function createKeyStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    /** Undefined if the key is unknown or expired, or its owner is disabled. */
    findByHash: (keyHash: string) =>
      db.get<KeyRow>(
        `SELECT k.id AS key_id, k.name AS key_name, k.permissions, k.ends_at, k.last_used_at,
                u.id, u.email, u.name, u.roles, u.token_version
         FROM api_keys k JOIN users u ON u.id = k.user_id
         WHERE k.key_hash = $1 AND (k.ends_at IS NULL OR k.ends_at > $2) AND u.disabled_at IS NULL`,
        [keyHash, clock.nowSeconds()],
      ),

    /** Whether the key is known, and expired. */
    isExpired: async (keyHash: string) =>
      (await db.get('SELECT id FROM api_keys WHERE key_hash = $1 AND ends_at <= $2', [keyHash, clock.nowSeconds()])) !==
      undefined,

    async list(userId: number): Promise<ListedKey[]> {
      const rows = await db.all<ListedRow>(
        `SELECT ${columns} FROM api_keys WHERE user_id = $1 ORDER BY created_at DESC, id`,
        [userId],
      )
      return rows.map(toListed)
    },

    async find(userId: number, id: string): Promise<ListedKey | undefined> {
      const row = await db.get<ListedRow>(`SELECT ${columns} FROM api_keys WHERE user_id = $1 AND id = $2`, [
        userId,
        id,
      ])
      return row && toListed(row)
    },

    countLive: async (userId: number) =>
      (
        await db.get<{ n: number }>(`SELECT count(*) AS n FROM api_keys WHERE user_id = $1 AND ${isLive}`, [
          userId,
          clock.nowSeconds(),
        ])
      )?.n ?? 0,

    /**
     * Deciding statement: fails if the user has the maximum number of keys. The batch must have locked the user's row, so
     * that each of any number of parallel requests counts those before it.
     */
    insert(key: NewKey): Statement[] {
      const now = clock.nowSeconds()
      return [
        {
          sql: `DELETE FROM api_keys WHERE user_id = $1 AND id IN
                (SELECT id FROM api_keys WHERE user_id = $1 AND ends_at <= $2
                 ORDER BY ends_at DESC, id LIMIT 1000 OFFSET ${maxExpired})`,
          params: [key.userId, now],
        },
        {
          sql: `INSERT INTO api_keys (id, user_id, key_hash, name, hint, permissions, created_at, ends_at, expires_at)
                SELECT $3, $1, $4, $5, $6, $7, $8, $9, $10
                WHERE (SELECT count(*) FROM api_keys WHERE user_id = $1 AND ${isLive}) < ${maxKeys}
                RETURNING id`,
          params: [
            key.userId,
            now,
            key.id,
            key.keyHash,
            key.name,
            key.hint,
            key.permissions && JSON.stringify(key.permissions),
            key.createdAt,
            key.endsAt,
            key.endsAt === null ? null : key.endsAt + keptSeconds,
          ],
          decides: true,
        },
      ]
    },

    remove: (userId: number, id: string): Statement => ({
      sql: 'DELETE FROM api_keys WHERE user_id = $1 AND id = $2 RETURNING id',
      params: [userId, id],
      decides: true,
    }),

    removeAll: (userId: number): Statement[] => [{ sql: 'DELETE FROM api_keys WHERE user_id = $1', params: [userId] }],

    /** Does nothing if another node has written a time after `unlessSince`. */
    async use(id: string, at: string, unlessSince: string): Promise<void> {
      await db.write({
        sql: `UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at <= $3)`,
        params: [at, id, unlessSince],
      })
    },
  }
}

export type KeyStore = ReturnType<typeof createKeyStore>

export function toListed({ permissions, ends_at, ...row }: ListedRow): ListedKey {
  return {
    id: row.id,
    name: row.name,
    hint: row.hint,
    permissions: permissions === null ? null : (JSON.parse(permissions) as string[]),
    expires_at: ends_at === null ? null : isoOf(ends_at),
    created_at: row.created_at,
    last_used_at: row.last_used_at,
  }
}

export function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
