/** Reads the values of filters as clients write them. */
import { compareDecimals, isIntegerDecimal, roundDecimal } from '../../core/decimal.ts'
import { isStorable } from '../../core/text.ts'
import type { FieldType, FilterValue } from './list-definition.ts'

export const operators = ['gt', 'gte', 'lt', 'lte'] as const
export type Operator = (typeof operators)[number]

const decimal = /^-?\d{1,16}(\.\d{1,16})?$/
const day = /^\d{4}-\d\d-\d\d$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

export const wrongValue: Readonly<Record<FieldType, string>> = {
  integer: 'Must be an integer',
  cents: 'Must be a number with at most two decimals',
  text: 'Must not be blank',
  boolean: 'Must be true or false',
  time: 'Must be a date or a time of ISO 8601 with its zone',
}

/** Undefined if the text is no such value. */
export function readFilterValue(text: string, type: FieldType): FilterValue | undefined {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  if (type === 'text') return text.trim() !== '' && isStorable(text) ? text : undefined
  if (type === 'time') return readTime(text)
  if (!decimal.test(text)) return undefined
  const scaled = roundDecimal(text, type === 'cents' ? 2 : 0)
  const isExact =
    type === 'integer'
      ? isIntegerDecimal(text)
      : compareDecimals(text, `${scaled < 0 ? '-' : ''}${asCents(scaled)}`) === 0
  return isExact && Number.isSafeInteger(scaled) ? scaled : undefined
}

function asCents(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** A date is the beginning of its day in UTC. */
function readTime(text: string): string | undefined {
  if (!day.test(text) && !time.test(text)) return undefined
  const date = new Date(text)
  const written = Number.isNaN(date.getTime()) ? '' : date.toISOString()
  return isTime(written) ? written : undefined
}

const [firstTime, lastTime] = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']

/** As JavaScript writes it, and as both engines can compare it: PostgreSQL has no year 0, and neither has five digits. */
export function isTime(text: string): boolean {
  if (text.length !== lastTime.length || text < firstTime || text > lastTime) return false
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text
}

/** The bound that includes what this operator allows: values are whole units, milliseconds for times. */
export function toBound(operator: Operator, value: FilterValue): { low: FilterValue } | { high: FilterValue } {
  if (operator === 'gte') return { low: value }
  if (operator === 'lte') return { high: value }
  return operator === 'gt' ? { low: step(value, 1) } : { high: step(value, -1) }
}

function step(value: FilterValue, by: 1 | -1): FilterValue {
  if (typeof value !== 'string') return Number(value) + by
  const next = new Date(Date.parse(value) + by).toISOString()
  // There is nothing beyond the first and the last.
  return isTime(next) ? next : value
}
