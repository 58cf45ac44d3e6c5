/** Converts CSV rows to records. The first row is the header. */
import { isUtf8 } from 'node:buffer'
import { restoreFormula } from '../../../platform/csv/formulas.ts'
import { markAsForm } from '../../../platform/validation/body-validation.ts'
import { plainPrice, unclearPrice } from '../price-text.ts'
import { requireColumns, wrong } from './columns.ts'
import type { Layout, SourceRecord } from './records.ts'

export function createCsvRows({ delimiter, isExact }: Omit<Layout, 'format'>) {
  // Spreadsheets use semicolons where a comma is before the cents. There, 1.234 is likely to be 1234.
  const isEuropean = delimiter === ';'
  let columns: (string | undefined)[] | undefined
  let headerProblem: unknown

  function readHeader(fields: string[]): void {
    try {
      columns = requireColumns(fields, delimiter)
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
      row[column] = readers[column]?.(cell) ?? cell
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
      const unclear = isEuropean ? unclearPrice(row.price) : undefined
      return unclear === undefined ? { line, row: markAsForm(row) } : { line, problem: `price: ${unclear}` }
    },
  }
}

/** As spreadsheets write them: TRUE and FALSE; 12,50 and $12.50. */
const readers: Readonly<Record<string, (cell: string) => string>> = {
  active: (cell) => cell.toLowerCase(),
  price: plainPrice,
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
