import { stat } from 'node:fs/promises'
import { readVersion } from '../../../config/version.ts'
import { backUp } from '../../../platform/archive/transfer.ts'
import { createOutputFile } from '../../../platform/command-line/output-file.ts'
import {
  type ArchiveContext,
  clock,
  configuredPlace,
  leftOutLine,
  rowsAndTables,
  usageError,
  withProgress,
} from './archive-command.ts'

export interface BackupOptions {
  force?: boolean
  quiet?: boolean
}

export async function backUpTo(context: ArchiveContext, path: string, given: BackupOptions): Promise<void> {
  const isPipe = path === '-'
  if (isPipe && process.stdout.isTTY) throw usageError('an archive cannot be shown on a terminal; name a file')
  const what = isPipe ? 'the output is not complete' : `${path} was not written`
  const result = await withProgress({ quiet: given.quiet, what }, async ({ onProgress, note, elapsed }) => {
    const output = isPipe ? undefined : await createOutputFile(path, { canReplace: given.force === true, mode: 0o600 })
    try {
      const write = output?.write ?? writeToStandardOutput
      const from = configuredPlace(context)
      const { manifest, leftOut } = await backUp({ from, version: readVersion(), clock, write, onProgress })
      await output?.finish()
      const leftOutNote = leftOutLine(leftOut)
      if (leftOutNote) note(leftOutNote)
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
      const size = output ? `, ${await sizeOf(path)}` : ''
      return `backed up ${rowsAndTables({ rows, tables: manifest.tables.length })}${size}, in ${elapsed()}\n`
    } catch (error) {
      await output?.discard()
      throw error
    }
  })
  const summary = isPipe ? process.stderr : process.stdout
  summary.write(result)
}

/** Resolves when the reader has consumed the bytes. A closed pipe ends the process (main.ts). */
function writeToStandardOutput(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => process.stdout.write(bytes, (error) => error ?? resolve()))
}

async function sizeOf(path: string): Promise<string> {
  const { size } = await stat(path)
  return size < 1_000_000 ? `${Math.ceil(size / 1000)} kB` : `${(size / 1_000_000).toFixed(1)} MB`
}
