/** Converts CSV rows to records. The first row is the header. */
import { isUtf8 } from 'node:buffer'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { restoreFormula } from '../../../platform/csv/formulas.ts'
import { markAsForm } from '../../../platform/validation/body-validation.ts'
import { requireColumns } from './columns.ts'
import type { Layout, SourceRecord } from './records.ts'

export function createCsvRows({ delimiter, isExact }: Omit<Layout, 'format'>) {
  let columns: (string | undefined)[] | undefined
  let headerProblem: unknown

  function readHeader(fields: string[]): void {
    // Not thrown here, because the parser would treat it as its own error.
    try {
      columns = requireColumns(fields, delimiter)
    } catch (error) {
      headerProblem = error
      columns = []
    }
  }

  function toRow(fields: string[], names: readonly (string | undefined)[]): Record<string, string> {
    const row: Record<string, string> = {}
    for (const [i, column] of names.entries()) {
      if (column === undefined) continue
      const cell = isExact ? (fields[i] ?? '') : restoreFormula(fields[i] ?? '')
      // Spreadsheets write TRUE and FALSE.
      row[column] = column === 'active' ? cell.toLowerCase() : cell
    }
    return row
  }

  return {
    requireHeader(): void {
      if (!columns) throw new FatalError('the file is empty: its first row must name the columns', exitCodes.badData)
    },

    /** Throws the problem of the header, if any. */
    requireKnownColumns(): void {
      if (headerProblem) throw headerProblem
    },

    /** Returns undefined for an empty line, and for the header. */
    toRecord(fields: string[], line: number): SourceRecord | undefined {
      if (fields.length === 1 && fields[0] === '') return undefined
      if (!decode(fields)) return { line, problem: 'not UTF-8 text' }
      if (!columns) {
        readHeader(fields)
        return undefined
      }
      if (fields.length !== columns.length) {
        return { line, problem: `has ${fields.length} fields, where the header has ${columns.length}` }
      }
      return { line, row: markAsForm(toRow(fields, columns)) }
    },
  }
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
