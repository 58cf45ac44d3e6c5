/** How much room the database takes, and how much is left. */
import { stat, statfs } from 'node:fs/promises'
import { withTimeout } from '../../core/timeout.ts'
import type { Database } from './database.ts'

export interface Storage {
  /** Rejects if the disk of a SQLite file is full: writes fail, or soon will, although the last one had room. */
  requireRoom(): Promise<void>
  /** `data`, and `wal` on SQLite. */
  sizes(): Promise<Readonly<Record<string, number>>>
  /** `free` and `total`: the file system of a SQLite file. */
  disk(): Promise<Readonly<Record<string, number>>>
}

/** PostgreSQL looks at every file of the database. */
const maxAgeMs = 60_000
/** Less is no room for a commit. */
const minFreeBytes = 1024 * 1024
/** A network file system that hangs must not keep the other metrics from being read. */
const timeoutMs = 1000

/** `path` is undefined on PostgreSQL. Nothing is reported that cannot be found out. */
export function createStorage(db: Database, path: string | undefined): Storage {
  if (path === undefined) {
    const size = createCached(async (): Promise<Readonly<Record<string, number>>> => {
      const row = await db.get<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes')
      return row ? { data: Number(row.bytes) } : {}
    })
    return { sizes: () => orNothing(size()), disk: async () => ({}), requireRoom: async () => {} }
  }
  const disk = () =>
    orNothing(
      statfs(path).then(
        ({ bavail, blocks, bsize }): Readonly<Record<string, number>> =>
          // Some file systems report no blocks.
          blocks > 0 ? { free: bavail * bsize, total: blocks * bsize } : {},
      ),
    )
  return {
    async requireRoom() {
      const { free = minFreeBytes } = await disk()
      if (free < minFreeBytes) throw new Error(`the disk of the database is full: ${free} bytes are free`)
    },
    disk,
    sizes: () =>
      orNothing(
        Promise.all([stat(path), stat(`${path}-wal`)]).then(([data, wal]) => ({ data: data.size, wal: wal.size })),
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
