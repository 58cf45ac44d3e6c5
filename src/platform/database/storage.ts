/** How much room the database takes, and how much is left. */
import { stat, statfs } from 'node:fs/promises'
import { withTimeout } from '../../core/timeout.ts'
import type { Database } from './database.ts'

export interface Storage {
  /** `data`, and `wal` on SQLite. */
  sizes(): Promise<Readonly<Record<string, number>>>
  /** `free` and `total`: the file system of a SQLite file. */
  disk(): Promise<Readonly<Record<string, number>>>
}

/** PostgreSQL looks at every file of the database. */
const maxAgeMs = 60_000
/** A network file system that hangs must not keep the other metrics from being read. */
const timeoutMs = 1000

/** `path` is undefined on PostgreSQL. Nothing is reported that cannot be found out. */
export function createStorage(db: Database, path: string | undefined): Storage {
  if (path === undefined) {
    const size = createCached(async () => {
      const row = await db.get<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes')
      return row ? { data: Number(row.bytes) } : {}
    })
    return { sizes: () => orNothing(size()), disk: async () => ({}) }
  }
  return {
    sizes: () =>
      orNothing(
        Promise.all([stat(path), stat(`${path}-wal`)]).then(([data, wal]) => ({ data: data.size, wal: wal.size })),
      ),
    disk: () =>
      orNothing(
        statfs(path).then(({ bavail, blocks, bsize }) =>
          // Some file systems report no blocks.
          blocks > 0 ? { free: bavail * bsize, total: blocks * bsize } : {},
        ),
      ),
  }
}

type Figures = Readonly<Record<string, number>>

async function orNothing(figures: Promise<Figures>): Promise<Figures> {
  try {
    return await withTimeout(figures, timeoutMs)
  } catch {
    return {}
  }
}

function createCached(read: () => Promise<Figures>): () => Promise<Figures> {
  let latest: { readAt: number; figures: Promise<Figures> } | undefined
  return () => {
    const now = performance.now()
    if (!latest || now - latest.readAt >= maxAgeMs) latest = { readAt: now, figures: read() }
    return latest.figures
  }
}
