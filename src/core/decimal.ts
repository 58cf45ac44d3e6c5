/**
 * Exact arithmetic on decimal strings of any length and exponent. Floats would round 1.005 to 1.00 and accept
 * 0.00999999999999999999 as 0.01. Time and memory are linear in the length of the text: 1e999999999 costs nothing,
 * because no power of ten is ever computed.
 */

/** 0.DIGITS × 10^point, without leading or trailing zeros; zero has no digits. */
interface Decimal {
  sign: -1 | 0 | 1
  digits: string
  point: number
}

/**
 * Rounds half away from zero to `places` decimals. Returns units of the last decimal: ("1.005", 2) gives 101. Returns
 * ±Infinity beyond the range of floats.
 */
export function roundDecimal(written: string, places: number): number {
  const { sign, digits, point } = parseDecimal(written)
  const kept = point + places
  if (sign === 0 || kept < 0) return 0
  if (kept > maxFloatDigits) return sign * Number.POSITIVE_INFINITY
  const units = kept === 0 ? 0 : Number(digits.slice(0, kept).padEnd(kept, '0'))
  const rounded = units + ((digits[kept] ?? '0') >= '5' ? 1 : 0)
  return rounded === 0 ? 0 : sign * rounded
}

/** Comparator for decimal strings. */
export function compareDecimals(a: string, b: string): number {
  const [x, y] = [parseDecimal(a), parseDecimal(b)]
  if (x.sign !== y.sign) return x.sign - y.sign
  if (x.point !== y.point) return x.sign * (x.point < y.point ? -1 : 1)
  if (x.digits === y.digits) return 0
  return x.sign * (x.digits < y.digits ? -1 : 1)
}

export function isIntegerDecimal(written: string): boolean {
  const { digits, point } = parseDecimal(written)
  return digits.length <= point || digits === ''
}

const pattern = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const zero = 48
/** The largest float has 309 digits before the point. */
const maxFloatDigits = 310
/** Larger than the length of any string, so clamping the exponent never changes a result. */
const maxExponent = 1e15

function parseDecimal(written: string): Decimal {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = pattern.exec(written) ?? []
  const all = whole + fraction
  let start = 0
  while (start < all.length && all.charCodeAt(start) === zero) start += 1
  let end = all.length
  while (end > start && all.charCodeAt(end - 1) === zero) end -= 1
  if (start === end) return { sign: 0, digits: '', point: 0 }
  const shift = Math.max(-maxExponent, Math.min(Number(exponent), maxExponent))
  return { sign: sign === '-' ? -1 : 1, digits: all.slice(start, end), point: whole.length - start + shift }
}
