/** What a thread does that reads one uploaded file: see upload-reader.ts. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { type CsvCell, csvText } from '../../platform/csv/csv-text.ts'
import { createPeer } from '../../platform/threads/peer.ts'
import { beginFingerprint } from './input-file.ts'
import { createReader, formatOf } from './record-reader.ts'
import { type CheckedRow, type FileColumns, type Layout, type SourceRecord, wrong } from './records.ts'

/** What is read of a file. */
export interface UploadedRows<Values> {
  columns: FileColumns
  createCheck(): (record: SourceRecord) => CheckedRow<Values>
  /** The cells of a valid row that a preview shows. */
  toSample(values: Values): readonly string[]
}

/** A file as a browser sends it. */
export interface UploadedFile {
  name: string
  bytes: Uint8Array<ArrayBuffer>
}

export interface RowProblem {
  line: number
  problem: string
}

/** What is in a file. Its size is bounded, because it crosses threads and becomes a page. */
export interface FileSummary {
  /** Identifies the file by its content, as the command does. */
  id: string
  /** The first of them. */
  columns: { name: string; isRead: boolean }[]
  columnCount: number
  valid: number
  rejected: number
  /** The first valid rows, as the beginnings of their cells. */
  samples: string[][]
  /** The first of them. */
  problems: RowProblem[]
  /** The file in base64, if it is small enough to be part of the next page: it need not be chosen again. */
  carried: string | undefined
}

/** What the other thread may call. */
export type UploadMethods<Values> = {
  /** Fails with a FatalError if the columns are wrong, or if there is too much in the file. */
  summarize(none: undefined): FileSummary
  /** Undefined at the end of the file. */
  nextRows(none: undefined): CheckedRow<Values>[] | undefined
  /** The rows that are not imported, and those that could not be stored, with their problems, as CSV. */
  listRejected(refused: readonly RowProblem[]): string
}

const maxColumns = 50
const maxColumnLength = 100
const maxSamples = 5
const maxSampleLength = 100
const maxProblems = 20
const maxCarriedBytes = 2 * 1024 * 1024
const maxListedRows = 10_000
/** Of rows that are not even CSV or JSON. */
const maxUnreadable = 10_000
/** Rows have some 100 bytes each. */
const maxLines = 250_000
const headerBytes = 64 * 1024
const chunkBytes = 64 * 1024
/** About a millisecond of the other thread. */
const rowsPerMessage = 500
const newline = 0x0a
const delimiters = [',', ';', '\t', '|']
const lowPriority = 10

/** Call it once, in the module of the thread. */
export function serveUpload<Values>({ columns: file, createCheck, toSample }: UploadedRows<Values>): void {
  // On Linux a thread has a priority of its own; elsewhere this would slow the whole process down.
  if (process.platform === 'linux') setPriority(0, lowPriority)
  const { name, bytes } = workerData as UploadedFile
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const layout = detectLayout(name, content, file)
  let rows: Iterator<CheckedRow<Values>[]> | undefined

  function summarize(): FileSummary {
    requireFewLines(content)
    const check = createCheck()
    const summary = { valid: 0, rejected: 0, samples: [] as string[][], problems: [] as FileSummary['problems'] }
    let unreadable = 0
    let columns: string[] | undefined = layout.format === 'csv' ? readHeader(content, layout.delimiter) : undefined
    for (const record of records()) {
      if ('row' in record) columns ??= Object.keys(record.row)
      else if (++unreadable > maxUnreadable) {
        throw wrong(`more than ${maxUnreadable.toLocaleString('en')} rows cannot be read`)
      }
      const checked = check(record)
      if ('values' in checked) {
        summary.valid += 1
        if (summary.samples.length < maxSamples) {
          summary.samples.push(toSample(checked.values).map((cell) => cell.slice(0, maxSampleLength)))
        }
      } else {
        summary.rejected += 1
        if (summary.problems.length < maxProblems) summary.problems.push(checked)
      }
    }
    return {
      ...summary,
      id: beginFingerprint(layout).update(content).digest('hex'),
      columns: (columns ?? []).slice(0, maxColumns).map((column) => ({
        name: column.slice(0, maxColumnLength),
        isRead: file.known.includes(column),
      })),
      columnCount: columns?.length ?? 0,
      carried: content.length <= maxCarriedBytes ? content.toString('base64') : undefined,
    }
  }

  function* records(): Generator<SourceRecord> {
    for (const some of recordsOfChunks()) yield* some
  }

  function* recordsOfChunks(): Generator<SourceRecord[]> {
    const reader = createReader(layout, file)
    for (let at = 0; at < content.length; at += chunkBytes) yield reader.push(content.subarray(at, at + chunkBytes))
    yield reader.end()
  }

  function* checkedRows(): Generator<CheckedRow<Values>[]> {
    const check = createCheck()
    for (const some of recordsOfChunks()) {
      // After an open quote, a chunk can complete many more rows than it has.
      for (let at = 0; at < some.length; at += rowsPerMessage) yield some.slice(at, at + rowsPerMessage).map(check)
    }
  }

  /** Can be corrected and imported: columns that an import does not know are ignored. */
  function listRejected(refused: readonly RowProblem[]): string {
    const check = createCheck()
    const refusals = new Map(refused.map(({ line, problem }) => [line, problem]))
    const listed: CsvCell[][] = [['line', 'problem', ...file.known]]
    for (const record of records()) {
      const checked = check(record)
      const problem = 'problem' in checked ? checked.problem : refusals.get(checked.line)
      if (problem === undefined) continue
      const row = 'row' in record ? (record.row as Record<string, unknown>) : {}
      listed.push([checked.line, problem, ...file.known.map((column) => cellOf(row[column]))])
      if (listed.length > maxListedRows) break
    }
    return csvText(listed)
  }

  if (!parentPort) return
  createPeer(parentPort, {
    summarize,
    listRejected,
    nextRows() {
      rows ??= checkedRows()
      const next = rows.next()
      return next.done ? undefined : next.value
    },
  } satisfies UploadMethods<Values>)
}

/** A list or an object, which no column has, need not have a text. */
function cellOf(value: unknown): string {
  return value === undefined || typeof value === 'object' ? '' : String(value)
}

function detectLayout(name: string, content: Buffer, { known }: FileColumns): Layout {
  const format = formatOf(name) ?? (content.subarray(0, 100).toString().trimStart().startsWith('{') ? 'ndjson' : 'csv')
  const countKnown = (delimiter: string) =>
    readHeader(content, delimiter).filter((column) => known.includes(column)).length
  const delimiter = delimiters.reduce((best, each) => (countKnown(each) > countKnown(best) ? each : best))
  return { format, delimiter, isExact: false }
}

/** The names in the first line. Good enough to tell what is read; the reader of the records decides. */
function readHeader(content: Buffer, delimiter: string): string[] {
  const [line = ''] = content.subarray(0, headerBytes).toString().split('\n', 1)
  return line
    .replaceAll('\ufeff', '')
    .split(delimiter)
    .map((column) => column.replaceAll('"', '').trim().toLowerCase())
}

function requireFewLines(content: Buffer): void {
  let lines = 0
  for (let at = content.indexOf(newline); at !== -1; at = content.indexOf(newline, at + 1)) {
    if (++lines > maxLines) throw wrong(`the file has more than ${maxLines.toLocaleString('en')} lines`)
  }
}
