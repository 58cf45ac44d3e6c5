/** Prices as people type them: with a point or a comma before the cents, with or without separators of thousands. */
import { roundDecimal } from '../../core/decimal.ts'

/** Longer than any valid price with zeros and spaces. Longer text is returned unchanged. */
const maxLength = 64

/** Returns the number with a point. Returns text that is no price, or may be either of two, unchanged. */
export function plainPrice(text: string): string {
  return read(text).number ?? text
}

/** What to type instead of a text that may be either of two prices. Undefined if it is clear, or no price. */
export function unclearPrice(text: unknown): string | undefined {
  return typeof text === 'string' ? read(text).unclear : undefined
}

function read(text: string): { number?: string; unclear?: string } {
  if (text.length > maxLength) return {}
  const trimmed = text.trim()
  const hasSign = trimmed.startsWith('$')
  const bare = hasSign ? trimmed.slice(1).trimStart() : trimmed
  const groups = bare.split(/[.,]/)
  const signs = [...bare].filter((char) => char === '.' || char === ',')
  // `1.` is a number too.
  const digits = signs.join('') === '.' && groups[1] === '' ? groups.slice(0, 1) : groups
  if (!digits.every((group) => /^[0-9]+$/.test(group))) return {}
  if (signs.length === 0) return { number: bare }
  return signs.length === 1 ? readOneSign(bare, { sign: signs[0], groups, hasSign }) : readSigns(signs, groups)
}

interface Parts {
  sign: string | undefined
  groups: readonly string[]
  hasSign: boolean
}

/** `12,50`, `12.50` and `1234.567` are clear. `1.234` and `1,234` are not; after a dollar sign, a comma is as it is shown. */
function readOneSign(bare: string, { sign, groups, hasSign }: Parts): { number?: string; unclear?: string } {
  const [whole = '', rest = ''] = groups
  const isGroup = rest.length === 3 && whole.length <= 3 && !whole.startsWith('0')
  if (isGroup && hasSign && sign === ',') return { number: whole + rest }
  if (isGroup) {
    const cents = roundDecimal(`${whole}.${rest}`, 2)
    return { unclear: `“${bare}” is unclear: type ${whole}${rest}.00 or ${(cents / 100).toFixed(2)}` }
  }
  if (sign === '.') return { number: bare }
  return rest.length <= 2 || whole === '0' ? { number: `${whole}.${rest}` } : {}
}

/** `1,234,567`, `1.234,50` and `1,234.50`: the last sign is before the cents if it differs from the others. */
function readSigns(signs: readonly string[], groups: readonly string[]): { number?: string } {
  const [first, last] = [signs[0], signs.at(-1)]
  const hasCents = first !== last
  const thousands = hasCents ? groups.slice(0, -1) : groups
  const areGrouped = (thousands[0]?.length ?? 0) <= 3 && thousands.slice(1).every((group) => group.length === 3)
  const separators = hasCents ? signs.slice(0, -1) : signs
  if (!areGrouped || separators.some((sign) => sign !== first)) return {}
  return { number: hasCents ? `${thousands.join('')}.${groups.at(-1)}` : thousands.join('') }
}
