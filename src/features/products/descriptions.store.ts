/** Descriptions by themselves: each may be as long as a body, so a list of them is measured before it is read. */
import type { Database } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'

export function createDescriptionStore(db: Database) {
  return {
    /** How many bytes they have together. Neither engine reads a text to tell how long it is. */
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
