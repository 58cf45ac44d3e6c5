/**
 * Keeps the -wal from growing without end. SQLite begins it anew only when a write finds no reader in it, and under long
 * reads that follow each other there always is one. So beyond a size, the writer empties it, and the scanner pauses between
 * two scans to let it.
 */
import { type Stats, statSync } from 'node:fs'
import type { SqliteConnection } from './connection.ts'

export const defaultMaxWalBytes = 64 * 1024 * 1024

/** How often the writer looks at the size, and tries again if readers were in the way. */
const everyMs = 50
/** How long writes wait for short reads to end; longer ones are left alone. */
const maxStallMs = 20

export interface WalOptions {
  path: string
  maxBytes: number
}

export interface WalWriter {
  /** Called after a commit. */
  limit(): void
}

export function createWalWriter(
  connection: SqliteConnection,
  { path, maxBytes, busyTimeoutMs }: WalOptions & { busyTimeoutMs: number },
): WalWriter {
  connection.exec(`PRAGMA journal_size_limit = ${maxBytes}`)
  let nextAt = 0

  /** On a busy file this returns, and does what it can. */
  function empty(): void {
    connection.exec(`PRAGMA busy_timeout = ${maxStallMs}`)
    try {
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // A full disk or a failing one; the next write says so.
    } finally {
      connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    }
  }

  return {
    limit() {
      const now = performance.now()
      if (now < nextAt) return
      nextAt = now + everyMs
      if ((findWal(path)?.size ?? 0) > maxBytes) empty()
    },
  }
}

/** Enough for several attempts of the writer. */
const maxPauseMs = 5 * everyMs
/** Scans are delayed by a tenth at most, if somebody else is in the way too. */
const betweenPausesMs = 10 * maxPauseMs
const stepMs = 2
const pause = new Int32Array(new SharedArrayBuffer(4))

/** Returns a function to call before each scan, while nothing is being read. */
export function createWalPause({ path, maxBytes }: WalOptions): () => void {
  let nextAt = 0
  let seenAt: number | undefined

  return () => {
    const startedAt = performance.now()
    if (startedAt < nextAt) return
    let wal = findWal(path)
    // Without writes it stays as it is.
    const isGrowing = wal?.mtimeMs !== seenAt
    seenAt = wal?.mtimeMs
    if (!isGrowing) return
    while (wal && wal.size > maxBytes) {
      if (performance.now() - startedAt > maxPauseMs) {
        nextAt = performance.now() + betweenPausesMs
        return
      }
      Atomics.wait(pause, 0, 0, stepMs)
      wal = findWal(path)
    }
  }
}

function findWal(path: string): Stats | undefined {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })
}
