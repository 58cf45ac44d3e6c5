/** Numbers as people type them: `$1,234.50`, the way the console shows them. */

/** No number that is accepted is as long, with room for zeros and spaces. Longer texts are not looked at. */
const maxLength = 64

/** Without the sign and the commas, where they stand as we write them. Anything that may mean something else is left alone. */
export function plainNumber(text: string): string {
  if (text.length > maxLength) return text
  const trimmed = text.trim()
  const bare = trimmed.startsWith('$') ? trimmed.slice(1).trimStart() : trimmed
  const [whole = '', decimals = '', ...more] = bare.split('.')
  const [first = '', ...groups] = whole.split(',')
  const isGrouped = first.length <= 3 && groups.every((group) => group.length === 3)
  const isNumber = [first, ...groups].every(isDigits) && (groups.length === 0 || isGrouped)
  if (!isNumber || more.length > 0 || (decimals !== '' && !isDigits(decimals))) return text
  return bare.replaceAll(',', '')
}

function isDigits(text: string): boolean {
  return /^[0-9]+$/.test(text)
}
