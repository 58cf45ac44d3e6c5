import type { Database, Statement } from '../../platform/database/database.ts'

export interface TwoFactorRow {
  /** Encrypted. */
  secret: string
  enabled: boolean
  set_up_at: number
}

export function createTwoFactorStore({ db }: { db: Database }) {
  return {
    find: (userId: number) =>
      db.get<TwoFactorRow>('SELECT secret, enabled, set_up_at FROM two_factor WHERE user_id = $1', [userId]),

    countRecoveryCodes: async (userId: number) =>
      (await db.get<{ n: number }>('SELECT count(*) AS n FROM recovery_codes WHERE user_id = $1', [userId]))?.n ?? 0,

    hasRecoveryCode: async (userId: number, codeHash: string) =>
      (await db.get('SELECT user_id FROM recovery_codes WHERE user_id = $1 AND code_hash = $2', [userId, codeHash])) !==
      undefined,

    /** Stores a new secret that is not active yet. Deciding statement: fails if one is active. */
    prepare: (userId: number, secret: string, now: number): Statement => ({
      sql: `INSERT INTO two_factor (user_id, secret, enabled, set_up_at) VALUES ($1, $2, FALSE, $3)
            ON CONFLICT (user_id) DO UPDATE SET secret = $2, set_up_at = $3 WHERE two_factor.enabled = FALSE
            RETURNING user_id`,
      params: [userId, secret, now],
      decides: true,
    }),

    /** Deciding statement: only for the secret that was prepared last. */
    enable: (userId: number, secret: string): Statement => ({
      sql: `UPDATE two_factor SET enabled = TRUE WHERE user_id = $1 AND secret = $2 AND enabled = FALSE RETURNING user_id`,
      params: [userId, secret],
      decides: true,
    }),

    disable: (userId: number): Statement => ({
      sql: 'DELETE FROM two_factor WHERE user_id = $1 AND enabled = TRUE RETURNING user_id',
      params: [userId],
      decides: true,
    }),

    /** Removes active and pending secrets. */
    remove: (userId: number): Statement[] => [
      { sql: 'DELETE FROM two_factor WHERE user_id = $1', params: [userId] },
      ...replaceRecoveryCodes(userId, []),
    ],

    /** A set-up that no code has confirmed. */
    removePending: (userId: number): Statement[] => [
      { sql: 'DELETE FROM two_factor WHERE user_id = $1 AND enabled = FALSE', params: [userId] },
    ],

    /** Re-encrypts the secret with the current key. Deciding statement: only if it is still the one that was read. */
    reEncrypt: (userId: number, from: string, to: string): Statement => ({
      sql: 'UPDATE two_factor SET secret = $1 WHERE user_id = $2 AND secret = $3 AND enabled = TRUE RETURNING user_id',
      params: [to, userId, from],
      decides: true,
    }),

    useRecoveryCode: (userId: number, codeHash: string): Statement => ({
      sql: 'DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2 RETURNING user_id',
      params: [userId, codeHash],
      decides: true,
    }),

    replaceRecoveryCodes,
  }
}

export type TwoFactorStore = ReturnType<typeof createTwoFactorStore>

function replaceRecoveryCodes(userId: number, codeHashes: string[]): Statement[] {
  return [
    { sql: 'DELETE FROM recovery_codes WHERE user_id = $1', params: [userId] },
    ...codeHashes.map((codeHash) => ({
      sql: 'INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)',
      params: [userId, codeHash],
    })),
  ]
}
