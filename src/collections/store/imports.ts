/** The progress of imports. A file is identified by its content, so a copy is the same file. */
import { hash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Described } from '../declare/describe.ts'
import { keyTable } from '../schema/tables.ts'

export interface ImportProgress {
  /** Processed records, imported or rejected. */
  records: number
  rejected: number
  startedAt: string
  finishedAt: string | null
}

const keptSeconds = 10 * 365 * 86_400

export function createImportProgress(
  { db, clock }: { db: Database; clock: Clock },
  { collection, file }: { collection: Described; file: string },
) {
  const id = hash('sha256', `${collection.name} import ${file}`)
  return {
    async find(): Promise<ImportProgress | undefined> {
      const found = await db.get<{ values: string }>(`SELECT "values" FROM ${keyTable} WHERE id = $1`, [id])
      return found && (JSON.parse(found.values) as ImportProgress)
    },

    async save(progress: ImportProgress): Promise<void> {
      await db.write({
        sql: `INSERT INTO ${keyTable} (id, body_hash, "values", created_at, expires_at) VALUES ($1, '', $2, $3, $4)
          ON CONFLICT (id) DO UPDATE SET "values" = excluded."values", expires_at = excluded.expires_at`,
        params: [id, JSON.stringify(progress), progress.startedAt, clock.nowSeconds() + keptSeconds],
      })
    },
  }
}
