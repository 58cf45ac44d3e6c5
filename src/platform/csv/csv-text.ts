import { stringify } from 'csv-stringify/sync'
import { defuseFormula } from './formulas.ts'

export type CsvCell = string | number | boolean | null

/** Rows as CSV. No cell is run as a formula by a spreadsheet, except if they are written as they are. */
export function csvText(rows: readonly (readonly CsvCell[])[], { isExact = false } = {}): string {
  return stringify(
    rows.map((row) => [...row]),
    {
      cast: { boolean: String, ...(!isExact && { string: defuseFormula }) },
      // A carriage return at the end of a row would be read as half of a line break. The other characters separate cells in
      // other locales, after which the text could start like a formula.
      quoted_match: /[\r;\t|]/,
    },
  )
}
