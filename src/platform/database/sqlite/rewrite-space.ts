/** Checks for disk space before a migration rewrites a SQLite table, and announces that it takes long. */
import { setTimeout as sleep } from 'node:timers/promises'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { Migration } from '../migrations.ts'
import type { SqliteConnection } from './connection.ts'
import { findFreeBytes } from './inspect.ts'

export interface RewriteOptions {
  /** Free bytes on the file system of a path. Undefined if unknown. */
  freeBytes?: ((path: string) => Promise<number | undefined>) | undefined
  /** Called with a line for the operator before long work. */
  onLongWork?: ((line: string) => void) | undefined
}

/** The new rows, plus the -wal, which holds the pages of both old and new rows until the commit. */
const roomPerByte = 3
const longBytes = 16 * 1024 * 1024
const printMs = 50

/** Throws if the disk is too full. */
export async function prepareRewrite(
  { name, rewrites }: Migration,
  { connection, path, freeBytes = findFreeBytes, onLongWork }: RewriteOptions & Rewritten,
): Promise<void> {
  if (rewrites === undefined) return
  const bytes = sizeOf(connection, rewrites)
  const needed = bytes * roomPerByte
  const free = await freeBytes(path)
  if (free !== undefined && free < needed) {
    const room = `it needs about ${inMegabytes(needed)} on the disk of ${path}, where ${inMegabytes(free)} are free`
    const message = `migration ${name} rewrites the table ${rewrites}: ${room}. Nothing was changed; make room and start again`
    throw new FatalError(message, exitCodes.unavailable)
  }
  if (bytes < longBytes || !onLongWork) return
  onLongWork(
    `migration ${name} rewrites the table ${rewrites}, ${inMegabytes(bytes)}: this may take minutes; where it is interrupted, nothing is changed`,
  )
  // The rewrite blocks this thread, so the line must be printed before.
  await sleep(printMs)
}

interface Rewritten {
  connection: SqliteConnection
  path: string
}

function sizeOf(connection: SqliteConnection, table: string): number {
  const row = connection.get('SELECT sum(pgsize) AS bytes FROM dbstat WHERE name = $1', [table])
  return (row as { bytes: number | null }).bytes ?? 0
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`
}
