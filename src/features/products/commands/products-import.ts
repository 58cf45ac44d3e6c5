import {
  alreadyImported,
  nothingImported,
  openSource,
  requireFormat,
  requireTwice,
  type Source,
} from '../../../collections/transfer/input-file.ts'
import { readRecords } from '../../../collections/transfer/record-reader.ts'
import type { Format, Layout } from '../../../collections/transfer/records.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { CommandContext } from '../../../platform/command-line/command.ts'
import { describeFailure } from '../../../platform/command-line/database-failure.ts'
import { type Interrupt, listenForInterrupt } from '../../../platform/command-line/interrupt.ts'
import {
  createProgress,
  displayOn,
  formatCount,
  formatDuration,
  type Progress,
} from '../../../platform/command-line/progress.ts'
import { keepHeapSmall } from '../../../platform/process/small-heap.ts'
import type { ProductsService } from '../products.create.ts'
import { productColumns } from '../transfer/columns.ts'
import type { Counts } from '../transfer/product-import.ts'
import { createProductTransfer, type ProductTransfer } from '../transfer/product-transfer.ts'
import { checkRows } from '../transfer/row-check.ts'
import { formatProducts } from './format-products.ts'

export interface ImportOptions {
  format?: Format
  delimiter: string
  exact?: boolean
  strict?: boolean
  again?: boolean
  maxErrors: number
  quiet?: boolean
}

interface Task {
  path: string
  given: ImportOptions
  layout: Layout
  source: Source
  interrupt: Interrupt
  progress: Progress
}

export async function importProducts(
  { open }: Pick<CommandContext<ProductsService>, 'open'>,
  path: string,
  given: ImportOptions,
): Promise<void> {
  keepHeapSmall()
  const layout = {
    format: requireFormat(path, given),
    delimiter: given.delimiter,
    isExact: given.exact === true,
  }
  const interrupt = listenForInterrupt()
  const source = await openSource(path, interrupt.signal)
  try {
    if (given.strict) requireTwice(source)
    const { infrastructure, close } = await open()
    const start = infrastructure.clock.now()
    const progress = createProgress({
      clock: infrastructure.clock,
      stream: process.stderr,
      display: displayOn(process.stderr, given),
    })
    try {
      const task = { path, given, layout, source, interrupt, progress }
      const ended = await runImport(createProductTransfer(infrastructure), task)
      progress.end()
      process.stdout.write(`${summarise(ended, infrastructure.clock.now() - start)}\n`)
      process.exitCode = ended.exitCode
    } finally {
      progress.end()
      await close()
    }
  } finally {
    await source.close()
    interrupt.release()
  }
}

interface EndedImport extends Counts {
  exitCode: number
  /** Counts of earlier, interrupted runs. */
  before: Counts
}

async function runImport({ imports, importer }: ProductTransfer, task: Task): Promise<EndedImport> {
  const { path, given, layout, source, interrupt, progress } = task
  const { signal } = interrupt
  let counts: Counts = { imported: 0, rejected: 0 }
  let hasId = false
  try {
    const id = await source.fingerprint?.(layout)
    hasId = id !== undefined
    const known = id === undefined ? undefined : await imports.find(id)
    if (known?.finished_at && !given.again) throw alreadyImported(path, known.finished_at)
    progress.update({ total: source.size })

    const job = () => ({
      rows: checkRows(
        readRecords(
          source.chunks((done) => progress.update({ done })),
          layout,
          productColumns,
        ),
      ),
      signal,
      ...showRejected(progress, given.maxErrors),
      onProgress(now: Counts) {
        counts = now
        progress.update({ rows: now.imported, skipped: now.rejected })
      },
    })
    if (given.strict) await requireFlawless(importer, job())
    counts = { imported: 0, rejected: 0 }

    if (id !== undefined && known?.finished_at) await imports.reset(id)
    const done = known && !known.finished_at ? known : { records: 0, rejected: 0 }
    if (done.records > 0) progress.note(`going on after the first ${formatCount(done.records)} rows, which are done`)
    const running = job()
    const outcome = await importer.run({ ...running, id, done })
    running.end()
    if (outcome.isInterrupted) progress.note(`interrupted; ${howToGoOn(hasId, counts)}`)
    const before = { imported: done.records - done.rejected, rejected: done.rejected }
    const isPartial = outcome.rejected + before.rejected > 0
    const exitCode = outcome.isInterrupted ? interrupt.exitCode() : isPartial ? exitCodes.badData : 0
    return { ...outcome, before, exitCode }
  } catch (error) {
    if (isAbort(error)) throw new FatalError('interrupted before anything was imported', interrupt.exitCode())
    throw describeFailure(error, howToGoOn(hasId, counts))
  }
}

function isAbort(error: unknown): boolean {
  return (error as Error).name === 'AbortError'
}

/** Shows rejected rows up to `maxErrors`, and counts the rest. */
function showRejected(progress: Progress, maxErrors: number) {
  let rejected = 0
  return {
    onRejected(line: number, problem: string) {
      rejected += 1
      if (rejected <= maxErrors) progress.note(`line ${line}: ${problem}`)
    },
    end() {
      if (rejected > maxErrors) progress.note(`… and ${formatCount(rejected - maxErrors)} more`)
    },
  }
}

async function requireFlawless(
  importer: ProductTransfer['importer'],
  job: Parameters<ProductTransfer['importer']['check']>[0] & { end(): void },
): Promise<void> {
  const { rejected } = await importer.check(job)
  job.end()
  if (rejected > 0) throw nothingImported(rejected)
}

function howToGoOn(hasId: boolean, { imported }: Counts): string {
  const kept = `${formatProducts(imported)} of this run ${imported === 1 ? 'is' : 'are'} kept`
  return hasId ? `${kept}; run the same command again to go on` : `${kept}; standard input cannot be gone on with`
}

function summarise({ imported, rejected, before }: EndedImport, ms: number): string {
  const inAll = (): string => {
    const [all, skipped] = [before.imported + imported, before.rejected + rejected].map(formatCount)
    return ` (in all ${all} imported, ${skipped} skipped)`
  }
  const isResumed = before.imported + before.rejected > 0
  const counts = `imported ${formatProducts(imported)}, skipped ${formatCount(rejected)}`
  return `${counts}, in ${formatDuration(ms)}${isResumed ? inAll() : ''}`
}
