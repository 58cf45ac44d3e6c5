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
import { createImportProgress, type ImportProgress } from '../store/imports.ts'
import { writableFieldsOf } from '../store/values.ts'
import type { OpenCollection } from './export.ts'
import { alreadyImported, nothingImported, openSource, requireFormat, requireTwice } from './input-file.ts'
import { readRecords } from './record-reader.ts'
import type { Format, SourceRecord } from './records.ts'

export interface ImportOptions {
  format?: Format
  delimiter: string
  exact?: boolean
  strict?: boolean
  again?: boolean
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
    if (given.strict) requireTwice(source)
    const { service: opened, infrastructure, close } = await open()
    const { service } = opened.internals
    const { collection } = service
    const { clock, random } = infrastructure
    const start = clock.now()
    const progress = createProgress({ clock, stream: process.stderr, display: displayOn(process.stderr, given) })
    const known = writableFieldsOf(collection).map(({ name }) => name)
    let file: string | undefined
    let done: ImportProgress = { records: 0, rejected: 0, startedAt: clock.nowIso(), finishedAt: null }
    let [imported, before] = [0, done]

    /** Calls `work` for each record but those that are done, many at the same time. Returns how many are wrong. */
    async function forEach(work: (record: SourceRecord) => Promise<string | undefined>, after?: () => Promise<void>) {
      let [rejected, skipped] = [0, 0]
      const chunks = source.chunks((read) => progress.update({ done: read }))
      for await (const records of readRecords(chunks, layout, { known, required: [] })) {
        for (let at = 0; at < records.length; at += atOnce) {
          signal.throwIfAborted()
          const all = records.slice(at, at + atOnce)
          const some = all.slice(Math.max(0, before.records - skipped))
          skipped += all.length - some.length
          if (some.length === 0) continue
          const problems = await Promise.all(some.map(work))
          for (const [i, problem] of problems.entries()) {
            if (problem === undefined) continue
            rejected += 1
            if (rejected <= given.maxErrors) progress.note(`line ${(some[i] as SourceRecord).line}: ${problem}`)
          }
          imported += some.length - problems.filter((problem) => problem !== undefined).length
          done = { ...done, records: done.records + some.length, rejected: before.rejected + rejected }
          progress.update({ rows: imported, skipped: rejected })
          await after?.()
        }
      }
      if (rejected > given.maxErrors) progress.note(`… and ${formatCount(rejected - given.maxErrors)} more`)
      return rejected
    }

    try {
      file = await source.fingerprint?.(layout)
      const store = file === undefined ? undefined : createImportProgress(infrastructure, { collection, file })
      const found = await store?.find()
      if (found?.finishedAt && !given.again) throw alreadyImported(path, found.finishedAt)
      progress.update({ total: source.size })
      before = found && !found.finishedAt ? found : done
      if (given.strict) {
        done = before
        const rejected = await forEach((record) =>
          problemOf(record, (row) => service.checkNew(row, system), collection),
        )
        if (rejected > 0) throw nothingImported(rejected)
      }
      imported = 0
      done = before
      if (before.records > 0)
        progress.note(`going on after the first ${formatCount(before.records)} rows, which are done`)
      await store?.save(done)
      const run = `import ${file ?? random.id()} ${done.startedAt}`
      const skipped = await forEach(
        // A line is created once, also if it was before its progress was stored.
        (record) => problemOf(record, (row) => service.create(row, system, `${run} ${record.line}`), collection),
        () => store?.save(done) ?? Promise.resolve(),
      )
      await store?.save({ ...done, finishedAt: clock.nowIso() })
      progress.end()
      const counts = `imported ${formatCount(imported)}, skipped ${formatCount(skipped)}`
      const [all, wrong] = [done.records - done.rejected, done.rejected].map(formatCount)
      const inAll = before.records > 0 ? ` (in all ${all} imported, ${wrong} skipped)` : ''
      process.stdout.write(`${counts}, in ${formatDuration(clock.now() - start)}${inAll}\n`)
      process.exitCode = done.rejected > 0 ? exitCodes.badData : 0
    } catch (error) {
      const hint = file === undefined ? 'standard input cannot be gone on with' : 'run the same command again to go on'
      const kept = `${formatCount(imported)} rows are kept; ${hint}`
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

/** Returns what is wrong with it. */
async function problemOf(
  record: SourceRecord,
  work: (row: object) => Promise<unknown>,
  collection: Described,
): Promise<string | undefined> {
  if ('problem' in record) return record.problem
  try {
    await work(withLists(record.row, collection))
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
