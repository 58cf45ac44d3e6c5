/** A percentage as people type it: `10`, `+10 %`, `-12,5`. */

/** Undefined if it is none. In hundredths of a percent. */
export function readPercent(text: string): number | undefined {
  const [, sign = '', whole = '', decimals = ''] = pattern.exec(text.trim()) ?? []
  if (whole === '') return undefined
  const hundredths = Number(whole) * 100 + Number(decimals.padEnd(2, '0'))
  return sign === '' || sign === '+' ? hundredths : -hundredths
}

// U+2212 is the minus sign of typography.
const pattern = /^([+\-\u2212]?)(\d{1,4})(?:[.,](\d{1,2}))?\s?%?$/

/** Why prices cannot be changed by it. */
export function percentProblem(hundredths: number | undefined): string | undefined {
  if (hundredths === undefined) return 'Must be a number such as 10 or -12.5'
  if (hundredths === 0) return 'Must not be 0'
  return hundredths <= -10_000 || hundredths > 100_000 ? 'Must be more than -100 and at most 1000' : undefined
}
