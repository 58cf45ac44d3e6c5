/** Which scheduled backups were made, and who makes the next. */
import type { Database } from '../../platform/database/database.ts'

export interface BackupRow {
  id: number
  started_at: number
  finished_at: number
  file: string | null
  bytes: number | null
  row_count: number | null
  proved: boolean
  error: string | null
}

export type NewBackup = Omit<BackupRow, 'id'>

const columns = 'id, started_at, finished_at, file, bytes, row_count, proved, error'
const keptRows = 50

/** What tells whether backups are made: the newest first. */
export const lastBackups = {
  table: 'backups',
  sql: `SELECT started_at, error FROM backups ORDER BY id DESC LIMIT ${keptRows}`,
}

export interface BackupAttempt {
  started_at: number | string
  /** Null if the backup was written and proved. */
  error: string | null
}

export function createBackupsStore(db: Database) {
  return {
    /**
     * Makes `holder` the one who makes the next backup, if one is due and nobody else is at it. One statement, so that
     * only one of several nodes gets it. A holder who did not finish in time has died: its backup is due at once.
     */
    async claim(holder: string, times: { now: number; until: number; everySeconds: number }): Promise<boolean> {
      const [rows] = await db.write({
        sql: `UPDATE backup_lease SET holder = $1, held_until = $2, started_at = $3
              WHERE id = 1 AND held_until <= $3
                AND (holder IS NOT NULL OR started_at IS NULL OR started_at + $4 <= $3 OR retry_at <= $3)
              RETURNING id`,
        params: [holder, times.until, times.now, times.everySeconds],
      })
      return rows.length > 0
    },

    /** Returns false if somebody else has it by now. */
    async renew(holder: string, until: number): Promise<boolean> {
      const [rows] = await db.write({
        sql: 'UPDATE backup_lease SET held_until = $1 WHERE id = 1 AND holder = $2 RETURNING id',
        params: [until, holder],
      })
      return rows.length > 0
    },

    /** Lets another node, or the next start, make the backup at once. */
    async giveUp(holder: string): Promise<void> {
      await db.write({
        sql: 'UPDATE backup_lease SET held_until = 0 WHERE id = 1 AND holder = $1',
        params: [holder],
      })
    },

    async finish(holder: string, made: NewBackup, retryAt: number | null): Promise<void> {
      await db.write(
        {
          sql: `INSERT INTO backups (started_at, finished_at, file, bytes, row_count, proved, error)
                VALUES ($1, $2, $3, $4, $5, $6, $7)`,
          params: [made.started_at, made.finished_at, made.file, made.bytes, made.row_count, made.proved, made.error],
        },
        {
          sql: 'UPDATE backup_lease SET holder = NULL, held_until = 0, retry_at = $1 WHERE id = 1 AND holder = $2',
          params: [retryAt, holder],
        },
        {
          sql: `DELETE FROM backups WHERE id < (SELECT min(id) FROM
                (SELECT id FROM backups ORDER BY id DESC LIMIT ${keptRows}) AS newest)`,
        },
      )
    },

    /** The newest that was written, whether or not it could be proved. */
    findLastWritten: () =>
      db.get<BackupRow>(`SELECT ${columns} FROM backups WHERE file IS NOT NULL ORDER BY id DESC LIMIT 1`),

    findLastProved: () =>
      db.get<BackupRow>(`SELECT ${columns} FROM backups WHERE proved = TRUE ORDER BY id DESC LIMIT 1`),

    list: () => db.all<BackupRow>(`SELECT ${columns} FROM backups ORDER BY id DESC LIMIT ${keptRows}`),
  }
}

export type BackupsStore = ReturnType<typeof createBackupsStore>
