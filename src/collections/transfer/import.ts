/** Imports rows from a file, each as the API creates one. */
import { AppError } from '../../core/app-error.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { CommandContext } from '../../platform/command-line/command.ts'
import { describeFailure } from '../../platform/command-line/database-failure.ts'
import { listenForInterrupt } from '../../platform/command-line/interrupt.ts'
import { createProgress, displayOn, formatCount, formatDuration } from '../../platform/command-line/progress.ts'
import { describeDetails, isForm, markAsForm } from '../../platform/validation/body-validation.ts'
import { system } from '../actor.ts'
import type { Described } from '../declare/describe.ts'
import type { CollectionService } from '../service.ts'
import { writableFieldsOf } from '../store/values.ts'
import type { OpenCollection } from './export.ts'
import { openSource } from './input-file.ts'
import { formatOf, readRecords } from './record-reader.ts'
import type { Format, SourceRecord } from './records.ts'

export interface ImportOptions {
  format?: Format
  delimiter: string
  exact?: boolean
  maxErrors: number
  quiet?: boolean
}

/** Written at the same time, and so in few transactions. */
const atOnce = 200

export async function importRows(
  { open }: Pick<CommandContext<OpenCollection>, 'open'>,
  path: string,
  given: ImportOptions,
): Promise<void> {
  const layout = { format: requireFormat(path, given), delimiter: given.delimiter, isExact: given.exact === true }
  const interrupt = listenForInterrupt()
  const { signal } = interrupt
  const source = await openSource(path, signal)
  try {
    const { service: opened, infrastructure, close } = await open()
    const { service } = opened.internals
    const { clock } = infrastructure
    const start = clock.now()
    const progress = createProgress({ clock, stream: process.stderr, display: displayOn(process.stderr, given) })
    let [imported, skipped] = [0, 0]
    const refuse = (line: number, problem: string) => {
      skipped += 1
      if (skipped <= given.maxErrors) progress.note(`line ${line}: ${problem}`)
    }
    try {
      const file = (await source.fingerprint?.(layout)) ?? infrastructure.random.id()
      const known = writableFieldsOf(service.collection).map(({ name }) => name)
      const chunks = source.chunks((done) => progress.update({ done }))
      progress.update({ total: source.size })
      for await (const records of readRecords(chunks, layout, { known, required: [] })) {
        for (let at = 0; at < records.length; at += atOnce) {
          signal.throwIfAborted()
          const some = records.slice(at, at + atOnce)
          const problems = await Promise.all(some.map((record) => importOne(service, record, file)))
          for (const [i, problem] of problems.entries()) {
            if (problem === undefined) imported += 1
            else refuse((some[i] as SourceRecord).line, problem)
          }
          progress.update({ rows: imported, skipped })
        }
      }
      if (skipped > given.maxErrors) progress.note(`… and ${formatCount(skipped - given.maxErrors)} more`)
      progress.end()
      process.stdout.write(
        `imported ${formatCount(imported)}, skipped ${formatCount(skipped)}, in ${formatDuration(clock.now() - start)}\n`,
      )
      process.exitCode = skipped > 0 ? exitCodes.badData : 0
    } catch (error) {
      const kept = `${formatCount(imported)} rows are kept; run the same command again to go on`
      if (signal.aborted) throw new FatalError(`interrupted; ${kept}`, interrupt.exitCode())
      throw describeFailure(error, kept)
    } finally {
      progress.end()
      await close()
    }
  } finally {
    await source.close()
    interrupt.release()
  }
}

/** Returns what is wrong with it. A line of the same file is created once, however often it is imported. */
async function importOne(service: CollectionService, record: SourceRecord, file: string): Promise<string | undefined> {
  if ('problem' in record) return record.problem
  try {
    await service.create(withLists(record.row, service.collection), system, `import ${file} ${record.line}`)
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return describeDetails(error) ?? error.message
    throw error
  }
}

/** In cells of CSV, lists are JSON. */
function withLists(row: object, collection: Described): object {
  if (!isForm(row)) return row
  const given = row as Readonly<Record<string, string>>
  const lists = writableFieldsOf(collection).flatMap(({ name, kind }): [string, unknown][] => {
    if (kind !== 'list' || given[name] === undefined) return []
    try {
      return [[name, given[name] === '' ? [] : JSON.parse(given[name])]]
    } catch {
      return []
    }
  })
  return lists.length === 0 ? row : markAsForm({ ...row, ...Object.fromEntries(lists) })
}

function requireFormat(path: string, { format }: ImportOptions): Format {
  const found = format ?? formatOf(path)
  if (found) return found
  const reason =
    path === '-' ? 'standard input has no name' : `the name ${path} ends neither in .csv, .ndjson nor .jsonl`
  throw new FatalError(`${reason}; say --format csv or --format ndjson`, exitCodes.usage)
}
