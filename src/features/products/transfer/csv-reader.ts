/**
 * CSV for an import: every row knows its line, and a row that is malformed costs that row alone. The parser loses its
 * place behind a stray quote, so it is started anew on the line after it.
 *
 * Bytes are handled as Latin-1 text, one character for each: what is not UTF-8 is noticed rather than replaced.
 */
import { type CsvError, type Parser, parse } from 'csv-parse'
import { createCsvRows } from './csv-rows.ts'
import { type Layout, maxRecordBytes, type RecordReader, type SourceRecord } from './records.ts'

export function createCsvReader(layout: Omit<Layout, 'format'>): RecordReader {
  const rows = createCsvRows(layout)
  const withoutBom = createBomFilter()
  /** What the parser has been given since it was started, but for the rows at its beginning that are done. */
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
      // The last row may be the one that is wrong, and rows may stand behind it.
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
  /** `endBytes` counts from where the parser was started. */
  onRow(fields: string[], endBytes: number): void
  onFailure(error: CsvError): void
}

/** Events come while the parser is written to, in the order of the file. */
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

/** Drops a byte order mark at the beginning of a file. */
function createBomFilter() {
  /** The first bytes, until there are enough of them to tell. */
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
    /** What was held back of a file that is shorter than a mark. */
    rest: (): string => beginning ?? '',
  }
}

const problems: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'a closing quote is followed by text; a quote inside a quoted field is written ""',
  INVALID_OPENING_QUOTE: 'a quote stands inside a field that does not begin with one; write the field in quotes',
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_MAX_RECORD_SIZE: 'longer than 1 MiB, or a quote is not closed',
}
