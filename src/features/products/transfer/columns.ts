/** The columns of imported and exported files. */
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'

const readColumns: readonly string[] = ['name', 'description', 'price', 'category', 'stock', 'active']
const requiredColumns: readonly string[] = ['name', 'description', 'price']

export const exportedColumns = [
  'id',
  'name',
  'slug',
  'description',
  'price',
  'category',
  'stock',
  'active',
  'created_at',
  'updated_at',
] as const

/** Returns the columns of a header row in order; undefined for ignored ones. */
export function requireColumns(header: readonly string[], delimiter: string): (string | undefined)[] {
  const names = header.map((name) => name.trim().toLowerCase())
  const missing = requiredColumns.filter((name) => !names.includes(name))
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
  const twice = readColumns.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (twice !== undefined) throw wrong(`the file has the column ${twice} twice`)
  return names.map((name) => (readColumns.includes(name) ? name : undefined))
}

function wrong(message: string): FatalError {
  return new FatalError(message, exitCodes.badData)
}

/** Replaces control characters, because the text of the file is printed to a terminal. */
function shorten(text: string): string {
  const plain = text.replace(/\p{C}/gu, '\u{fffd}')
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain
}
