/** The thread that reads one uploaded file: see upload-reader.ts. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { beginFingerprint } from '../../../collections/transfer/input-file.ts'
import { createReader, formatOf } from '../../../collections/transfer/record-reader.ts'
import { type Layout, type SourceRecord, wrong } from '../../../collections/transfer/records.ts'
import { type CsvCell, csvText } from '../../../platform/csv/csv-text.ts'
import { createPeer } from '../../../platform/threads/peer.ts'
import type { ProductValues } from '../product.ts'
import { productColumns, readColumns } from './columns.ts'
import { type CheckedRow, createRowCheck } from './row-check.ts'

/** A file as a browser sends it. */
export interface UploadedFile {
  name: string
  bytes: Uint8Array<ArrayBuffer>
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
  /** The first products, with the beginnings of their descriptions. */
  samples: ProductValues[]
  /** The first of them. */
  problems: { line: number; problem: string }[]
  /** The file in base64, if it is small enough to be part of the next page: it need not be chosen again. */
  carried: string | undefined
}

/** What the other thread may call. */
export type UploadMethods = {
  /** Fails with a FatalError if the columns are wrong, or if there is too much in the file. */
  summarize(none: undefined): FileSummary
  /** Undefined at the end of the file. */
  nextRows(none: undefined): CheckedRow[] | undefined
  /** The rows that are not imported, with their problems, as CSV. */
  listRejected(none: undefined): string
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
/** Products have some 100 bytes each. */
const maxLines = 250_000
const headerBytes = 64 * 1024
const chunkBytes = 64 * 1024
/** About a millisecond of the other thread. */
const rowsPerMessage = 500
const newline = 0x0a
const delimiters = [',', ';', '\t', '|']
const lowPriority = 10

// On Linux a thread has a priority of its own; elsewhere this would slow the whole process down.
if (process.platform === 'linux') setPriority(0, lowPriority)

const { name, bytes } = workerData as UploadedFile
const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
const layout = detectLayout()
let rows: Iterator<CheckedRow[]> | undefined

if (parentPort) {
  createPeer(parentPort, {
    summarize,
    listRejected,
    nextRows() {
      rows ??= checkedRows()
      const next = rows.next()
      return next.done ? undefined : next.value
    },
  } satisfies UploadMethods)
}

function summarize(): FileSummary {
  requireFewLines()
  const check = createRowCheck()
  const summary = { valid: 0, rejected: 0, samples: [] as ProductValues[], problems: [] as FileSummary['problems'] }
  let unreadable = 0
  let columns: string[] | undefined = layout.format === 'csv' ? readHeader(layout.delimiter) : undefined
  for (const record of records()) {
    if ('row' in record) columns ??= Object.keys(record.row)
    else if (++unreadable > maxUnreadable) {
      throw wrong(`more than ${maxUnreadable.toLocaleString('en')} rows cannot be read`)
    }
    const checked = check(record)
    if ('product' in checked) {
      summary.valid += 1
      if (summary.samples.length < maxSamples) summary.samples.push(shorten(checked.product))
    } else {
      summary.rejected += 1
      if (summary.problems.length < maxProblems) summary.problems.push(checked)
    }
  }
  return {
    ...summary,
    id: beginFingerprint(layout).update(file).digest('hex'),
    columns: (columns ?? []).slice(0, maxColumns).map((column) => ({
      name: column.slice(0, maxColumnLength),
      isRead: readColumns.includes(column),
    })),
    columnCount: columns?.length ?? 0,
    carried: file.length <= maxCarriedBytes ? file.toString('base64') : undefined,
  }
}

function shorten(product: ProductValues): ProductValues {
  return { ...product, description: product.description.slice(0, maxSampleLength) }
}

function* records(): Generator<SourceRecord> {
  for (const some of recordsOfChunks()) yield* some
}

function* recordsOfChunks(): Generator<SourceRecord[]> {
  const reader = createReader(layout, productColumns)
  for (let at = 0; at < file.length; at += chunkBytes) yield reader.push(file.subarray(at, at + chunkBytes))
  yield reader.end()
}

function* checkedRows(): Generator<CheckedRow[]> {
  const check = createRowCheck()
  for (const some of recordsOfChunks()) {
    // After an open quote, a chunk can complete many more rows than it has.
    for (let at = 0; at < some.length; at += rowsPerMessage) yield some.slice(at, at + rowsPerMessage).map(check)
  }
}

/** Can be corrected and imported: columns that an import does not know are ignored. */
function listRejected(): string {
  const check = createRowCheck()
  const listed: CsvCell[][] = [['line', 'problem', ...readColumns]]
  for (const record of records()) {
    const checked = check(record)
    if ('product' in checked) continue
    const row = 'row' in record ? (record.row as Record<string, unknown>) : {}
    listed.push([checked.line, checked.problem, ...readColumns.map((column) => cellOf(row[column]))])
    if (listed.length > maxListedRows) break
  }
  return csvText(listed)
}

/** A list or an object, which no column has, need not have a text. */
function cellOf(value: unknown): string {
  return value === undefined || typeof value === 'object' ? '' : String(value)
}

function detectLayout(): Layout {
  const format = formatOf(name) ?? (file.subarray(0, 100).toString().trimStart().startsWith('{') ? 'ndjson' : 'csv')
  const known = (delimiter: string) => readHeader(delimiter).filter((column) => readColumns.includes(column)).length
  const delimiter = delimiters.reduce((best, each) => (known(each) > known(best) ? each : best))
  return { format, delimiter, isExact: false }
}

/** The names in the first line. Good enough to tell what is read; the reader of the records decides. */
function readHeader(delimiter: string): string[] {
  const [line = ''] = file.subarray(0, headerBytes).toString().split('\n', 1)
  return line
    .replaceAll('\ufeff', '')
    .split(delimiter)
    .map((column) => column.replaceAll('"', '').trim().toLowerCase())
}

function requireFewLines(): void {
  let lines = 0
  for (let at = file.indexOf(newline); at !== -1; at = file.indexOf(newline, at + 1)) {
    if (++lines > maxLines) throw wrong(`the file has more than ${maxLines.toLocaleString('en')} lines`)
  }
}
