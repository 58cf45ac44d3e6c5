/** Numbers of JSON as they were written, so that a price is rounded by its digits, not by the float nearest to them. */
import { rememberWrittenNumbers } from './validation.ts'

/** `body` is what `text` was parsed into. */
export function rememberLongNumbers(body: object, text: string): void {
  // More digits than a float holds.
  if (/\d[\d.]{15,}/.test(text)) rememberWrittenNumbers(body, readNumbers(text))
}

/** The numbers that are fields of the object itself, as they are written. */
function readNumbers(text: string): ReadonlyMap<string, string> {
  const byHolder = new Map<object, Map<string, string>>()
  const root = JSON.parse(text, function (this: object, key: string, value: unknown, context?: { source?: string }) {
    if (typeof value === 'number' && context?.source !== undefined) {
      const numbers = byHolder.get(this) ?? new Map<string, string>()
      byHolder.set(this, numbers.set(key, context.source))
    }
    return value
  })
  return byHolder.get(root) ?? new Map()
}
