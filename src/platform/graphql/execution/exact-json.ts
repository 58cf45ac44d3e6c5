/** JSON whose numbers are remembered as they are written, object by object, where a float may not hold them. */
import { rememberExactNumbers } from '../../validation/body-validation.ts'
import { mayHoldLongNumber } from '../../validation/exact-numbers.ts'

/** Remembering calls a function for each value: about a millisecond for so many. */
const maxValues = 10_000

/** Returns `parsed`, which `text` was parsed into, with its numbers remembered. */
export function withWrittenNumbers<Parsed>(parsed: Parsed, text: string): Parsed {
  if (!mayHoldLongNumber(text) || hasMoreValues(text)) return parsed
  try {
    remember(parsed, readNumbers(text))
  } catch {
    // Nested too deeply for a function to be called on each value.
  }
  return parsed
}

interface Read {
  /** All that the text holds. */
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

/** What the parser has left out, such as `__proto__`, stays out: both are walked along what was parsed. */
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

/** There is a comma between every two values; more of them in texts do no harm. */
function hasMoreValues(text: string): boolean {
  let commas = 0
  for (let at = text.indexOf(','); at !== -1; at = text.indexOf(',', at + 1)) {
    commas += 1
    if (commas > maxValues) return true
  }
  return false
}
