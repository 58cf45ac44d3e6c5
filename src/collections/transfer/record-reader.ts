/** Reads records from files of both formats. */
import { extname } from 'node:path'
import { createCsvReader } from './csv-reader.ts'
import { createNdjsonReader } from './ndjson-reader.ts'
import type { FileColumns, Format, Layout, RecordReader, SourceRecord } from './records.ts'

/** Returns undefined for an unknown file extension. */
export function formatOf(path: string): Format | undefined {
  return { '.csv': 'csv', '.ndjson': 'ndjson', '.jsonl': 'ndjson' }[extname(path).toLowerCase()] as Format | undefined
}

export function createReader({ format, ...layout }: Layout, columns: FileColumns): RecordReader {
  return format === 'csv' ? createCsvReader(layout, columns) : createNdjsonReader()
}

/** Yields the records of each chunk, in the order of the file. */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  layout: Layout,
  columns: FileColumns,
): AsyncGenerator<SourceRecord[]> {
  const reader = createReader(layout, columns)
  for await (const chunk of chunks) yield reader.push(chunk)
  yield reader.end()
}
