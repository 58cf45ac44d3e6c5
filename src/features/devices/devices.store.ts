/** Devices that have completed a login. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'

export interface KeptDevice {
  id: string
  userId: number
  tokenHash: string
  client: Client
}

/** Counted from the last use. */
const knownSeconds = 180 * 86_400
const maxPerUser = 20

export function createDeviceStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    async find(tokenHash: string, userId: number): Promise<string | undefined> {
      const row = await db.get<{ id: string }>(
        'SELECT id FROM devices WHERE token_hash = $1 AND user_id = $2 AND expires_at > $3',
        [tokenHash, userId, clock.nowSeconds()],
      )
      return row?.id
    },

    /** Inserts or renews a device. If it was deleted while its login was running, it is inserted again. */
    keep: ({ id, userId, tokenHash, client }: KeptDevice): Statement => ({
      sql: `INSERT INTO devices (id, user_id, token_hash, address, user_agent, created_at, last_used_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
            ON CONFLICT (id) DO UPDATE SET address = $4, user_agent = $5, last_used_at = $6, expires_at = $7`,
      params: [
        id,
        userId,
        tokenHash,
        client.address,
        client.userAgent,
        clock.nowIso(),
        clock.nowSeconds() + knownSeconds,
      ],
    }),

    /** Enforces the limit per user, and always keeps the given device. */
    forgetLeastRecent: (userId: number, exceptId: string): Statement => ({
      sql: `DELETE FROM devices WHERE user_id = $1 AND id <> $2 AND id NOT IN (
              SELECT id FROM devices WHERE user_id = $1 AND id <> $2
              ORDER BY last_used_at DESC, id LIMIT ${maxPerUser - 1})`,
      params: [userId, exceptId],
    }),

    forgetAll: (userId: number, exceptTokenHash: string): Statement => ({
      sql: 'DELETE FROM devices WHERE user_id = $1 AND token_hash <> $2',
      params: [userId, exceptTokenHash],
    }),

    /** Keeps the device if the session that does this is on it too. */
    forgetOfSession: ({ family, endedBy, userId }: { family: string; endedBy: string; userId: number }): Statement => ({
      sql: `DELETE FROM devices WHERE user_id = $1
            AND id IN (SELECT device_id FROM sessions WHERE id = $2)
            AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = $3 AND device_id = devices.id)`,
      params: [userId, family, endedBy],
    }),
  }
}

export type DeviceStore = ReturnType<typeof createDeviceStore>
