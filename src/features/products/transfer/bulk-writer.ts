/** Writes many rows for a long time, beside a service that may be at work on the same database. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../core/clock.ts'
import type { Database, Statement } from '../../../platform/database/database.ts'
import { foldCounts } from '../../../platform/database/maintained-counts.ts'

export interface BulkWriter {
  /** One batch, all or none. Returns the rows of its first statement. */
  write(...statements: Statement[]): Promise<object[]>
  /** After so many rows: brings up to date what PostgreSQL keeps for lists and for its planner. */
  settle(rows: number): Promise<void>
}

/** From so many on, the planner's picture of the table would be wrong until PostgreSQL looks again by itself. */
const manyRows = 10_000
const foldEveryWrites = 50

export async function openBulkWriter({ db, clock }: { db: Database; clock: Clock }): Promise<BulkWriter> {
  const makeRoom = db.dialect === 'sqlite' ? await openSqliteRoom(db, clock) : undefined
  let writes = 0
  return {
    async write(...statements) {
      const [first = []] = await db.write(...statements)
      writes += 1
      await makeRoom?.(writes)
      if (writes % foldEveryWrites === 0) await foldCounts(db)
      return first
    },
    async settle(rows) {
      if (db.dialect === 'sqlite' || rows === 0) return
      await foldCounts(db)
      if (rows >= manyRows) await db.write({ sql: 'ANALYZE products' })
    },
  }
}

/** Longer than those who wait for SQLite's lock sleep between two looks at it, the first dozen times. */
const pauseMs = 15
const alwaysEveryWrites = 10
const rememberMs = 5000

/**
 * SQLite's lock knows no queue: who waits for it looks now and then whether it is free, and would find it taken each
 * time. So there are pauses: after every write while others write too, and else now and then, to let them be seen.
 */
async function openSqliteRoom(db: Database, clock: Clock): Promise<(writes: number) => Promise<void>> {
  // Both for this connection alone. Most pages are changed again by the next rows: moving them from the log to the file
  // less often took 300,000 rows from 25 s to 18. The cache is smaller, for the 200 MB that an import may take.
  await db.write({ sql: 'PRAGMA wal_autocheckpoint = 16000' })
  await db.write({ sql: 'PRAGMA cache_size = -20000' })

  /** Grows with the commits of other connections. */
  async function countOthers(): Promise<number> {
    const [[row]] = await db.write<{ data_version: number }>({ sql: 'PRAGMA data_version' })
    return row?.data_version ?? 0
  }
  let others = await countOthers()
  let seenAt = Number.NEGATIVE_INFINITY
  return async (writes) => {
    const isBesideOthers = clock.now() - seenAt < rememberMs
    if (!isBesideOthers && writes % alwaysEveryWrites !== 0) return
    await sleep(pauseMs)
    const now = await countOthers()
    if (now !== others) seenAt = clock.now()
    others = now
  }
}
