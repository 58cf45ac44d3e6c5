/** Parses numbers in the format that the console displays: `$1,234.50`. */

/** Longer than any valid number with zeros and spaces. Longer text is returned unchanged. */
const maxLength = 64

/** Removes the dollar sign and thousands separators. Returns ambiguous text unchanged. */
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
