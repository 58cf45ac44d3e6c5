/** The progress of imports. A file is identified by its content, so a copy is the same file. */
import type { Clock } from '../../core/clock.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Database, Statement } from '../../platform/database/database.ts'

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

/** `table` has the columns of `collection_imports`. */
export function createImportProgress(table: string, { db, clock }: { db: Database; clock: Clock }) {
  const find = (id: string) =>
    db.get<ImportRecord>(`SELECT records, rejected, started_at, finished_at FROM ${table} WHERE id = $1`, [id])

  async function begin(id: string): Promise<void> {
    await db.write({
      sql: `INSERT INTO ${table} (id, records, rejected, started_at) VALUES ($1, 0, 0, $2)
            ON CONFLICT (id) DO NOTHING`,
      params: [id, clock.nowIso()],
    })
  }

  async function reset(id: string): Promise<void> {
    await db.write({
      sql: `UPDATE ${table} SET records = 0, rejected = 0, started_at = $2, finished_at = NULL
            WHERE id = $1 AND finished_at IS NOT NULL`,
      params: [id, clock.nowIso()],
    })
  }

  /**
   * Deciding statement for the batch that inserts the rows: of two processes that import the same file, only one finds
   * the progress where it left it.
   */
  const advance = (id: string, { from, to, rejected, isFinished }: Advance): Statement => ({
    sql: `UPDATE ${table} SET records = $3, rejected = $4, finished_at = $5
          WHERE id = $1 AND records = $2 AND finished_at IS NULL RETURNING id`,
    params: [id, from, to, rejected, isFinished ? clock.nowIso() : null],
    decides: true,
  })

  return {
    find,

    begin,

    /** Allows the file to be imported again. */
    reset,

    /** Begins, or continues an import that was interrupted. Returns when it was begun. */
    async start(id: string, known: ImportRecord | undefined): Promise<string> {
      await (known?.finished_at ? reset(id) : begin(id))
      return (await find(id))?.started_at ?? clock.nowIso()
    },

    /** After rows that were written on their own. Throws if another process is importing the same file. */
    async save(id: string, given: Advance): Promise<void> {
      const [decided = []] = await db.write(advance(id, given))
      if (decided.length === 0) throw overtaken()
    },

    advance,
  }
}

export function overtaken(): FatalError {
  return new FatalError('another process is importing the same file; this one stops', exitCodes.failure)
}

export type ImportProgress = ReturnType<typeof createImportProgress>
