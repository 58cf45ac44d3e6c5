/** Validates strings, numbers and booleans, with exact decimals and blank checks. */
import { compareDecimals, isIntegerDecimal, roundDecimal } from '../../core/decimal.ts'
import { isStorable } from '../../core/text.ts'
import { descriptive, descriptiveFormats, type Property } from './schema-property.ts'

export type Outcome = { value: unknown } | { problems: string[] }

/** `written` is the original text of a number that a float may not represent exactly. */
export type ReadPlain = (raw: unknown, written: string | undefined) => Outcome

const rules: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'x-not-blank', 'x-or-empty', 'x-check'],
  number: ['minimum', 'maximum', 'x-not-blank', 'x-decimals'],
  integer: ['minimum', 'maximum', 'x-not-blank'],
  boolean: ['x-not-blank'],
}

/** Whether every keyword of the schema is supported here. */
export function isPlain(schema: Property): boolean {
  const known = rules[schema.type ?? '']
  if (!known) return false
  const isDescriptive = (keyword: string) =>
    descriptive.includes(keyword) ||
    // With `x-check`, the format only documents the text.
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
  // The code points of a far too long text need not be counted.
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

/** Infinity, from a number too large for a float, passes as an integer; its maximum then refuses it. */
function isInteger(raw: unknown, written: string | undefined): raw is number {
  if (typeof raw !== 'number' || Number.isNaN(raw)) return false
  if (written !== undefined) return isIntegerDecimal(written)
  return Number.isInteger(raw) || !Number.isFinite(raw)
}

export function isBlank(raw: unknown): boolean {
  return raw === undefined || raw === null || (typeof raw === 'string' && raw.trim() === '')
}
