import type { Database, Statement } from '../../platform/database/database.ts'

export interface TwoFactorRow {
  /** Encrypted. */
  secret: string
  enabled: boolean
  last_step: number
}

export function createTwoFactorStore({ db }: { db: Database }) {
  return {
    find: (userId: number) =>
      db.get<TwoFactorRow>('SELECT secret, enabled, last_step FROM two_factor WHERE user_id = $1', [userId]),

    countRecoveryCodes: async (userId: number) =>
      (await db.get<{ n: number }>('SELECT count(*) AS n FROM recovery_codes WHERE user_id = $1', [userId]))?.n ?? 0,

    hasRecoveryCode: async (userId: number, codeHash: string) =>
      (await db.get('SELECT user_id FROM recovery_codes WHERE user_id = $1 AND code_hash = $2', [userId, codeHash])) !==
      undefined,

    /** A new secret that is not active yet. Decides: not where one is. */
    prepare: (userId: number, secret: string): Statement => ({
      sql: `INSERT INTO two_factor (user_id, secret, enabled, last_step) VALUES ($1, $2, FALSE, 0)
            ON CONFLICT (user_id) DO UPDATE SET secret = $2, last_step = 0 WHERE two_factor.enabled = FALSE
            RETURNING user_id`,
      params: [userId, secret],
      decides: true,
    }),

    /** Decides: only for the secret that was prepared last. */
    enable: (userId: number, secret: string, step: number): Statement => ({
      sql: `UPDATE two_factor SET enabled = TRUE, last_step = $1
            WHERE user_id = $2 AND secret = $3 AND enabled = FALSE RETURNING user_id`,
      params: [step, userId, secret],
      decides: true,
    }),

    disable: (userId: number): Statement => ({
      sql: 'DELETE FROM two_factor WHERE user_id = $1 AND enabled = TRUE RETURNING user_id',
      params: [userId],
      decides: true,
    }),

    /** Uses up a time step, and with it every code up to it. `secret` is the same, encrypted by today's key. */
    useStep: (userId: number, step: number, secret: string): Statement => ({
      sql: `UPDATE two_factor SET last_step = $1, secret = $2
            WHERE user_id = $3 AND enabled = TRUE AND last_step < $1 RETURNING user_id`,
      params: [step, secret, userId],
      decides: true,
    }),

    useRecoveryCode: (userId: number, codeHash: string): Statement => ({
      sql: 'DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2 RETURNING user_id',
      params: [userId, codeHash],
      decides: true,
    }),

    replaceRecoveryCodes: (userId: number, codeHashes: string[]): Statement[] => [
      { sql: 'DELETE FROM recovery_codes WHERE user_id = $1', params: [userId] },
      ...codeHashes.map((codeHash) => ({
        sql: 'INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)',
        params: [userId, codeHash],
      })),
    ],
  }
}

export type TwoFactorStore = ReturnType<typeof createTwoFactorStore>
