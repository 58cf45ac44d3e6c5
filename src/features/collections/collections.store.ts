import type { Described } from '../../collections/declare/describe.ts'
import { quote } from '../../collections/schema/tables.ts'
import type { Database } from '../../platform/database/database.ts'

export interface Extent {
  rows: number
  deleted: number
  bytes: number
}

/** Takes time with the table; the page is for the few who run the service. */
export async function measure(db: Database, { table }: Described): Promise<Extent> {
  const size =
    db.dialect === 'sqlite'
      ? `(SELECT COALESCE(sum(pgsize), 0) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = '${table}'))`
      : `pg_total_relation_size('${quote(table)}')`
  const [found] = await db.scan<Extent>(
    `SELECT count(*) AS rows, count(deleted_at) AS deleted, CAST(${size} AS BIGINT) AS bytes FROM ${quote(table)}`,
  )
  return found ?? { rows: 0, deleted: 0, bytes: 0 }
}

/** Whether there is a table of this name, whoever it belongs to. */
export async function hasTable(db: Database, table: string): Promise<boolean> {
  const sql =
    db.dialect === 'sqlite'
      ? 'SELECT 1 AS found FROM sqlite_schema WHERE name = $1'
      : 'SELECT 1 AS found FROM pg_class WHERE relname = $1 AND relnamespace = current_schema()::regnamespace'
  return (await db.get(sql, [table])) !== undefined
}
