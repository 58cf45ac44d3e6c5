import type { Database, Statement } from '../database/database.ts'

export interface Lease {
  name: string
  holder: string
}

/** Consumers of the log inside of the service: how far each has come, and which node works for it. */
export function createConsumerStore(db: Database) {
  return {
    /** Does nothing if it is known. */
    async register(name: string, position: number): Promise<void> {
      await db.write({
        sql: `INSERT INTO change_consumers (name, position, held_until) VALUES ($1, $2, 0) ON CONFLICT (name) DO NOTHING`,
        params: [name, position],
      })
    },

    /**
     * Takes the lease, or extends it. Returns the position, or undefined if another holds it. A SQLite file has one service:
     * whoever holds the lease there has crashed.
     */
    async hold({ name, holder }: Lease, { now, until }: { now: number; until: number }): Promise<number | undefined> {
      const expiredBy = db.dialect === 'sqlite' ? Number.MAX_SAFE_INTEGER : now
      const [[held]] = await db.write<{ position: number }>({
        sql: `UPDATE change_consumers SET holder = $2, held_until = $4
              WHERE name = $1 AND (holder IS NULL OR holder = $2 OR held_until <= $3) RETURNING position`,
        params: [name, holder, expiredBy, until],
      })
      return held?.position
    },

    /** Returns false if another has taken the lease. */
    async advance({ name, holder }: Lease, position: number): Promise<boolean> {
      const [rows] = await db.write({
        sql: 'UPDATE change_consumers SET position = $3 WHERE name = $1 AND holder = $2 RETURNING name',
        params: [name, holder, position],
      })
      return rows.length > 0
    },

    /**
     * Returns how often the entry has failed, over restarts and on all nodes; undefined if another has taken the lease.
     */
    async countFailure({ name, holder }: Lease, change: number): Promise<number | undefined> {
      const [[row]] = await db.write<{ failed_attempts: number }>({
        sql: `UPDATE change_consumers
              SET failed_attempts = CASE WHEN failed_change = $3 THEN failed_attempts + 1 ELSE 1 END, failed_change = $3
              WHERE name = $1 AND holder = $2 RETURNING failed_attempts`,
        params: [name, holder, change],
      })
      return row?.failed_attempts
    },

    /** Moves on and stores what was given up, in one transaction. Returns false if another has taken the lease. */
    async giveUp({ name, holder }: Lease, position: number, deadLetter: Statement): Promise<boolean> {
      const [rows] = await db.write(
        {
          sql: 'UPDATE change_consumers SET position = $3 WHERE name = $1 AND holder = $2 RETURNING name',
          params: [name, holder, position],
          decides: true,
        },
        deadLetter,
      )
      return rows.length > 0
    },

    list: () =>
      db.all<{ name: string; position: number; held_until: number }>(
        'SELECT name, position, held_until FROM change_consumers ORDER BY name',
      ),

    async release({ name, holder }: Lease): Promise<void> {
      await db.write({
        sql: 'UPDATE change_consumers SET holder = NULL, held_until = 0 WHERE name = $1 AND holder = $2',
        params: [name, holder],
      })
    },
  }
}

export type ConsumerStore = ReturnType<typeof createConsumerStore>
