/** Descriptions by themselves: each may be as long as a body, so a list of them is measured before it is read. */
import type { Database } from '../../platform/database/database.ts'

export function createDescriptionStore(db: Database) {
  const isWanted =
    db.dialect === 'sqlite' ? 'id IN (SELECT value FROM json_each($1))' : 'id = ANY(CAST($1 AS BIGINT[]))'
  const write = (ids: readonly number[]) => (db.dialect === 'sqlite' ? JSON.stringify(ids) : `{${ids.join(',')}}`)

  return {
    /** Returns undefined where they have more than `maxBytes` together. */
    async find(ids: readonly number[], maxBytes: number): Promise<ReadonlyMap<number, string> | undefined> {
      if (ids.length === 0) return new Map()
      const params = [write(ids)]
      const [measured] = await db.scan<{ bytes: number }>(
        `SELECT CAST(SUM(octet_length(description)) AS BIGINT) AS bytes FROM products WHERE ${isWanted}`,
        params,
      )
      if (Number(measured?.bytes ?? 0) > maxBytes) return undefined
      const rows = await db.scan<{ id: number; description: string }>(
        `SELECT id, description FROM products WHERE ${isWanted}`,
        params,
      )
      return new Map(rows.map(({ id, description }) => [id, description]))
    },
  }
}

export type DescriptionStore = ReturnType<typeof createDescriptionStore>
