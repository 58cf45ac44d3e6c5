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

const pattern = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
