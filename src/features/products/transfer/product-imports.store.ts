/** The progress of imports. A file is identified by its content, so a copy is the same file. */
import type { Clock } from '../../../core/clock.ts'
import type { Database, Statement } from '../../../platform/database/database.ts'

export interface ImportRecord {
  /** Processed records, imported or rejected. */
  records: number
  rejected: number
  started_at: string
  finished_at: string | null
}

export interface Advance {
  from: number
  to: number
  rejected: number
  isFinished: boolean
}

export function createProductImportStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    find: (id: string) =>
      db.get<ImportRecord>('SELECT records, rejected, started_at, finished_at FROM product_imports WHERE id = $1', [
        id,
      ]),

    async begin(id: string): Promise<void> {
      await db.write({
        sql: `INSERT INTO product_imports (id, records, rejected, started_at) VALUES ($1, 0, 0, $2)
              ON CONFLICT (id) DO NOTHING`,
        params: [id, clock.nowIso()],
      })
    },

    /** Allows the file to be imported again. */
    async reset(id: string): Promise<void> {
      await db.write({
        sql: `UPDATE product_imports SET records = 0, rejected = 0, started_at = $2, finished_at = NULL
              WHERE id = $1 AND finished_at IS NOT NULL`,
        params: [id, clock.nowIso()],
      })
    },

    /**
     * Deciding statement for the batch that inserts the rows: of two processes that import the same file, only one finds
     * the progress where it left it.
     */
    advance: (id: string, { from, to, rejected, isFinished }: Advance): Statement => ({
      sql: `UPDATE product_imports SET records = $3, rejected = $4, finished_at = $5
            WHERE id = $1 AND records = $2 AND finished_at IS NULL RETURNING id`,
      params: [id, from, to, rejected, isFinished ? clock.nowIso() : null],
      decides: true,
    }),
  }
}

export type ProductImportStore = ReturnType<typeof createProductImportStore>
