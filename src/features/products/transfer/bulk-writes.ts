import type { Database } from '../../../platform/database/database.ts'
import { foldCounts } from '../../../platform/database/kept-counts.ts'

/** From so many on, the planner's picture of the table would be wrong until PostgreSQL looks again by itself. */
const manyRows = 10_000

/** After many rows: what PostgreSQL keeps for lists and for its planner is brought up to date. */
export async function settleBulk(db: Database, rows: number): Promise<void> {
  if (db.dialect === 'sqlite' || rows === 0) return
  await foldCounts(db)
  if (rows >= manyRows) await db.write({ sql: 'ANALYZE products' })
}
