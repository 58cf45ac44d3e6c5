/**
 * Reads CSV with line numbers; a malformed row affects only itself. After a stray quote the parser cannot resynchronise, so
 * it is restarted on the next line.
 *
 * Bytes are handled as Latin-1 text, one character per byte, so that invalid UTF-8 is detected and not replaced.
 */
import { type CsvError, type Parser, parse } from 'csv-parse'
import { createCsvRows } from './csv-rows.ts'
import { type Layout, maxRecordBytes, type RecordReader, type SourceRecord } from './records.ts'

export function createCsvReader(layout: Omit<Layout, 'format'>): RecordReader {
  const rows = createCsvRows(layout)
  const withoutBom = createBomFilter()
  /** The parser's input since it was started, without the rows that are done. */
  let text = ''
  let doneBytes = 0
  let line = 1
  let failure: CsvError | undefined
  let parser = start()
  let isDiscarding = false
  let isCareful = false
  const records: SourceRecord[] = []

  function start(): Parser {
    doneBytes = 0
    failure = undefined
    return createParser(layout.delimiter, {
      onRow(fields, endBytes) {
        if (!failure) take(fields, endBytes)
      },
      onFailure(error) {
        failure ??= error
      },
    })
  }

  function take(fields: string[], endBytes: number): void {
    const record = rows.toRecord(fields, line)
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
      // After a malformed row, line by line: if every row is malformed, each restart would parse the whole rest again.
      const next: string = isCareful ? unread.slice(0, unread.indexOf('\n') + 1) || unread : unread
      parser.write(Buffer.from(next, 'latin1'))
      unread = unread.slice(next.length)
      // Only this line is dropped; the following ones may be valid.
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

  function taken(): SourceRecord[] {
    rows.requireKnownColumns()
    return records.splice(0)
  }

  return {
    push(chunk) {
      write(withoutBom.pass(chunk.toString('latin1')))
      return taken()
    },
    end() {
      write(withoutBom.rest())
      parser.end()
      // An unclosed quote may have swallowed further rows.
      while (failure && !isDiscarding) {
        giveUp(failure)
        write('\n')
        parser.end()
      }
      rows.requireHeader()
      return taken()
    },
  }
}

interface ParserEvents {
  /** `endBytes` counts from the start of the parser. */
  onRow(fields: string[], endBytes: number): void
  onFailure(error: CsvError): void
}

/** Events are emitted synchronously during `write`, in the order of the file. */
function createParser(delimiter: string, { onRow, onFailure }: ParserEvents): Parser {
  return parse({
    delimiter,
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    max_record_size: maxRecordBytes,
    skip_records_with_error: true,
    on_record(fields: string[], { bytes }) {
      onRow(fields, bytes)
      return null
    },
    on_skip(error) {
      if (error) onFailure(error)
      return undefined
    },
  })
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

const problems: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'a closing quote is followed by text; a quote inside a quoted field is written ""',
  INVALID_OPENING_QUOTE: 'a quote stands inside a field that does not begin with one; write the field in quotes',
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_MAX_RECORD_SIZE: 'longer than 1 MiB, or a quote is not closed',
}
