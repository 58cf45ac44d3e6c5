/** What the three commands share: progress, interruption and the words of their results. */

import { root } from '../../../config/root.ts'
import { systemClock } from '../../../core/clock.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { OnProgress, Step } from '../../../platform/archive/content.ts'
import type { DatabasePlace } from '../../../platform/archive/transfer.ts'
import type { CommandContext } from '../../../platform/command-line/command.ts'
import { listenForInterrupt } from '../../../platform/command-line/interrupt.ts'
import { createProgress, displayOn, formatCount, formatDuration } from '../../../platform/command-line/progress.ts'
import { findSqlitePath } from '../../../platform/database/open.ts'
import { requireOneName } from '../../../platform/database/sqlite/one-name.ts'
import { keepHeapSmall } from '../../../platform/process/small-heap.ts'
import type { BackupService } from '../backup.create.ts'

export type ArchiveContext = Pick<CommandContext<BackupService>, 'config' | 'schema'>

export const clock = systemClock

export interface Running {
  onProgress: OnProgress
  note(line: string): void
  elapsed(): string
}

/** Runs `work` with a progress line on standard error, and returns its result. Ctrl-C ends it with nothing changed. */
export async function withProgress(
  { quiet, what }: { quiet: boolean | undefined; what: string },
  work: (running: Running) => Promise<string>,
): Promise<string> {
  keepHeapSmall()
  const interrupt = listenForInterrupt()
  const start = clock.now()
  const display = process.stderr.isTTY ? displayOn(process.stderr, { quiet }) : 'none'
  const createLine = () => createProgress({ clock, stream: process.stderr, display })
  let progress = createLine()
  let current: Step | undefined
  try {
    const result = await work({
      onProgress({ step, rows, total }) {
        if (interrupt.signal.aborted) throw new FatalError(`interrupted; ${what}`, interrupt.exitCode())
        if (step !== current) {
          progress.end()
          progress = createLine()
          if (display === 'terminal') progress.note(`${step} …`)
        }
        current = step
        // The total is an estimate, which rows may exceed.
        progress.update({ rows, done: rows, total: total !== undefined && total >= rows ? total : undefined })
      },
      note: (line) => progress.note(line),
      elapsed: () => formatDuration(clock.now() - start),
    })
    progress.end()
    return result
  } finally {
    progress.end()
    interrupt.release()
  }
}

export function configuredPlace({ config, schema }: ArchiveContext): DatabasePlace {
  return requirePlace({ url: config.database.url, root, schema })
}

/** Throws a FatalError if it is a SQLite file with a second name, whose -wal would be left out. */
export function requirePlace(place: DatabasePlace): DatabasePlace {
  const path = findSqlitePath(place.url, place.root)
  if (path !== undefined) requireOneName(path)
  return place
}

export function rowsAndTables({ rows, tables }: { rows: number; tables: number }): string {
  return `${formatCount(rows)} rows of ${tables} tables`
}

/** A line about tables that share the database and were let alone. */
export function leftOutLine(tables: readonly string[]): string | undefined {
  if (tables.length === 0) return undefined
  return `left out, since no migration of this program or of a configured extension makes them: ${tables.join(', ')}`
}

/** A warning: what was committed stays, whatever happens afterwards. */
export function unanalyzedLine(done: 'restored' | 'moved', reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined
  return `everything is ${done}, but the statistics of the query planner could not be made (${reason}): run ANALYZE in the database, or queries may be slow`
}

export function migratedLine(applied: readonly string[]): string {
  return applied.length === 0 ? '' : `brought to this version by ${applied.join(', ')}\n`
}

export function usageError(message: string): FatalError {
  return new FatalError(message, exitCodes.usage)
}
