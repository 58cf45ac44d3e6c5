import { openArchive, requireWhole } from '../../../platform/archive/archive-reader.ts'
import type { Manifest } from '../../../platform/archive/format.ts'
import { restore } from '../../../platform/archive/transfer.ts'
import { formatCount } from '../../../platform/command-line/progress.ts'
import {
  type ArchiveContext,
  clock,
  configuredPlace,
  migratedLine,
  rowsAndTables,
  unanalyzedLine,
  usageError,
  withProgress,
} from './archive-command.ts'

export interface RestoreOptions {
  replace?: boolean
  check?: boolean
  quiet?: boolean
}

export async function restoreFrom(context: ArchiveContext, path: string, given: RestoreOptions): Promise<void> {
  if (path === '-') {
    throw usageError('an archive is not read from standard input: write it to a file first, and name that')
  }
  const what = 'the database is as before'
  const result = await withProgress({ quiet: given.quiet, what }, async ({ onProgress, note, elapsed }) => {
    const archive = await openArchive(path)
    try {
      if (given.check) {
        await requireWhole(archive)
        return describe(archive.manifest)
      }
      const to = configuredPlace(context)
      const restored = await restore(archive, { to, canReplace: given.replace === true, clock, onProgress })
      const warning = unanalyzedLine('restored', restored.unanalyzed)
      if (warning) note(warning)
      return `restored ${rowsAndTables(restored)}, each compared, in ${elapsed()}\n${migratedLine(restored.applied)}`
    } finally {
      await archive.close()
    }
  })
  process.stdout.write(result)
}

function describe({ latchkey, engine, takenAt, tables }: Manifest): string {
  const lines = tables.map(({ name, rows }) => `  ${name}: ${formatCount(rows)}`)
  return `${['the archive is whole', `taken ${takenAt} by Latchkey ${latchkey} from ${engine}`, 'rows:', ...lines].join('\n')}\n`
}
