/** A migration that rewrites a table of the SQLite file takes time and room: both are told before it begins. */
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { Migration } from '../migrations.ts'
import type { SqliteConnection } from './connection.ts'

export interface RewriteOptions {
  /** What is free on the disk of a file, in bytes. Undefined where nobody knows. */
  freeBytes?: ((path: string) => Promise<number | undefined>) | undefined
  /** Is told, in a line for people, of work that takes longer than a start should. */
  onLongWork?: ((line: string) => void) | undefined
}

/** The new rows, and the -wal, which holds the pages of the old ones and of the new ones until the commit. */
const roomPerByte = 3
const longBytes = 16 * 1024 * 1024
const printMs = 50

/** Throws where the disk has no room for it. */
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
  // The rewriting holds the thread, so the line has to be out before.
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

async function findFreeBytes(path: string): Promise<number | undefined> {
  try {
    const { blocks, bavail, bsize } = await statfs(path)
    // Some file systems do not tell.
    return blocks > 0 ? bavail * bsize : undefined
  } catch {
    return undefined
  }
}

function inMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`
}
