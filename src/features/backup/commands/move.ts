import { databaseUrl } from '../../../config/readers.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { findUseOf, isSamePlace } from '../../../platform/archive/places.ts'
import { move } from '../../../platform/archive/transfer.ts'
import {
  type ArchiveContext,
  clock,
  configuredPlace,
  leftOutLine,
  migratedLine,
  requirePlace,
  rowsAndTables,
  unanalyzedLine,
  usageError,
  withProgress,
} from './archive-command.ts'

export interface MoveOptions {
  to: string
  replace?: boolean
  whileRunning?: boolean
  quiet?: boolean
}

const anyDatabase = databaseUrl('file')

export async function moveTo(context: ArchiveContext, given: MoveOptions): Promise<void> {
  const from = configuredPlace(context)
  const to = requirePlace({ ...from, url: requireUrl(given.to) })
  if (await isSamePlace(from, to)) throw usageError('--to names the configured database itself')
  const use = given.whileRunning ? undefined : await findUseOf(from)
  if (use !== undefined) throw running(use)
  const what = 'both databases are as before'
  const result = await withProgress({ quiet: given.quiet, what }, async ({ onProgress, note, elapsed }) => {
    const moved = await move(from, { to, canReplace: given.replace === true, clock, onProgress })
    for (const line of [leftOutLine(moved.leftOut), unanalyzedLine('moved', moved.unanalyzed)]) if (line) note(line)
    const done = `moved ${rowsAndTables(moved)}, each compared, in ${elapsed()}\n`
    return `${done}${migratedLine(moved.applied)}Set DATABASE_URL to the new database, keep the secrets, and start the service.\n`
  })
  process.stdout.write(result)
}

function requireUrl(given: string): string {
  const input = { kind: 'value', value: given, line: 1, column: 1 } as const
  const read = anyDatabase.read(input)
  if (read === undefined) throw usageError(`--to must be ${anyDatabase.explain?.(input) ?? anyDatabase.expected}`)
  return read
}

function running(use: string): FatalError {
  return new FatalError(
    `the service runs on the configured database, and what it writes from now on would not be moved (to rehearse, use --while-running): ${use}`,
    exitCodes.unavailable,
  )
}
