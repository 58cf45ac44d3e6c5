/** What both formats are read into, bytes by bytes. */
import { extname } from 'node:path'
import { createCsvReader } from './csv-reader.ts'
import { createNdjsonReader } from './ndjson-reader.ts'
import type { Format, Layout, RecordReader, SourceRecord } from './records.ts'

/** Returns undefined where the ending tells nothing. */
export function formatOf(path: string): Format | undefined {
  return { '.csv': 'csv', '.ndjson': 'ndjson', '.jsonl': 'ndjson' }[extname(path).toLowerCase()] as Format | undefined
}

export function createReader({ format, ...layout }: Layout): RecordReader {
  return format === 'csv' ? createCsvReader(layout) : createNdjsonReader()
}

/** Records in the order of the file, as many at a time as a chunk of it holds. */
export async function* readRecords(chunks: AsyncIterable<Buffer>, layout: Layout): AsyncGenerator<SourceRecord[]> {
  const reader = createReader(layout)
  for await (const chunk of chunks) yield reader.push(chunk)
  yield reader.end()
}
