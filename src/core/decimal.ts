/**
 * Rounds a decimal number, as it is written, half up to `places` places; answers it in units of the last of them, so
 * that "1.005" and 2 give 101. Binary floats cannot: to them 1.005 is less than one and a half hundredths above one.
 */
export function roundDecimal(written: string, places: number): number {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = pattern.exec(written) ?? []
  const digits = whole + fraction
  // How many of the digits, counted from the left, come before the place that is rounded to.
  const kept = whole.length + Number(exponent) + places
  const units = kept <= 0 ? 0 : Number(digits.slice(0, kept).padEnd(kept, '0'))
  const isUp = kept >= 0 && (digits[kept] ?? '0') >= '5'
  const rounded = units + (isUp ? 1 : 0)
  return sign === '-' ? -rounded : rounded
}

/** Less than, equal to or greater than zero, as the first is to the second. Both as they are written. */
export function compareDecimals(a: string, b: string): number {
  const [x, y] = [toScaled(a), toScaled(b)]
  const places = Math.max(x.places, y.places)
  const difference = x.units * 10n ** BigInt(places - x.places) - y.units * 10n ** BigInt(places - y.places)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export function isIntegerDecimal(written: string): boolean {
  const { units, places } = toScaled(written)
  return units % 10n ** BigInt(Math.max(0, places)) === 0n
}

/** Whole units of 10^-places. */
function toScaled(written: string): { units: bigint; places: number } {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = pattern.exec(written) ?? []
  const places = fraction.length - Number(exponent)
  const units = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`)
  return places >= 0 ? { units, places } : { units: units * 10n ** BigInt(-places), places: 0 }
}

const pattern = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
