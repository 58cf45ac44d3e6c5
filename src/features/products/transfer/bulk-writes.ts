import type { Database } from '../../../platform/database/database.ts'
import { foldCounts } from '../../../platform/database/kept-counts.ts'

/**
 * Before many rows, for this connection alone: SQLite moves pages from its log to the file less often than a service
 * wants it, as most of them are changed again by the next rows. That is half as fast again. The cache is smaller, for
 * the 200 MB that an import may take.
 */
export async function prepareBulk(db: Database): Promise<void> {
  if (db.dialect !== 'sqlite') return
  await db.write({ sql: 'PRAGMA wal_autocheckpoint = 16000' })
  await db.write({ sql: 'PRAGMA cache_size = -20000' })
}

/** From so many on, the planner's picture of the table would be wrong until PostgreSQL looks again by itself. */
const manyRows = 10_000

/** After many rows: what PostgreSQL keeps for lists and for its planner is brought up to date. */
export async function settleBulk(db: Database, rows: number): Promise<void> {
  if (db.dialect === 'sqlite' || rows === 0) return
  await foldCounts(db)
  if (rows >= manyRows) await db.write({ sql: 'ANALYZE products' })
}
