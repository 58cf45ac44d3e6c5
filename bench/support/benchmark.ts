export interface Result {
  claim: string
  /** What is measured, and against what. */
  measured: string
  isMet: boolean
  /** It has no target. */
  isInformative?: boolean
}

export type Benchmark = () => Promise<Result[]>

interface Measured {
  ratios: number[]
  note: string
}

export function atLeast(claim: string, target: number, measured: Measured): Result {
  return judge(`${claim} (at least ${target})`, measured, (ratio) => ratio >= target)
}

/** A cost that may be at most `target` times another. */
export function atMost(claim: string, target: number, measured: Measured): Result {
  return judge(`${claim} (at most ${target})`, measured, (ratio) => ratio <= target)
}

/** An informative figure without a target: it depends on the machine more than on the code. */
export function reported(claim: string, measured: Measured): Result {
  return { ...judge(claim, measured, () => true), isInformative: true }
}

function judge(claim: string, { ratios, note }: Measured, isMet: (ratio: number) => boolean): Result {
  const ratio = median(ratios)
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
  const measured = `${ratio.toFixed(2)}, median of ${ratios.length} rounds from ${spread}; ${note}`
  return { claim, measured, isMet: isMet(ratio) }
}

/** The answers of two sides, asked in turn so that neither is always the first. */
export function inTurn<Name extends string, Answer>(
  rounds: number,
  sides: Record<Name, () => Answer>,
): Record<Name, Answer>[] {
  const names = Object.keys(sides) as Name[]
  return Array.from({ length: rounds }, (_, round) => {
    const order = round % 2 === 0 ? names : names.toReversed()
    return Object.fromEntries(order.map((name) => [name, sides[name]()])) as Record<Name, Answer>
  })
}

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

export function printTitle(name: string): void {
  process.stdout.write(`\n${name}\n`)
}

export function printResult({ claim, measured, isMet, isInformative = false }: Result): void {
  const verdict = isInformative ? '      ' : isMet ? 'met   ' : 'MISSED'
  process.stdout.write(`  ${verdict} ${claim}\n         ${measured}\n`)
}

export function perSecond(count: number): string {
  return `${Math.round(count).toLocaleString('en')}/s`
}
