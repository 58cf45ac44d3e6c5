import type { Database } from '../database/database.ts'

export interface NodeRow {
  id: string
  /** The name of its machine. */
  name: string
  version: string
  threads: number
  started_at: string
  seen_at: string
}

export function createNodeStore(db: Database) {
  return {
    list: (nowSeconds: number) =>
      db.all<NodeRow>(
        `SELECT id, name, version, threads, started_at, seen_at FROM service_nodes WHERE expires_at > $1
         ORDER BY expires_at DESC LIMIT 100`,
        [nowSeconds],
      ),

    async beat({ id, name, version, threads, started_at, seen_at }: NodeRow, expiresAt: number): Promise<void> {
      await db.write({
        sql: `INSERT INTO service_nodes (id, name, version, threads, started_at, seen_at, expires_at, reads_encrypted_cursors)
              VALUES ($1, $2, $3, $4, $5, $6, $7, TRUE)
              ON CONFLICT (id) DO UPDATE SET threads = excluded.threads, seen_at = excluded.seen_at,
                expires_at = excluded.expires_at`,
        params: [id, name, version, threads, started_at, seen_at, expiresAt],
      })
    },

    async remove(id: string): Promise<void> {
      await db.write({ sql: 'DELETE FROM service_nodes WHERE id = $1', params: [id] })
    },
  }
}

export type NodeStore = ReturnType<typeof createNodeStore>
