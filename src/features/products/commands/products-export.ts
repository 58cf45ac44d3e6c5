import { formatOf } from '../../../collections/transfer/record-reader.ts'
import type { Format } from '../../../collections/transfer/records.ts'
import { FatalError } from '../../../core/fatal-error.ts'
import type { CommandContext } from '../../../platform/command-line/command.ts'
import { describeFailure } from '../../../platform/command-line/database-failure.ts'
import { type Interrupt, listenForInterrupt } from '../../../platform/command-line/interrupt.ts'
import { createOutputFile, type OutputFile, writeToStandardOutput } from '../../../platform/command-line/output-file.ts'
import { createProgress, displayOn } from '../../../platform/command-line/progress.ts'
import { keepHeapSmall } from '../../../platform/process/small-heap.ts'
import type { ProductsService } from '../products.create.ts'
import { createProductTransfer } from '../transfer/product-transfer.ts'

export interface ExportOptions {
  format?: Format
  output?: string
  exact?: boolean
  force?: boolean
  quiet?: boolean
}

export async function exportProducts(
  { open }: Pick<CommandContext<ProductsService>, 'open'>,
  given: ExportOptions,
): Promise<void> {
  keepHeapSmall()
  const { output } = given
  const format = given.format ?? formatOf(output ?? '') ?? 'csv'
  const interrupt = listenForInterrupt()
  const { infrastructure, close } = await open()
  // No progress line on a terminal that also shows the rows.
  const isBesideRows = output === undefined && process.stdout.isTTY
  const display = isBesideRows || !process.stderr.isTTY ? 'none' : displayOn(process.stderr, given)
  const progress = createProgress({ clock: infrastructure.clock, stream: process.stderr, display })
  let file: OutputFile | undefined
  try {
    const { exporter } = createProductTransfer(infrastructure)
    file = output === undefined ? undefined : await createOutputFile(output, { canReplace: given.force === true })
    progress.update({ total: await exporter.total() })
    let rows = 0
    for await (const { text, products } of exporter.pages({ format, isExact: given.exact === true })) {
      requireUninterrupted(interrupt)
      await (file ? file.write(text) : writeToStandardOutput(text))
      rows += products
      progress.update({ done: rows, rows })
    }
    requireUninterrupted(interrupt)
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

function requireUninterrupted({ signal, exitCode }: Interrupt): void {
  if (signal.aborted) throw new FatalError('interrupted; the export is not complete', exitCode())
}
