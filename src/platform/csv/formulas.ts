/**
 * Prevents CSV injection (OWASP): a cell that a spreadsheet would run as a formula gets an apostrophe in front. A cell that
 * already has apostrophes before such a character gets one more, so that the original can be restored.
 */
const defused = /^'+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const dangerous = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

export function defuseFormula(cell: string): string {
  return dangerous.test(cell) ? `'${cell}` : cell
}

/** The inverse of `defuseFormula`. */
export function restoreFormula(cell: string): string {
  return defused.test(cell) ? cell.slice(1) : cell
}
