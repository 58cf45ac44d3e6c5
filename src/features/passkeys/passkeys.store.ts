import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Assertion, NewCredential } from './webauthn.ts'

export interface ListedPasskey {
  id: string
  name: string
  /** It is synced to the user's other devices. */
  backed_up: boolean
  created_at: string
  last_used_at: string | null
}

export interface PasskeyRow {
  id: string
  user_id: number
  public_key: string
  user_handle: string
  counter: number
}

export interface NewPasskey extends NewCredential {
  id: string
  userId: number
  userHandle: string
  name: string
}

export const maxPasskeys = 20

const listed = 'id, name, backed_up, created_at, last_used_at'

export function createPasskeyStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    list: (userId: number) =>
      db.all<ListedPasskey>(`SELECT ${listed} FROM passkeys WHERE user_id = $1 ORDER BY created_at, id`, [userId]),

    find: async (userId: number, id: string) =>
      // Other texts may hold what PostgreSQL does not store.
      /^[\w-]{1,64}$/.test(id)
        ? db.get<ListedPasskey>(`SELECT ${listed} FROM passkeys WHERE user_id = $1 AND id = $2`, [userId, id])
        : undefined,

    findByCredential: (credentialId: string) =>
      db.get<PasskeyRow>(
        'SELECT id, user_id, public_key, user_handle, counter FROM passkeys WHERE credential_id = $1',
        [credentialId],
      ),

    count: async (userId: number) =>
      (await db.get<{ n: number }>('SELECT count(*) AS n FROM passkeys WHERE user_id = $1', [userId]))?.n ?? 0,

    async listCredentials(userId: number): Promise<{ id: string; transports: string[] }[]> {
      const rows = await db.all<{ credential_id: string; transports: string }>(
        'SELECT credential_id, transports FROM passkeys WHERE user_id = $1',
        [userId],
      )
      return rows.map(({ credential_id, transports }) => ({ id: credential_id, transports: JSON.parse(transports) }))
    },

    /**
     * Deciding statement: fails if the user has the maximum number, or the credential is registered. The batch must
     * have locked the user's row, so that each of any number of parallel requests counts those before it.
     */
    insert: (passkey: NewPasskey): Statement => ({
      sql: `INSERT INTO passkeys (id, user_id, credential_id, public_key, user_handle, counter, transports, device_type,
                                  backed_up, name, created_at)
            SELECT $2, $1, $3, $4, $5, $6, $7, $8, $9, $10, $11
            WHERE (SELECT count(*) FROM passkeys WHERE user_id = $1) < ${maxPasskeys}
            ON CONFLICT (credential_id) DO NOTHING
            RETURNING ${listed}`,
      params: [
        passkey.userId,
        passkey.id,
        passkey.credentialId,
        passkey.publicKey,
        passkey.userHandle,
        passkey.counter,
        JSON.stringify(passkey.transports),
        passkey.deviceType,
        passkey.isBackedUp,
        passkey.name,
        clock.nowIso(),
      ],
      decides: true,
    }),

    /** Deciding statement: it is still there, and its counter has not gone back. */
    use: (id: string, { counter, isBackedUp }: Assertion): Statement => ({
      sql: `UPDATE passkeys SET counter = $2, backed_up = $3, last_used_at = $4
            WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING id`,
      params: [id, counter, isBackedUp, clock.nowIso()],
      decides: true,
    }),

    remove: (userId: number, id: string): Statement => ({
      sql: 'DELETE FROM passkeys WHERE user_id = $1 AND id = $2 RETURNING id',
      params: [userId, id],
      decides: true,
    }),

    removeAll: (userId: number): Statement[] => [{ sql: 'DELETE FROM passkeys WHERE user_id = $1', params: [userId] }],
  }
}

export type PasskeyStore = ReturnType<typeof createPasskeyStore>
