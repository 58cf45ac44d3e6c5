/** Records how much is read from the database. */
import type { Database, Value } from '../../src/platform/database/database.ts'

/** The length of each read from now on, as JSON. */
export function recordReads(db: Database): number[] {
  const reads: number[] = []
  const recorded =
    (read: Database['all']): Database['all'] =>
    async <Row extends object>(sql: string, params?: readonly Value[]) => {
      const rows = await read<Row>(sql, params)
      reads.push(JSON.stringify(rows).length)
      return rows
    }
  Object.assign(db, { all: recorded(db.all), scan: recorded(db.scan) })
  return reads
}
