/**
 * Checks bodies against their schema and says what is wrong in the words of the API. The schema that describes a body
 * is the one that checks it; what a schema cannot say, `x-check` does.
 */
import type { TObject, TSchema } from 'typebox'
import { AppError } from '../../core/app-error.ts'
import { compareDecimals, isIntegerDecimal, roundDecimal } from '../../core/decimal.ts'
import { isStorable } from '../../core/text.ts'
import { Type } from './schema-builder.ts'

/** Returns what is wrong with a value that has passed the schema's own rules. */
export type Check = (value: string) => string[]

export type BodyValidator = (body: unknown) => { value: Record<string, unknown> } | { error: AppError }

interface Property extends TSchema {
  type?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  default?: unknown
  /** Missing, null and white space are refused. */
  'x-not-blank'?: boolean
  /** Missing and null are fine, white space is not. */
  'x-not-blank-if-given'?: boolean
  /** Missing and null stand for an empty string. */
  'x-or-empty'?: boolean
  /** A number is rounded half up to so many places, as it was written. */
  'x-decimals'?: number
  'x-check'?: Check
}

/** A text for which missing and null stand for an empty one. */
export const OrEmpty = Type.String({ 'x-or-empty': true })

type Outcome = { value: unknown } | { problems: string[] }

const formBodies = new WeakSet<object>()

/** In a form everything is text: numbers and booleans are read from it. */
export function markAsForm<T extends object>(body: T): T {
  formBodies.add(body)
  return body
}

const exactNumbers = new WeakMap<object, ReadonlyMap<string, string>>()

/** For numbers that a float may not hold: how they were written, by field. */
export function rememberExactNumbers(body: object, numbers: ReadonlyMap<string, string>): void {
  exactNumbers.set(body, numbers)
}

export function exactNumbersOf(body: object): ReadonlyMap<string, string> | undefined {
  return exactNumbers.get(body)
}

export function validationFailed(details: Record<string, string[]>): AppError {
  return new AppError(422, 'Validation failed', { extra: { details } })
}

/** What is wrong, field by field, in one line for a person. Undefined where no field is to blame. */
export function describeDetails({ extra }: AppError): string | undefined {
  const details = Object.entries((extra?.details ?? {}) as Record<string, string[]>)
  const told = details.map(([field, messages]) => `${field}: ${messages.join('; ')}`)
  return told.length > 0 ? told.join('; ') : undefined
}

export function compileBody(schema: TObject): BodyValidator {
  const properties = Object.entries(schema.properties as Record<string, Property>)
  const required = new Set(schema.required ?? [])
  return (body) => {
    const given = (body ?? {}) as Record<string, unknown>
    const isForm = formBodies.has(given)
    const value: Record<string, unknown> = {}
    const details: Record<string, string[]> = {}
    for (const [name, property] of properties) {
      const raw = Object.hasOwn(given, name) ? given[name] : undefined
      const written = isForm ? String(raw).trim() : exactNumbers.get(given)?.get(name)
      const typed = isForm ? fromForm(property, raw) : raw
      const outcome = read(property, { raw: typed, written, isRequired: required.has(name) })
      if ('problems' in outcome) details[name] = outcome.problems
      else if (outcome.value !== undefined) value[name] = outcome.value
    }
    return Object.keys(details).length > 0 ? { error: validationFailed(details) } : { value }
  }
}

/** For what does not come as the body of a request. Throws what is wrong with it. */
export function requireValid<Body>(validate: BodyValidator, given: object): Body {
  const outcome = validate(given)
  if ('error' in outcome) throw outcome.error
  return outcome.value as Body
}

interface Given {
  raw: unknown
  /** A number as it was written, where that says more than the number. */
  written: string | undefined
  isRequired: boolean
}

function read(property: Property, { raw, written, isRequired }: Given): Outcome {
  if (property['x-not-blank'] && isBlank(raw)) return { problems: ['Must not be blank'] }
  if (raw === undefined || raw === null) {
    if (property['x-or-empty']) return { value: '' }
    return isRequired ? { problems: ['Must not be blank'] } : { value: property.default }
  }
  if (property['x-not-blank-if-given'] && isBlank(raw)) return { problems: ['Must not be blank'] }
  switch (property.type) {
    case 'array':
      return isTexts(raw) ? { value: raw } : { problems: ['Must be a list of strings'] }
    case 'string':
      return typeof raw === 'string' ? readText(property, raw) : { problems: ['Must be a string'] }
    case 'number':
      return typeof raw === 'number' ? readNumber(property, raw, written) : { problems: ['Must be a number'] }
    case 'integer':
      return isInteger(raw, written) ? readNumber(property, raw, written) : { problems: ['Must be an integer'] }
    case 'boolean':
      return typeof raw === 'boolean' ? { value: raw } : { problems: ['Must be true or false'] }
    default:
      throw new Error(`no rule for a body field of type ${property.type}`)
  }
}

function readText(property: Property, text: string): Outcome {
  const problems: string[] = []
  const { minLength, maxLength } = property
  // Counting characters of what is far too long would take longer than it is worth.
  const isCounted = (minLength ?? maxLength) !== undefined && text.length <= 2 * (maxLength ?? text.length)
  const length = isCounted ? [...text].length : text.length
  if (minLength !== undefined && maxLength !== undefined) {
    if (length < minLength || length > maxLength) {
      problems.push(`Must be between ${minLength} and ${maxLength} characters`)
    }
  } else if (maxLength !== undefined && length > maxLength) problems.push(`Must be at most ${maxLength} characters`)
  else if (minLength !== undefined && length < minLength) problems.push(`Must be at least ${minLength} characters`)
  if (!property['x-or-empty'] && !isStorable(text)) problems.push('Must be valid text')
  if (property['x-check']) problems.push(...property['x-check'](text))
  return problems.length > 0 ? { problems } : { value: text }
}

function readNumber(property: Property, number: number, written: string | undefined): Outcome {
  const { minimum, maximum, 'x-decimals': places } = property
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

/** The only kind of list that a body has. */
function isTexts(raw: unknown): raw is string[] {
  return Array.isArray(raw) && raw.every((item) => typeof item === 'string')
}

function isBlank(raw: unknown): boolean {
  return raw === undefined || raw === null || (typeof raw === 'string' && raw.trim() === '')
}

function fromForm({ type }: Property, raw: unknown): unknown {
  // A form has no empty list: a field without a text stands for it.
  if (type === 'array' && raw !== undefined) return [raw].flat().filter((item) => item !== '')
  if (typeof raw !== 'string' || type === 'string') return raw
  const text = raw.trim()
  if (text === '') return undefined
  if (type === 'boolean') {
    if (['true', '1', 'on'].includes(text)) return true
    return ['false', '0', 'off'].includes(text) ? false : raw
  }
  return /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : raw
}
