/** Writes all rows of a collection to a file or to standard output. */
import { FatalError } from '../../core/fatal-error.ts'
import type { CommandContext } from '../../platform/command-line/command.ts'
import { describeFailure } from '../../platform/command-line/database-failure.ts'
import { listenForInterrupt } from '../../platform/command-line/interrupt.ts'
import { createOutputFile, type OutputFile, writeToStandardOutput } from '../../platform/command-line/output-file.ts'
import { createProgress, displayOn } from '../../platform/command-line/progress.ts'
import { csvText } from '../../platform/csv/csv-text.ts'
import { system } from '../actor.ts'
import { exportedFields, exportRows, type OpenCollection, toCell } from './export.ts'
import { formatOf } from './record-reader.ts'
import type { Format } from './records.ts'

export interface ExportOptions {
  format?: Format
  output?: string
  exact?: boolean
  force?: boolean
  quiet?: boolean
}

export async function exportCollection(
  { open }: Pick<CommandContext<OpenCollection>, 'open'>,
  given: ExportOptions,
): Promise<void> {
  const { output } = given
  const format = given.format ?? formatOf(output ?? '') ?? 'csv'
  const interrupt = listenForInterrupt()
  const { service: opened, infrastructure, close } = await open()
  const { service } = opened.internals
  // No progress line on a terminal that also shows the rows.
  const isBesideRows = output === undefined && process.stdout.isTTY
  const display = isBesideRows || !process.stderr.isTTY ? 'none' : displayOn(process.stderr, given)
  const progress = createProgress({ clock: infrastructure.clock, stream: process.stderr, display })
  let file: OutputFile | undefined
  try {
    const fields = exportedFields(service, system)
    file = output === undefined ? undefined : await createOutputFile(output, { canReplace: given.force === true })
    const write = (text: string) => (file ? file.write(text) : writeToStandardOutput(text))
    if (format === 'csv') await write(csvText([fields]))
    let written = 0
    for await (const rows of exportRows(service, { given: { filters: [] }, actor: system })) {
      if (interrupt.signal.aborted)
        throw new FatalError('interrupted; the export is not complete', interrupt.exitCode())
      const text =
        format === 'csv'
          ? csvText(
              rows.map((row) => fields.map((field) => toCell(row[field]))),
              { isExact: given.exact === true },
            )
          : rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      await write(text)
      written += rows.length
      progress.update({ rows: written })
    }
    await file?.finish()
  } catch (error) {
    await file?.discard()
    throw describeFailure(error, output === undefined ? 'the output is not complete' : `${output} was not written`)
  } finally {
    progress.end()
    interrupt.release()
    await close()
  }
}
