/** Imports files that a browser sends: read, checked and identified as by the command products:import. */
import type { Clock } from '../../../core/clock.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { ProductValues } from '../product.ts'
import { readColumns, wrong } from '../transfer/columns.ts'
import { beginFingerprint } from '../transfer/input-file.ts'
import { createProductImport } from '../transfer/product-import.ts'
import { createProductImportStore, type ImportRecord } from '../transfer/product-imports.store.ts'
import { formatOf, readRecords } from '../transfer/record-reader.ts'
import type { Layout } from '../transfer/records.ts'
import { createRowCheck } from '../transfer/row-check.ts'
import { chunksOf } from './upload-chunks.ts'

export interface Upload {
  name: string
  bytes: Buffer
}

export interface RejectedRow {
  line: number
  problem: string
  /** Undefined if the line could not be read. */
  row: Readonly<Record<string, unknown>> | undefined
}

/** What is in a file. */
export interface Inspection {
  /** Identifies the file by its content, as the command does. */
  id: string
  columns: { name: string; isRead: boolean }[]
  valid: number
  rejected: number
  /** The first of them. */
  samples: ProductValues[]
  rejectedRows: RejectedRow[]
  /** An earlier import of the same file. */
  known: ImportRecord | undefined
}

const maxSamples = 5
/** Bounds the memory for a file without a valid row. */
const maxRejectedRows = 10_000
/** Of rows that are not even CSV or JSON. After each of them the reader begins anew. */
const maxUnreadable = 10_000
/** Bounds the time for a file of short lines. Products have some 100 bytes each. */
const maxLines = 250_000
const headerBytes = 64 * 1024
const newline = 0x0a
const delimiters = [',', ';', '\t', '|']

export interface ProductUploadsDeps {
  db: Database
  clock: Clock
  /** Called after rows are committed. */
  onChanged(): void
}

export type ProductUploads = ReturnType<typeof createProductUploads>

export function createProductUploads({ db, clock, onChanged }: ProductUploadsDeps) {
  const store = createProductImportStore({ db, clock })
  // The service's own connection, whose settings stay as they are.
  const openWriter = async () => ({
    async write(...statements: Parameters<Database['write']>) {
      const [first = []] = await db.write(...statements)
      onChanged()
      return first
    },
    settle: async () => {},
  })
  const importer = createProductImport({ db, clock, store, openWriter })

  /** Throws a FatalError if the columns are wrong, or if there is too much in the file. */
  async function inspect(upload: Upload): Promise<Inspection> {
    const layout = layoutOf(upload)
    requireFewLines(upload)
    const id = beginFingerprint(layout).update(upload.bytes).digest('hex')
    const check = createRowCheck()
    const found = { valid: 0, rejected: 0, samples: [] as ProductValues[], rejectedRows: [] as RejectedRow[] }
    let unreadable = 0
    let columns: string[] | undefined = layout.format === 'csv' ? headerOf(upload, layout.delimiter) : undefined
    for await (const records of readRecords(chunksOf(upload.bytes), layout)) {
      for (const record of records) {
        const row = 'row' in record ? (record.row as Record<string, unknown>) : undefined
        columns ??= row && Object.keys(row)
        if (!row && ++unreadable > maxUnreadable)
          throw wrong(`more than ${maxUnreadable.toLocaleString('en')} rows cannot be read`)
        const checked = check(record)
        if ('product' in checked) {
          found.valid += 1
          if (found.samples.length < maxSamples) found.samples.push(checked.product)
        } else {
          found.rejected += 1
          const { line } = record
          if (found.rejectedRows.length < maxRejectedRows)
            found.rejectedRows.push({ line, row, problem: checked.problem })
        }
      }
    }
    const named = (columns ?? []).map((name) => ({ name, isRead: readColumns.includes(name) }))
    return { id, columns: named, ...found, known: await store.find(id) }
  }

  return {
    inspect,
    /** Continues an import of the same file that was interrupted. Returns the number of new products. */
    async run(upload: Upload, { id, known }: Inspection, { by, signal }: { by: number; signal: AbortSignal }) {
      if (known?.finished_at) await store.reset(id)
      const { imported, isInterrupted } = await importer.run({
        records: readRecords(chunksOf(upload.bytes), layoutOf(upload)),
        id,
        done: known && !known.finished_at ? known : { records: 0, rejected: 0 },
        by,
        signal,
        onRejected() {},
        onProgress() {},
      })
      return { imported, isInterrupted }
    },
    /** How many records of the file are done. */
    progress: async (id: string) => (await store.find(id))?.records ?? 0,
  }
}

function layoutOf(upload: Upload): Layout {
  const { name, bytes } = upload
  const format = formatOf(name) ?? (bytes.subarray(0, 100).toString().trimStart().startsWith('{') ? 'ndjson' : 'csv')
  const known = (delimiter: string) => headerOf(upload, delimiter).filter((name) => readColumns.includes(name)).length
  const delimiter = delimiters.reduce((best, each) => (known(each) > known(best) ? each : best))
  return { format, delimiter, isExact: false }
}

/** The names in the first line. Good enough to tell what is read; the reader of the records decides. */
function headerOf({ bytes }: Upload, delimiter: string): string[] {
  const [line = ''] = bytes.subarray(0, headerBytes).toString().split('\n', 1)
  return line
    .replaceAll('\ufeff', '')
    .split(delimiter)
    .map((name) => name.replaceAll('"', '').trim().toLowerCase())
}

function requireFewLines({ bytes }: Upload): void {
  let lines = 0
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) {
    if (++lines > maxLines) throw wrong(`the file has more than ${maxLines.toLocaleString('en')} lines`)
  }
}
