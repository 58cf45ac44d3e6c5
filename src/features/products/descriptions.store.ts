/** Loads descriptions. Each may be as large as a request body, so their total size is determined first. */
import type { Database } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'

export function createDescriptionStore(db: Database) {
  return {
    /** Total bytes. Both engines know the length without reading the text. */
    async measure(ids: readonly number[]): Promise<number> {
      const [measured] = await db.scan<{ bytes: number | null }>(
        `SELECT CAST(SUM(octet_length(description)) AS BIGINT) AS bytes FROM products WHERE ${idIsListed(db)}`,
        [toIdList(db, ids)],
      )
      return Number(measured?.bytes ?? 0)
    },

    async read(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
      const rows = await db.scan<{ id: number; description: string }>(
        `SELECT id, description FROM products WHERE ${idIsListed(db)}`,
        [toIdList(db, ids)],
      )
      return new Map(rows.map(({ id, description }) => [id, description]))
    },
  }
}

export type DescriptionStore = ReturnType<typeof createDescriptionStore>
