/** Keeps the original text of JSON numbers, so that a price is rounded by its digits and not by the nearest float. */
import { rememberExactNumbers } from './body-validation.ts'

/** A cheap test for numbers with more digits than a float holds, or with a large exponent. */
export function mayHoldLongNumber(text: string): boolean {
  return /\d[\d.]{15}|\d[eE][+-]?\d\d/.test(text)
}

/** `body` is what `text` was parsed into. */
export function rememberLongNumbers(body: object, text: string): void {
  if (mayHoldLongNumber(text)) rememberExactNumbers(body, readNumbers(text))
}

const [quote, backslash, colon, comma] = [34, 92, 58, 44]
const opening: ReadonlySet<number> = new Set([123, 91])
const closing: ReadonlySet<number> = new Set([125, 93])

/**
 * The original text of the numbers among the object's own fields. The text must be valid JSON. A single pass over the
 * characters, because a reviver of JSON.parse would be called for every nested value.
 */
export function readNumbers(text: string): ReadonlyMap<string, string> {
  const numbers = new Map<string, string>()
  let depth = 0
  /** The last string at depth 1, and the start of its value. */
  let key = ''
  let valueStart = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const start = at
      at = endOfString(text, at)
      if (depth === 1 && valueStart === -1) key = text.slice(start, at + 1)
    } else if (depth === 1 && code === colon) valueStart = at + 1
    else if (depth === 1 && (code === comma || closing.has(code))) {
      const value = valueStart === -1 ? '' : text.slice(valueStart, at).trim()
      const name = /^[-\d]/.test(value) ? (JSON.parse(key) as string) : undefined
      if (name !== undefined) numbers.set(name, value)
      // The last value of a repeated name counts.
      else if (valueStart !== -1 && numbers.size > 0) numbers.delete(JSON.parse(key) as string)
      valueStart = -1
      if (code !== comma) depth -= 1
    } else if (opening.has(code)) depth += 1
    else if (closing.has(code)) depth -= 1
  }
  return numbers
}

/** Returns the index of the closing quote. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at)
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
}
