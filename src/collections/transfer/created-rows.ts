/** Rows of a file, each of which is created as by the API. */
import { hash } from 'node:crypto'
import { AppError } from '../../core/app-error.ts'
import {
  describeDetails,
  exactNumbersOf,
  isForm,
  markAsForm,
  rememberExactNumbers,
} from '../../platform/validation/body-validation.ts'
import type { Actor } from '../actor.ts'
import type { DescribedField } from '../declare/describe.ts'
import type { CollectionService } from '../service.ts'
import type { ImportProgress, ImportRecord } from '../store/import-progress.ts'
import type { CheckedRow } from './records.ts'
import type { RowProblem } from './serve-upload.ts'

/** Written at the same time, and so in few transactions. */
export const rowsAtOnce = 200
const maxProblems = 1000

/** In cells of CSV, lists are JSON. */
export function withLists(row: object, fields: readonly Pick<DescribedField, 'name' | 'kind'>[]): object {
  if (!isForm(row)) return row
  const given = row as Readonly<Record<string, string>>
  const lists = fields.flatMap(({ name, kind }): [string, unknown][] => {
    if (kind !== 'list' || given[name] === undefined) return []
    try {
      return [[name, given[name] === '' ? [] : JSON.parse(given[name])]]
    } catch {
      return []
    }
  })
  return lists.length === 0 ? row : markAsForm({ ...row, ...Object.fromEntries(lists) })
}

/** The body of a request as plain data, which may be sent to another thread. */
export interface PlainBody {
  row: object
  isForm: boolean
  exact: ReadonlyMap<string, string> | undefined
}

export const toPlainBody = (row: object): PlainBody => ({ row, isForm: isForm(row), exact: exactNumbersOf(row) })

function fromPlainBody({ row, isForm, exact }: PlainBody): object {
  if (exact) rememberExactNumbers(row, exact)
  return isForm ? markAsForm(row) : row
}

/** What the API would answer that refuses it. */
export async function problemOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return describeDetails(error) ?? error.message
    throw error
  }
}

export const importTable = 'collection_imports'

/** By which the progress of a file is kept: each user imports for themselves. */
export function importId(collection: string, userId: number | 'system', fileId: string): string {
  return hash('sha256', `${collection} ${userId} ${fileId}`, 'hex')
}

export interface RowImport {
  service: CollectionService
  progress: ImportProgress
  id: string
  done: Pick<ImportRecord, 'records' | 'rejected'>
  actor: Actor
  signal: AbortSignal
}

/** Progress is kept after each batch. Rows after it may be there already, but are not created a second time. */
export async function importRows(
  rows: AsyncIterable<readonly CheckedRow<PlainBody>[]>,
  { service, progress, id, done, actor, signal }: RowImport,
) {
  const problems: RowProblem[] = []
  let [place, seen, rejected, refused, imported] = [0, done.records, done.rejected, 0, 0]

  async function save(isFinished: boolean): Promise<void> {
    const to = Math.max(place, seen)
    await progress.save(id, { from: seen, to, rejected, isFinished })
    seen = to
  }

  async function write(batch: readonly CheckedRow<PlainBody>[]): Promise<void> {
    const outcomes = await Promise.all(
      batch.map((each) => {
        if ('problem' in each) return undefined
        const body = fromPlainBody(each.values)
        // A line is created once, also if it was before its progress was stored.
        return problemOf(() => service.create(body, actor, `import ${id} ${each.line}`))
      }),
    )
    for (const [i, problem] of outcomes.entries()) {
      const { line, ...each } = batch[i] as CheckedRow<PlainBody>
      if ('problem' in each) rejected += 1
      else if (problem === undefined) imported += 1
      else {
        rejected += 1
        refused += 1
        if (problems.length < maxProblems) problems.push({ line, problem })
      }
    }
    await save(false)
  }

  await progress.begin(id)
  for await (const some of rows) {
    const left = some.slice(Math.max(0, done.records - place))
    place += some.length - left.length
    for (let at = 0; at < left.length; at += rowsAtOnce) {
      if (signal.aborted) return { imported, refused, problems, isInterrupted: true }
      const batch = left.slice(at, at + rowsAtOnce)
      place += batch.length
      await write(batch)
    }
  }
  await save(true)
  return { imported, refused, problems, isInterrupted: false }
}
