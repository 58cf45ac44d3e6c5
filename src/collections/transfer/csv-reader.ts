/**
 * Reads CSV (RFC 4180) with line numbers. A malformed row affects only itself: reading resumes on the next line.
 *
 * The work grows with the size of the file only, whatever is in it. A row that is incomplete is read again once twice as
 * much of it has arrived. A row that ends in an error far from its first line has an odd number of quotes there and an even
 * number on each line in between; read by itself, none of those lines opens a quote that reaches beyond it.
 *
 * Bytes are handled as Latin-1 text, one character per byte, so that invalid UTF-8 is detected and not replaced.
 */
import { createCsvRows } from './csv-rows.ts'
import {
  type FileColumns,
  type Layout,
  maxFields,
  maxRecordBytes,
  type RecordReader,
  type SourceRecord,
  tooMany,
  wrong,
} from './records.ts'

export function createCsvReader(layout: Omit<Layout, 'format'>, columns: FileColumns): RecordReader {
  const rows = createCsvRows(layout, columns)
  const withoutBom = createBomFilter()
  /** Not yet read; begins with a row. */
  let text = ''
  let line = 1
  let isDiscarding = false
  let retryLength = 0

  function read(isEnd: boolean): SourceRecord[] {
    const records: SourceRecord[] = []
    let at = 0
    while (at < text.length && (isEnd || text.length - at >= retryLength)) {
      retryLength = 0
      if (isDiscarding) {
        const end = endOfLine(text, at)
        isDiscarding = text[end - 1] !== '\n'
        at = advance(at, end)
        continue
      }
      const scanned = scanRow(text, at, { delimiter: layout.delimiter, isEnd })
      const length = scanned.end - at
      if (length > maxRecordBytes) refuse(records, problems.tooLong)
      else if (scanned.kind === 'malformed') refuse(records, scanned.problem)
      else if (scanned.kind === 'row') {
        const record = rows.toRecord(scanned.fields, line)
        if (record) records.push(record)
        at = advance(at, scanned.end)
      } else {
        retryLength = 2 * length
        break
      }
    }
    text = text.slice(at)
    rows.requireKnownColumns()
    return records
  }

  /** Only this line is dropped; the following ones may be valid. */
  function refuse(records: SourceRecord[], problem: string): void {
    if (problem === problems.tooWide && !rows.hasColumns()) throw wrong(`the first row ${problem}`)
    records.push({ line, problem })
    isDiscarding = true
  }

  function advance(from: number, to: number): number {
    for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) line += 1
    return to
  }

  return {
    push(chunk) {
      text += withoutBom.pass(chunk.toString('latin1'))
      return read(false)
    },
    end() {
      text += withoutBom.rest()
      const records = read(true)
      rows.requireHeader()
      return records
    },
  }
}

/** `end` is the index after what was read. */
type Scanned =
  | { kind: 'row'; fields: string[]; end: number }
  | { kind: 'malformed'; problem: string; end: number }
  | { kind: 'incomplete'; end: number }

const [quote, carriageReturn, lineFeed] = [0x22, 0x0d, 0x0a]

function scanRow(text: string, start: number, { delimiter, isEnd }: { delimiter: string; isEnd: boolean }): Scanned {
  const separator = delimiter.charCodeAt(0)
  const fields: string[] = []
  const incomplete = { kind: 'incomplete', end: text.length } as const
  for (let at = start; ; ) {
    if (fields.length === maxFields) return { kind: 'malformed', problem: problems.tooWide, end: at }
    const isQuoted = text.charCodeAt(at) === quote
    const end = isQuoted ? findClosingQuote(text, at) : endOfPlainField(text, at, separator)
    if (end === -1) return isEnd ? { ...incomplete, kind: 'malformed', problem: problems.unclosed } : incomplete
    const next = isQuoted ? end + 1 : end
    const isAtEnd = next >= text.length
    // It may be the first half of an escaped quote or of a line break.
    if (!isEnd && (isAtEnd || (isQuoted && next === text.length - 1 && text.charCodeAt(next) === carriageReturn))) {
      return incomplete
    }
    const code = text.charCodeAt(next)
    const isBreak = code === lineFeed || (isQuoted && text.startsWith('\r\n', next))
    if (!isAtEnd && !isBreak && code !== separator) {
      return { kind: 'malformed', problem: isQuoted ? problems.afterQuote : problems.insideField, end: next }
    }
    if (isQuoted) fields.push(text.slice(at + 1, end).replaceAll('""', '"'))
    else fields.push(text.slice(at, code === lineFeed && text[next - 1] === '\r' && next > at ? next - 1 : next))
    if (isAtEnd) return { kind: 'row', fields, end: text.length }
    if (isBreak) return { kind: 'row', fields, end: code === lineFeed ? next + 1 : next + 2 }
    at = next + 1
  }
}

/** Returns the index of the quote that closes the field which begins here; -1 if there is none. */
function findClosingQuote(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text.charCodeAt(at + 1) !== quote) return at
  }
  return -1
}

/** Returns the index of what ends the field or may not stand in it. */
function endOfPlainField(text: string, start: number, separator: number): number {
  let at = start
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === separator || code === lineFeed || code === quote) break
  }
  return at
}

/** Returns the index after the line break. */
function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end + 1
}

const bom = '\xef\xbb\xbf'

/** Removes a byte order mark at the start of the file. */
function createBomFilter() {
  /** The first bytes, until there are enough to decide. */
  let beginning: string | undefined = ''
  return {
    pass(bytes: string): string {
      if (beginning === undefined) return bytes
      beginning += bytes
      if (beginning.length < bom.length) return ''
      const passed = beginning.startsWith(bom) ? beginning.slice(bom.length) : beginning
      beginning = undefined
      return passed
    },
    /** The bytes of a file that is shorter than the mark. */
    rest: (): string => beginning ?? '',
  }
}

const problems = {
  afterQuote: 'a closing quote is followed by text; a quote inside a quoted field is written ""',
  insideField: 'a quote stands inside a field that does not begin with one; write the field in quotes',
  unclosed: 'a quote is not closed',
  tooLong: 'longer than 1 MiB, or a quote is not closed',
  tooWide: tooMany('fields'),
}
