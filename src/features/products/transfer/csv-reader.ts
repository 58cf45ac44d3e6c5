/**
 * CSV as RFC 4180 has it, read for an import: every row knows its line, and a row that is malformed costs that row
 * alone. General parsers lose their place behind a stray quote, and with it the rows up to the next one.
 *
 * Bytes are handled as Latin-1 text, one character for each: it can be cut anywhere and searched fast, and what is not
 * UTF-8 is noticed rather than replaced.
 */
import { isUtf8 } from 'node:buffer'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { markAsForm } from '../../../platform/http/validation.ts'
import { requireColumns } from './columns.ts'
import { maxRecordBytes, type RecordReader, type SourceRecord } from './records.ts'

/** `next` is where the row after it begins. */
type Scanned = { fields: string[]; next: number } | { problem: string } | 'incomplete'

const bom = '\xef\xbb\xbf'
const tooLong = 'longer than 1 MiB, or a quote is not closed'

export function createCsvReader({ delimiter }: { delimiter: string }): RecordReader {
  let rest = ''
  let line = 1
  let hasBegun = false
  let isDiscarding = false
  let columns: (string | undefined)[] | undefined

  function read(text: string, isEnd: boolean): SourceRecord[] {
    const records: SourceRecord[] = []
    let at = 0
    while (at < text.length) {
      if (isDiscarding) {
        const end = text.indexOf('\n', at)
        if (end === -1) {
          at = text.length
          break
        }
        isDiscarding = false
        at = end + 1
        line += 1
        continue
      }
      const scanned = scanRow(text, at, { delimiter, isEnd })
      if (scanned === 'incomplete') {
        if (text.length - at <= maxRecordBytes) break
        records.push({ line, problem: tooLong })
        isDiscarding = true
      } else if ('problem' in scanned) {
        // The line alone is given up: what follows it may be well.
        records.push({ line, problem: scanned.problem })
        isDiscarding = true
      } else {
        const record = toRecord(scanned.fields)
        if (record) records.push(record)
        line += countLines(text, at, scanned.next)
        at = scanned.next
      }
    }
    rest = text.slice(at)
    return records
  }

  /** Answers undefined for an empty line, and for the header. */
  function toRecord(fields: string[]): SourceRecord | undefined {
    if (fields.length === 1 && fields[0] === '') return undefined
    for (const [i, field] of fields.entries()) {
      if (!isAscii.test(field)) {
        const bytes = Buffer.from(field, 'latin1')
        if (!isUtf8(bytes)) return { line, problem: 'not UTF-8 text' }
        fields[i] = bytes.toString('utf8')
      }
    }
    if (!columns) {
      columns = requireColumns(fields, delimiter)
      return undefined
    }
    if (fields.length !== columns.length) {
      return { line, problem: `has ${fields.length} fields, where the header has ${columns.length}` }
    }
    const row: Record<string, string> = {}
    for (const [i, column] of columns.entries()) {
      // Spreadsheets write TRUE and FALSE.
      if (column !== undefined) row[column] = column === 'active' ? (fields[i] ?? '').toLowerCase() : (fields[i] ?? '')
    }
    return { line, row: markAsForm(row) }
  }

  return {
    push(chunk) {
      let text = rest + chunk.toString('latin1')
      if (!hasBegun) {
        if (text.length < bom.length) {
          rest = text
          return []
        }
        hasBegun = true
        if (text.startsWith(bom)) text = text.slice(bom.length)
      }
      return read(text, false)
    },
    end() {
      const records = read(rest, true)
      if (!columns) throw new FatalError('the file is empty: its first row must name the columns', exitCodes.badData)
      return records
    },
  }
}

const isAscii = /^[\0-\x7f]*$/

function scanRow(text: string, start: number, options: { delimiter: string; isEnd: boolean }): Scanned {
  const lineEnd = text.indexOf('\n', start)
  if (lineEnd === -1 && !options.isEnd) return 'incomplete'
  const line = text.slice(start, lineEnd === -1 ? text.length : lineEnd)
  if (line.includes('"')) return scanQuotedRow(text, start, options)
  const fields = (line.endsWith('\r') ? line.slice(0, -1) : line).split(options.delimiter)
  return { fields, next: lineEnd === -1 ? text.length : lineEnd + 1 }
}

function scanQuotedRow(text: string, start: number, options: { delimiter: string; isEnd: boolean }): Scanned {
  const { delimiter, isEnd } = options
  const fields: string[] = []
  for (let at = start; ; ) {
    let end: number
    if (text[at] === '"') {
      const quoted = scanQuoted(text, at, isEnd)
      if (typeof quoted === 'string' || 'problem' in quoted) return quoted
      fields.push(quoted.field)
      end = quoted.next
    } else {
      // A quote inside a field that does not begin with one is a character like others.
      const lineEnd = indexOr(text, '\n', at, text.length)
      if (lineEnd === text.length && !isEnd) return 'incomplete'
      const line = text.slice(at, lineEnd)
      const isReturn = line.endsWith('\r')
      const length = indexOr(line, delimiter, 0, isReturn ? line.length - 1 : line.length)
      fields.push(line.slice(0, length))
      end = at + length
    }
    if (text[end] === delimiter) {
      at = end + 1
      continue
    }
    if (end === text.length) return isEnd ? { fields, next: end } : 'incomplete'
    const isReturn = text[end] === '\r'
    if (isReturn && end + 1 === text.length) return isEnd ? { fields, next: end + 1 } : 'incomplete'
    if (text[isReturn ? end + 1 : end] === '\n') return { fields, next: end + (isReturn ? 2 : 1) }
    return { problem: 'a closing quote is followed by text; a quote inside a quoted field is written ""' }
  }
}

function scanQuoted(
  text: string,
  start: number,
  isEnd: boolean,
): { field: string; next: number } | { problem: string } | 'incomplete' {
  let field = ''
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return isEnd ? { problem: 'a quote is not closed' } : 'incomplete'
    field += text.slice(at, quote)
    if (quote + 1 === text.length && !isEnd) return 'incomplete'
    if (text[quote + 1] !== '"') return { field, next: quote + 1 }
    field += '"'
    at = quote + 2
  }
}

function indexOr(text: string, searched: string, start: number, otherwise: number): number {
  const found = text.indexOf(searched, start)
  return found === -1 ? otherwise : found
}

function countLines(text: string, start: number, end: number): number {
  let lines = 0
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}
