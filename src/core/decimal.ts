/**
 * Decimal numbers as they are written, of any length and with any exponent. Binary floats would not do: to them 1.005
 * is less than one and a half hundredths above one, and 0.00999999999999999999 is 0.01. All of it takes time and memory
 * in proportion to what is written: no power of ten is ever computed.
 */

/** 0.DIGITS × 10^point, without zeros at either end of the digits; zero has none. */
interface Decimal {
  sign: -1 | 0 | 1
  digits: string
  point: number
}

/**
 * Rounds half up, away from zero, to `places` places; returns it in units of the last of them, so that "1.005" and 2
 * give 101. What is beyond all floats is infinite.
 */
export function roundDecimal(written: string, places: number): number {
  const { sign, digits, point } = parseDecimal(written)
  // How many of the digits come before the place that is rounded to.
  const kept = point + places
  if (sign === 0 || kept < 0) return 0
  if (kept > maxFloatDigits) return sign * Number.POSITIVE_INFINITY
  const units = kept === 0 ? 0 : Number(digits.slice(0, kept).padEnd(kept, '0'))
  const rounded = units + ((digits[kept] ?? '0') >= '5' ? 1 : 0)
  return rounded === 0 ? 0 : sign * rounded
}

/** A comparator: negative where `a` is less than `b`, zero where they are equal. */
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
/** The largest float has 309 digits. */
const maxFloatDigits = 310
/** No text is so long that its digits could make up for an exponent beyond this. */
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
