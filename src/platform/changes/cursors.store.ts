import type { Database } from '../database/database.ts'

export interface CursorFormat {
  is_encrypted: boolean
  /** Null until cursors are encrypted. */
  plain_until: number | null
}

/** Whether cursors are encrypted yet: see docs/decisions/0019-change-log.md. */
export function createCursorStore(db: Database) {
  return {
    async read(): Promise<CursorFormat> {
      const row = await db.get<CursorFormat>('SELECT is_encrypted, plain_until FROM change_cursors')
      return row ?? { is_encrypted: false, plain_until: null }
    },

    /** Does nothing while a node is there that only reads decimal cursors. */
    async encrypt(nowSeconds: number): Promise<void> {
      await db.write({
        sql: `UPDATE change_cursors SET is_encrypted = TRUE WHERE is_encrypted = FALSE AND NOT EXISTS (
                SELECT 1 FROM service_nodes WHERE reads_encrypted_cursors IS NULL AND expires_at > $1)`,
        params: [nowSeconds],
      })
      // After the commit of the first: whoever has read before it that cursors are plain has issued none beyond this position.
      await db.write(
        {
          sql: `UPDATE change_cursors SET plain_until = (SELECT COALESCE(MAX(id), 0) FROM changes)
                WHERE is_encrypted = TRUE AND plain_until IS NULL RETURNING id`,
          decides: true,
        },
        // What these nodes have removed meanwhile.
        {
          sql: `INSERT INTO change_removals (topic, position)
                SELECT '', MIN(id) - 1 FROM changes HAVING MIN(id) > 1
                ON CONFLICT (topic) DO UPDATE SET position = excluded.position`,
        },
      )
    },
  }
}

export type CursorStore = ReturnType<typeof createCursorStore>
