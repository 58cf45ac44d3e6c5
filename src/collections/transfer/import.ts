/** Imports rows from a file, each as the API creates one. */
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { CommandContext } from '../../platform/command-line/command.ts'
import { describeFailure } from '../../platform/command-line/database-failure.ts'
import { listenForInterrupt } from '../../platform/command-line/interrupt.ts'
import { createProgress, displayOn, formatCount, formatDuration } from '../../platform/command-line/progress.ts'
import { system } from '../actor.ts'
import { createImportProgress } from '../store/import-progress.ts'
import { writableFieldsOf } from '../store/values.ts'
import { importId, importTable, problemOf, rowsAtOnce, withLists } from './created-rows.ts'
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
    const fields = writableFieldsOf(collection)
    const known = fields.map(({ name }) => name)
    let file: string | undefined
    let done = { records: 0, rejected: 0 }
    let [imported, before] = [0, done]

    /** Calls `work` for each record but those that are done, many at the same time. Returns how many are wrong. */
    async function forEach(work: (record: SourceRecord) => Promise<string | undefined>, after?: () => Promise<void>) {
      let [rejected, skipped] = [0, 0]
      const chunks = source.chunks((read) => progress.update({ done: read }))
      for await (const records of readRecords(chunks, layout, { known, required: [] })) {
        for (let at = 0; at < records.length; at += rowsAtOnce) {
          signal.throwIfAborted()
          const all = records.slice(at, at + rowsAtOnce)
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
          done = { records: done.records + some.length, rejected: before.rejected + rejected }
          progress.update({ rows: imported, skipped: rejected })
          await after?.()
        }
      }
      if (rejected > given.maxErrors) progress.note(`… and ${formatCount(rejected - given.maxErrors)} more`)
      return rejected
    }

    async function check(record: SourceRecord, work: (row: object) => Promise<unknown>): Promise<string | undefined> {
      return 'problem' in record ? record.problem : problemOf(() => work(withLists(record.row, fields)))
    }

    try {
      file = await source.fingerprint?.(layout)
      const id = file === undefined ? undefined : importId(collection.name, 'system', file)
      const store = createImportProgress(importTable, infrastructure)
      const found = id === undefined ? undefined : await store.find(id)
      if (found?.finished_at && !given.again) throw alreadyImported(path, found.finished_at)
      progress.update({ total: source.size })
      before = found && !found.finished_at ? found : done
      if (given.strict) {
        done = before
        const rejected = await forEach((record) => check(record, (row) => service.checkNew(row, system)))
        if (rejected > 0) throw nothingImported(rejected)
      }
      imported = 0
      done = before
      if (before.records > 0)
        progress.note(`going on after the first ${formatCount(before.records)} rows, which are done`)
      let seen = done.records
      async function save(isFinished: boolean): Promise<void> {
        if (id === undefined) return
        await store.save(id, { from: seen, to: done.records, rejected: done.rejected, isFinished })
        seen = done.records
      }
      const startedAt = id === undefined ? clock.nowIso() : await store.start(id, found)
      const run = `import ${id ?? random.id()} ${startedAt}`
      const skipped = await forEach(
        // A line is created once, also if it was before its progress was stored.
        (record) => check(record, (row) => service.create(row, system, `${run} ${record.line}`)),
        () => save(false),
      )
      await save(true)
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
