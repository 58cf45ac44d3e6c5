/**
 * CSV for an import: every row knows its line, and a row that is malformed costs that row alone. The parser loses its
 * place behind a stray quote, so it is started anew on the line after it.
 *
 * Bytes are handled as Latin-1 text, one character for each: what is not UTF-8 is noticed rather than replaced.
 */
import { isUtf8 } from 'node:buffer'
import { type CsvError, type Parser, parse } from 'csv-parse'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { markAsForm } from '../../../platform/validation/body-validation.ts'
import { requireColumns } from './columns.ts'
import { restoreFormula } from './formulas.ts'
import { type Layout, maxRecordBytes, type RecordReader, type SourceRecord } from './records.ts'

export function createCsvReader({ delimiter, isExact }: Omit<Layout, 'format'>): RecordReader {
  /** What the parser has been given since it was started, but for the rows at its beginning that are done. */
  let text = ''
  let doneBytes = 0
  let line = 1
  let failure: CsvError | undefined
  let parser = start()
  let isDiscarding = false
  let isCareful = false
  let columns: (string | undefined)[] | undefined
  let headerProblem: unknown
  let records: SourceRecord[] = []
  /** The first bytes, until there are enough of them to tell whether they are a byte order mark. */
  let beginning: string | undefined = ''

  function start(): Parser {
    doneBytes = 0
    failure = undefined
    return parse({
      delimiter,
      encoding: 'latin1',
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      max_record_size: maxRecordBytes,
      skip_records_with_error: true,
      // Both are called while the parser writes, in the order of the file.
      on_record(fields: string[], { bytes }) {
        if (!failure) take(fields, bytes)
        return null
      },
      on_skip: (error) => {
        failure ??= error
        return undefined
      },
    })
  }

  function take(fields: string[], endBytes: number): void {
    const record = toRecord(fields)
    if (record) records.push(record)
    drop(endBytes - doneBytes)
    doneBytes = endBytes
  }

  function drop(length: number): void {
    for (let at = text.indexOf('\n'); at !== -1 && at < length; at = text.indexOf('\n', at + 1)) line += 1
    text = text.slice(length)
  }

  function write(chunk: string): void {
    text += chunk
    let unread = chunk
    while (unread !== '') {
      if (isDiscarding) {
        const end = text.indexOf('\n')
        if (end === -1) {
          text = ''
          return
        }
        isDiscarding = false
        drop(end + 1)
        parser = start()
        unread = text
        isCareful = true
        continue
      }
      // Behind a wrong row line by line: where every row is wrong, each would cost all that follows it.
      const next: string = isCareful ? unread.slice(0, unread.indexOf('\n') + 1) || unread : unread
      parser.write(Buffer.from(next, 'latin1'))
      unread = unread.slice(next.length)
      // The line alone is given up: what follows it may be well.
      if (failure) {
        giveUp(failure)
        unread = text
      }
    }
    isCareful = false
  }

  function giveUp({ code }: CsvError): void {
    records.push({ line, problem: problems[code] ?? 'not a row of CSV' })
    isDiscarding = true
  }

  /** Returns undefined for an empty line, and for the header. */
  function toRecord(fields: string[]): SourceRecord | undefined {
    if (fields.length === 1 && fields[0] === '') return undefined
    for (const [i, field] of fields.entries()) {
      if (isAscii.test(field)) continue
      const bytes = Buffer.from(field, 'latin1')
      if (!isUtf8(bytes)) return { line, problem: 'not UTF-8 text' }
      fields[i] = bytes.toString('utf8')
    }
    if (!columns) {
      // Not thrown here: the parser would take it for a fault of its own.
      try {
        columns = requireColumns(fields, delimiter)
      } catch (error) {
        headerProblem = error
        columns = []
      }
      return undefined
    }
    if (fields.length !== columns.length) {
      return { line, problem: `has ${fields.length} fields, where the header has ${columns.length}` }
    }
    const row: Record<string, string> = {}
    for (const [i, column] of columns.entries()) {
      if (column === undefined) continue
      const cell = isExact ? (fields[i] ?? '') : restoreFormula(fields[i] ?? '')
      // Spreadsheets write TRUE and FALSE.
      row[column] = column === 'active' ? cell.toLowerCase() : cell
    }
    return { line, row: markAsForm(row) }
  }

  function taken(): SourceRecord[] {
    if (headerProblem) throw headerProblem
    const all = records
    records = []
    return all
  }

  return {
    push(chunk) {
      let bytes = chunk.toString('latin1')
      if (beginning !== undefined) {
        beginning += bytes
        if (beginning.length < bom.length) return []
        bytes = beginning.startsWith(bom) ? beginning.slice(bom.length) : beginning
        beginning = undefined
      }
      write(bytes)
      return taken()
    },
    end() {
      if (beginning !== undefined) write(beginning)
      parser.end()
      // The last row may be the one that is wrong, and rows may stand behind it.
      while (failure && !isDiscarding) {
        giveUp(failure)
        write('\n')
        parser.end()
      }
      if (!columns) throw new FatalError('the file is empty: its first row must name the columns', exitCodes.badData)
      return taken()
    },
  }
}

const bom = '\xef\xbb\xbf'
const isAscii = /^[\0-\x7f]*$/

const problems: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'a closing quote is followed by text; a quote inside a quoted field is written ""',
  INVALID_OPENING_QUOTE: 'a quote stands inside a field that does not begin with one; write the field in quotes',
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_MAX_RECORD_SIZE: 'longer than 1 MiB, or a quote is not closed',
}
