/** JSON whose numbers are remembered as they are written, object by object, where a float may not hold them. */
import { rememberWrittenNumbers } from '../http/validation.ts'
import { mayHoldLongNumber } from '../http/written-numbers.ts'

/** Remembering calls a function for each value: about a millisecond for so many. */
const maxValues = 10_000

/** Returns what `text` was parsed into, or the same with its numbers remembered. */
export function withWrittenNumbers(parsed: unknown, text: string): unknown {
  if (!mayHoldLongNumber(text) || hasMoreValues(text)) return parsed
  try {
    return parseRemembering(text)
  } catch {
    // Nested too deeply for a function to be called on each value.
    return parsed
  }
}

function parseRemembering(text: string): unknown {
  const byHolder = new Map<object, Map<string, string>>()
  const root: unknown = JSON.parse(text, function (this: object, key, value, context?: { source?: string }) {
    if (key === '__proto__') return undefined
    if (typeof value === 'number' && context?.source !== undefined && !Array.isArray(this)) {
      const numbers = byHolder.get(this) ?? new Map<string, string>()
      byHolder.set(this, numbers.set(key, context.source))
    }
    return value
  })
  for (const [holder, numbers] of byHolder) rememberWrittenNumbers(holder, numbers)
  return root
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
