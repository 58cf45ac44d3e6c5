import type { Database, Statement } from '../../platform/database/database.ts'

export interface DayRow {
  day: string
  sign_ins: number
  failures: number
}

/** An entry of the audit trail. */
export interface EntryRow {
  id: number
  at: string
  event: string
  outcome: string
}

/** The last entry that is counted, and the days that it is counted in. */
export interface Counted {
  position: number
  days: DayRow[]
}

type ProgressRow = { audit_id: number } & (DayRow | { day: null })

/** One statement, so that the days belong to the position. */
const countedText = `
  SELECT p.audit_id, d.day, d.sign_ins, d.failures
  FROM sign_in_progress p LEFT JOIN sign_in_days d ON d.day >= $1 WHERE p.id = 1`

const entriesText = 'SELECT id, at, event, outcome FROM audit WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3'

export function createSignInStore(db: Database) {
  return {
    /** Undefined before anything is counted. */
    async findCounted(firstDay: string): Promise<Counted | undefined> {
      const rows = await db.all<ProgressRow>(countedText, [firstDay])
      if (!rows[0]) return undefined
      return { position: rows[0].audit_id, days: rows.filter((row): row is ProgressRow & DayRow => row.day !== null) }
    },

    readEntries: ({ after, to, limit }: { after: number; to: number; limit: number }) =>
      db.scan<EntryRow>(entriesText, [after, to, limit]),

    /** 0 if there is none. */
    async lastId(): Promise<number> {
      const row = await db.get<{ id: number }>('SELECT COALESCE(MAX(id), 0) AS id FROM audit')
      return row?.id ?? 0
    },

    firstAfter: (id: number) =>
      db.get<Pick<EntryRow, 'id' | 'at'>>('SELECT id, at FROM audit WHERE id > $1 ORDER BY id LIMIT 1', [id]),

    /** Adds what was counted between the two positions, unless another node has. */
    async add(counted: readonly DayRow[], { from, to, firstDay }: { from: number; to: number; firstDay: string }) {
      const progress: Statement = {
        sql: `INSERT INTO sign_in_progress (id, audit_id) VALUES (1, $1)
              ON CONFLICT (id) DO UPDATE SET audit_id = $1 WHERE sign_in_progress.audit_id = $2 RETURNING id`,
        params: [to, from],
        decides: true,
      }
      await db.write(
        progress,
        ...counted.map(({ day, sign_ins, failures }) => ({
          sql: `INSERT INTO sign_in_days (day, sign_ins, failures) VALUES ($1, $2, $3)
                ON CONFLICT (day) DO UPDATE SET sign_ins = sign_in_days.sign_ins + excluded.sign_ins,
                  failures = sign_in_days.failures + excluded.failures`,
          params: [day, sign_ins, failures],
        })),
        { sql: 'DELETE FROM sign_in_days WHERE day < $1', params: [firstDay] },
      )
    },
  }
}

export type SignInStore = ReturnType<typeof createSignInStore>
