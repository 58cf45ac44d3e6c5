/** Fills a table quickly: rows are computed by the database, and indexes are built once, afterwards. */
import type { Database, Statement } from '../../src/platform/database/database.ts'
import { foldCounts } from '../../src/platform/database/maintained-counts.ts'

const rowsPerPart = 50_000

/** Rows with the numbers 0 to `count` - 1, which `select` calls `i`. */
export interface NumberedRows {
  table: string
  columns: readonly string[]
  select: string
  count: number
}

export async function insertNumbered(db: Database, { table, columns, select, count }: NumberedRows): Promise<void> {
  for (let first = 0; first < count; first += rowsPerPart) {
    await db.write({
      sql: `INSERT INTO ${table} (${columns.join()})
            WITH RECURSIVE numbers (i) AS (
              SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < CAST($2 AS BIGINT)
            ) SELECT ${select} FROM numbers`,
      params: [first, Math.min(count, first + rowsPerPart)],
    })
    showProgress(table, first + rowsPerPart, count)
  }
}

/** Fills the table without its indexes, and builds them again. */
export async function fillWithoutIndexes(db: Database, table: string, fill: () => Promise<void>): Promise<void> {
  const indexes = await dropIndexes(db, table)
  await fill()
  for (const [i, index] of indexes.entries()) {
    showProgress(`indexes of ${table}`, i + 1, indexes.length)
    await db.write(index)
  }
  await settle(db, table)
}

/** After a change of most rows. */
export async function settle(db: Database, table: string): Promise<void> {
  await foldCounts(db)
  if (db.dialect === 'postgres') await db.write({ sql: `VACUUM ANALYZE ${table}` })
  process.stderr.write('\r\u001b[K')
}

/** Returns the statements that build them again. Indexes of constraints are left. */
export async function dropIndexes(db: Database, table: string, wanted = (_name: string) => true): Promise<Statement[]> {
  const found = await db.scan<{ name: string; sql: string }>(
    db.dialect === 'sqlite'
      ? `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = $1`
      : `SELECT indexname AS name, indexdef AS sql FROM pg_indexes
         WHERE tablename = $1 AND indexdef NOT LIKE 'CREATE UNIQUE %'`,
    [table],
  )
  const dropped = found.filter(({ name }) => wanted(name))
  if (dropped.length > 0) await db.write(...dropped.map(({ name }) => ({ sql: `DROP INDEX ${name}` })))
  return dropped.map(({ sql }) => ({ sql }))
}

export function showProgress(what: string, done: number, all: number): void {
  const count = Math.min(done, all).toLocaleString('en')
  process.stderr.write(`\r\u001b[K  filling ${what}: ${count} of ${all.toLocaleString('en')} `)
}
