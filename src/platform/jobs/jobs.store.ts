/** When jobs are due, which node works on each, and how the last run went. */
import type { Database, Statement } from '../database/database.ts'

export interface JobRow {
  name: string
  schedule: string
  due_at: number
  held_until: number
  started_at: number | null
  finished_at: number | null
  succeeded_at: number | null
  /** Of the last run. Null if it succeeded. */
  error: string | null
  /** Since the last success. */
  failures: number
}

export interface NewJob {
  name: string
  schedule: string
  due_at: number
}

const columns = 'name, schedule, due_at, held_until, started_at, finished_at, succeeded_at, error, failures'

const extendText = `INSERT INTO jobs (name, schedule, due_at, expires_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at`

const registerText = `${extendText}, schedule = excluded.schedule,
  due_at = CASE WHEN jobs.schedule = excluded.schedule OR jobs.due_at < excluded.due_at
    THEN jobs.due_at ELSE excluded.due_at END`

export function createJobStore(db: Database) {
  return {
    /**
     * Adds what is not there, and keeps the rest for longer. A job with another schedule is due at the earlier of both times,
     * unless schedules stay as they are.
     */
    async register(
      jobs: readonly NewJob[],
      { expiresAt, keepsSchedules = false }: { expiresAt: number; keepsSchedules?: boolean },
    ): Promise<void> {
      const statements = jobs.map(({ name, schedule, due_at }) => ({
        sql: keepsSchedules ? extendText : registerText,
        params: [name, schedule, due_at, expiresAt],
      }))
      await db.write(...statements)
    },

    list: () => db.all<JobRow>(`SELECT ${columns} FROM jobs ORDER BY name`),

    /**
     * Makes `holder` the one who works on a job that is due, if nobody else does. A SQLite file has one service: whoever holds
     * a job there, and is not this one, has crashed.
     */
    async claim(name: string, holder: string, { now, until }: { now: number; until: number }): Promise<boolean> {
      const expiredBy = db.dialect === 'sqlite' ? Number.MAX_SAFE_INTEGER : now
      const [rows] = await db.write({
        sql: `UPDATE jobs SET holder = $2, held_until = $4, started_at = $3
              WHERE name = $1 AND due_at <= $3 AND held_until <= $5 RETURNING name`,
        params: [name, holder, now, until, expiredBy],
      })
      return rows.length > 0
    },

    /** Returns false if another node has it by now. */
    async renew(name: string, holder: string, until: number): Promise<boolean> {
      const [rows] = await db.write({
        sql: 'UPDATE jobs SET held_until = $3 WHERE name = $1 AND holder = $2 RETURNING name',
        params: [name, holder, until],
      })
      return rows.length > 0
    },

    /** Another node, or the next start, works on it at once. */
    async giveUp(name: string, holder: string): Promise<void> {
      await db.write({
        sql: 'UPDATE jobs SET holder = NULL, held_until = 0 WHERE name = $1 AND holder = $2',
        params: [name, holder],
      })
    },

    /** `dueAt` is when it is due next, unless somebody has asked for another run meanwhile. */
    async finish(
      name: string,
      holder: string,
      { now, dueAt, error }: { now: number; dueAt: number; error: string | null },
    ): Promise<void> {
      await db.write({
        sql: `UPDATE jobs SET holder = NULL, held_until = 0, finished_at = $3,
                due_at = CASE WHEN due_at > started_at THEN due_at ELSE $4 END,
                error = $5, failures = CASE WHEN CAST($5 AS TEXT) IS NULL THEN 0 ELSE failures + 1 END,
                succeeded_at = CASE WHEN CAST($5 AS TEXT) IS NULL THEN CAST($3 AS BIGINT) ELSE succeeded_at END
              WHERE name = $1 AND holder = $2`,
        params: [name, holder, now, dueAt, error],
      })
    },

    /** Returns the job's name if there is such a job. One that is running runs once more, whichever clock is ahead. */
    request: (name: string, now: number): Statement => ({
      sql: `UPDATE jobs SET due_at = CASE WHEN held_until <= $2 THEN $2 WHEN started_at >= $2 THEN started_at + 1 ELSE $2 + 1 END
            WHERE name = $1 RETURNING name`,
      params: [name, now],
    }),
  }
}

export type JobStore = ReturnType<typeof createJobStore>
