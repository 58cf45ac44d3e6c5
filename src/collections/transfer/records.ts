/** The types of import records, for both formats. */
import { exitCodes, FatalError } from '../../core/fatal-error.ts'

export const formats = ['csv', 'ndjson'] as const
export type Format = (typeof formats)[number]

export interface Layout {
  format: Format
  /** For CSV. */
  delimiter: string
  /** Reads CSV cells as they are. Otherwise an apostrophe in front of a formula is removed. */
  isExact: boolean
}

/** `line` is where it starts. Malformed input is a record too, so that it is counted and reported. */
export type SourceRecord = { line: number; row: object } | { line: number; problem: string }

/** A record whose values are valid. Plain data, which may be sent to another thread. */
export type CheckedRow<Values> = { line: number; values: Values } | { line: number; problem: string }

/** The columns of a file of CSV. */
export interface FileColumns {
  /** Others are ignored. */
  known: readonly string[]
  required: readonly string[]
  /** Reads cells as spreadsheets write them, by column. */
  readers?: Readonly<Record<string, (cell: string) => string>>
  /** What is wrong with a row whose meaning is unclear. */
  findProblem?(row: Readonly<Record<string, string>>, delimiter: string): string | undefined
}

export function wrong(message: string): FatalError {
  return new FatalError(message, exitCodes.badData)
}

export interface RecordReader {
  /** Returns the records that these bytes complete. The chunk must not be used after the call. */
  push(chunk: Buffer): SourceRecord[]
  end(): SourceRecord[]
}

/** The limit of request bodies. Without a limit, an unclosed quote would turn the whole file into one row. */
export const maxRecordBytes = 1 << 20

/** Columns of a row of CSV, or values in a line of JSON: as many columns as a spreadsheet may have. */
export const maxFields = 16_384
/** Of lists and objects in a line of JSON. No column takes either. */
export const maxDepth = 32

export function tooMany(what: 'fields' | 'values'): string {
  return `has more than ${maxFields.toLocaleString('en')} ${what}`
}
