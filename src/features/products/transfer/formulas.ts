/**
 * Cells that a spreadsheet would take for a formula, as OWASP lists them under "CSV Injection": an apostrophe in front
 * makes them text. Cells that begin with apostrophes and then so get one more, so that what is read is what was written.
 */
const defused = /^'+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const dangerous = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

export function defuseFormula(cell: string): string {
  return dangerous.test(cell) ? `'${cell}` : cell
}

/** The cell that `defuseFormula` was given. */
export function restoreFormula(cell: string): string {
  return defused.test(cell) ? cell.slice(1) : cell
}
