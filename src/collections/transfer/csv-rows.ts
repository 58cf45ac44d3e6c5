/** Converts CSV rows to records. The first row is the header. */
import { isUtf8 } from 'node:buffer'
import { restoreFormula } from '../../platform/csv/formulas.ts'
import { markAsForm } from '../../platform/validation/body-validation.ts'
import { type FileColumns, type Layout, type SourceRecord, wrong } from './records.ts'

export function createCsvRows({ delimiter, isExact }: Omit<Layout, 'format'>, file: FileColumns) {
  let columns: (string | undefined)[] | undefined
  let headerProblem: unknown

  function readHeader(fields: string[]): void {
    try {
      columns = requireColumns(fields, delimiter, file)
    } catch (error) {
      refuse(error)
    }
  }

  /** Thrown after the records that precede it. */
  function refuse(problem: unknown): void {
    headerProblem = problem
    columns = []
  }

  function toRow(fields: string[], names: readonly (string | undefined)[]): Record<string, string> {
    const row: Record<string, string> = {}
    for (const [i, column] of names.entries()) {
      if (column === undefined) continue
      const cell = isExact ? (fields[i] ?? '') : restoreFormula(fields[i] ?? '')
      row[column] = file.readers?.[column]?.(cell) ?? cell
    }
    return row
  }

  return {
    hasColumns: () => columns !== undefined,

    requireHeader(): void {
      if (!columns) throw wrong('the file is empty: its first row must name the columns')
    },

    /** Throws the problem of the header, if any. */
    requireKnownColumns(): void {
      if (headerProblem) throw headerProblem
    },

    /** Returns undefined for an empty line, and for the header. */
    toRecord(fields: string[], line: number): SourceRecord | undefined {
      if (fields.length === 1 && fields[0] === '') return undefined
      if (!decode(fields)) {
        if (!columns) refuse(wrong('the first row is not UTF-8 text; save the file as UTF-8'))
        return { line, problem: 'not UTF-8 text' }
      }
      if (!columns) {
        readHeader(fields)
        return undefined
      }
      if (fields.length !== columns.length) {
        return { line, problem: `has ${fields.length} fields, where the header has ${columns.length}` }
      }
      const row = toRow(fields, columns)
      const problem = file.findProblem?.(row, delimiter)
      return problem === undefined ? { line, row: markAsForm(row) } : { line, problem }
    },
  }
}

/** Returns the columns of a header row in order; undefined for ignored ones. */
function requireColumns(
  header: readonly string[],
  delimiter: string,
  { known, required }: FileColumns,
): (string | undefined)[] {
  const names = header.map((name) => name.trim().toLowerCase())
  const missing = required.filter((name) => !names.includes(name))
  if (missing.length > 0) {
    const other = [';', '\t', '|', ','].find((sign) => sign !== delimiter && header.some((name) => name.includes(sign)))
    const hint =
      other === undefined
        ? ''
        : `; are its fields separated by "${other === '\t' ? '\\t' : other}"? Say so by --delimiter`
    throw wrong(
      `the file has no column ${missing.join(', ')}; its first row is: ${shorten(header.join(delimiter))}${hint}`,
    )
  }
  const twice = known.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (twice !== undefined) throw wrong(`the file has the column ${twice} twice`)
  return names.map((name) => (known.includes(name) ? name : undefined))
}

/** Replaces control characters, because the text of the file is printed to a terminal. */
function shorten(text: string): string {
  const plain = text.replace(/\p{C}/gu, '\u{fffd}')
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain
}

const isAscii = /^[\0-\x7f]*$/

/** Decodes Latin-1 fields as UTF-8, in place. Returns false if one is invalid. */
function decode(fields: string[]): boolean {
  for (const [i, field] of fields.entries()) {
    if (isAscii.test(field)) continue
    const bytes = Buffer.from(field, 'latin1')
    if (!isUtf8(bytes)) return false
    fields[i] = bytes.toString('utf8')
  }
  return true
}
