/** Texts, numbers and booleans: checked by rules of our own, which know exact decimals and what may be blank. */
import { compareDecimals, isIntegerDecimal, roundDecimal } from '../../core/decimal.ts'
import { isStorable } from '../../core/text.ts'
import { descriptive, descriptiveFormats, type Property } from './schema-property.ts'

export type Outcome = { value: unknown } | { problems: string[] }

/** A value, and a number as it was written where that says more than the number. */
export type ReadPlain = (raw: unknown, written: string | undefined) => Outcome

const rules: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'x-not-blank', 'x-not-blank-if-given', 'x-or-empty', 'x-check'],
  number: ['minimum', 'maximum', 'x-not-blank', 'x-decimals'],
  integer: ['minimum', 'maximum', 'x-not-blank'],
  boolean: ['x-not-blank'],
}

/** Whether the rules of our own check all that the schema says. */
export function isPlain(schema: Property): boolean {
  const known = rules[schema.type ?? '']
  if (!known) return false
  const isDescriptive = (keyword: string) =>
    descriptive.includes(keyword) ||
    // Where a function checks the text, the format only describes it.
    (keyword === 'format' && ('x-check' in schema || descriptiveFormats.includes(schema.format)))
  return Object.keys(schema).every((each) => each === 'type' || known.includes(each) || isDescriptive(each))
}

export function compilePlain(schema: Property): ReadPlain {
  switch (schema.type) {
    case 'string':
      return (raw) => (typeof raw === 'string' ? readText(schema, raw) : { problems: ['Must be a string'] })
    case 'number':
      return (raw, written) =>
        typeof raw === 'number' ? readNumber(schema, raw, written) : { problems: ['Must be a number'] }
    case 'integer':
      return (raw, written) =>
        isInteger(raw, written) ? readNumber(schema, raw, written) : { problems: ['Must be an integer'] }
    default:
      return (raw) => (typeof raw === 'boolean' ? { value: raw } : { problems: ['Must be true or false'] })
  }
}

function readText(schema: Property, text: string): Outcome {
  const problems: string[] = []
  const { minLength, maxLength } = schema
  // Counting characters of what is far too long would take longer than it is worth.
  const isCounted = (minLength ?? maxLength) !== undefined && text.length <= 2 * (maxLength ?? text.length)
  const length = isCounted ? [...text].length : text.length
  if (minLength !== undefined && maxLength !== undefined) {
    if (length < minLength || length > maxLength) {
      problems.push(`Must be between ${minLength} and ${maxLength} characters`)
    }
  } else if (maxLength !== undefined && length > maxLength) problems.push(`Must be at most ${maxLength} characters`)
  else if (minLength !== undefined && length < minLength) problems.push(`Must be at least ${minLength} characters`)
  if (!schema['x-or-empty'] && !isStorable(text)) problems.push('Must be valid text')
  if (schema['x-check']) problems.push(...schema['x-check'](text))
  return problems.length > 0 ? { problems } : { value: text }
}

function readNumber(schema: Property, number: number, written: string | undefined): Outcome {
  const { minimum, maximum, 'x-decimals': places } = schema
  const compare = (limit: number) => (written === undefined ? number - limit : compareDecimals(written, String(limit)))
  if (minimum !== undefined && compare(minimum) < 0) return { problems: [`Must be at least ${minimum}`] }
  if (maximum !== undefined && compare(maximum) > 0) return { problems: [`Must be at most ${maximum}`] }
  return { value: places === undefined ? number : roundDecimal(written ?? String(number), places) / 10 ** places }
}

/** What is too large for a float is an integer still, of which its limits will tell. */
function isInteger(raw: unknown, written: string | undefined): raw is number {
  if (typeof raw !== 'number' || Number.isNaN(raw)) return false
  if (written !== undefined) return isIntegerDecimal(written)
  return Number.isInteger(raw) || !Number.isFinite(raw)
}

export function isBlank(raw: unknown): boolean {
  return raw === undefined || raw === null || (typeof raw === 'string' && raw.trim() === '')
}
