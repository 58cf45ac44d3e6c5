/** Writes many rows without blocking a service that uses the same database. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../core/clock.ts'
import type { Database, Statement } from '../../../platform/database/database.ts'
import { foldCounts } from '../../../platform/database/maintained-counts.ts'

export interface BulkWriter {
  /** Writes one batch. Returns the rows of its first statement. */
  write(...statements: Statement[]): Promise<object[]>
  /** Call it at the end: updates the maintained counts and the planner's statistics of PostgreSQL. */
  settle(rows: number): Promise<void>
}

/** From this many rows on, the planner's statistics would be wrong until the next autovacuum. */
const manyRows = 10_000
const foldEveryWrites = 50

export async function openBulkWriter({ db, clock }: { db: Database; clock: Clock }): Promise<BulkWriter> {
  const yieldLock = db.dialect === 'sqlite' ? await openSqliteYield(db, clock) : undefined
  let writes = 0
  return {
    async write(...statements) {
      const [first = []] = await db.write(...statements)
      writes += 1
      await yieldLock?.(writes)
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

/** Longer than SQLite's busy handler sleeps between its first dozen attempts. */
const pauseMs = 15
const alwaysEveryWrites = 10
const rememberMs = 5000

/**
 * SQLite's lock has no queue: waiting connections poll it and would always find it taken. So the writer pauses: after every
 * write while other connections write too, otherwise every few writes, to detect them.
 */
async function openSqliteYield(db: Database, clock: Clock): Promise<(writes: number) => Promise<void>> {
  // Both apply to this connection only. The next rows change most pages again, so fewer checkpoints reduced the time for
  // 300,000 rows from 25 s to 18 s. The smaller cache keeps an import within 200 MB of memory.
  await db.write({ sql: 'PRAGMA wal_autocheckpoint = 16000' })
  await db.write({ sql: 'PRAGMA cache_size = -20000' })

  /** Changes with commits of other connections. */
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
