/** What files of both formats are read into. */
export const formats = ['csv', 'ndjson'] as const
export type Format = (typeof formats)[number]

export interface Layout {
  format: Format
  /** Between the fields of a CSV row. */
  delimiter: string
  /** Cells of CSV are taken as they are. Otherwise an apostrophe in front of a formula is not part of it. */
  isExact: boolean
}

/** `line` is where it begins. What cannot be read at all is a record too: it has a place, and is reported. */
export type SourceRecord = { line: number; row: object } | { line: number; problem: string }

export interface RecordReader {
  /** Returns the records that these bytes have completed. The chunk is the reader's until then, and no longer. */
  push(chunk: Buffer): SourceRecord[]
  end(): SourceRecord[]
}

/** As much as a request's body may have. A quote that is never closed would make a row of the whole file. */
export const maxRecordBytes = 1 << 20
