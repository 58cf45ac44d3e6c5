/** Remembers the literals of numbers in JSON that a double may not represent exactly. */
import { rememberExactNumbers } from '../../validation/body-validation.ts'
import { mayHoldLongNumber } from '../../validation/exact-numbers.ts'

/** A reviver is called for each value: about a millisecond for this many. */
const maxValues = 10_000

/** Returns `parsed`, the result of parsing `text`, with the literals of its numbers remembered. */
export function withExactNumbers<Parsed>(parsed: Parsed, text: string): Parsed {
  if (!mayHoldLongNumber(text) || hasMoreValues(text)) return parsed
  try {
    remember(parsed, readNumbers(text))
  } catch {
    // Nested too deeply for a reviver, which is called recursively.
  }
  return parsed
}

interface Read {
  /** Unfiltered: with `__proto__` keys. */
  root: unknown
  numbers: ReadonlyMap<object, ReadonlyMap<string, string>>
}

function readNumbers(text: string): Read {
  const numbers = new Map<object, Map<string, string>>()
  const root: unknown = JSON.parse(text, function (this: object, key, value, context?: { source?: string }) {
    if (typeof value === 'number' && context?.source !== undefined && !Array.isArray(this)) {
      const own = numbers.get(this) ?? new Map<string, string>()
      numbers.set(this, own.set(key, context.source))
    }
    return value
  })
  return { root, numbers }
}

/** Traverses both along the parsed value, so that keys removed by the parser, such as `__proto__`, stay removed. */
function remember(parsed: unknown, { root, numbers }: Read): void {
  const pairs: [unknown, unknown][] = [[parsed, root]]
  for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
    const [holder, twin] = pair
    if (!isObject(holder) || !isObject(twin)) continue
    const own = numbers.get(twin)
    if (own) rememberExactNumbers(holder, own)
    for (const key of Object.keys(holder)) pairs.push([holder[key], twin[key]])
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Counts commas, which separate values; those within strings only make the estimate higher. */
function hasMoreValues(text: string): boolean {
  let commas = 0
  for (let at = text.indexOf(','); at !== -1; at = text.indexOf(',', at + 1)) {
    commas += 1
    if (commas > maxValues) return true
  }
  return false
}
