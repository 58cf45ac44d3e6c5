/** Cursors of sorted lists: opaque to clients, and of no use with another order. */
import { isStorable } from '../../core/text.ts'
import { isTime } from './filter-values.ts'
import type { FieldType, FilterValue, Position, Sort } from './list-definition.ts'

export function writeListCursor(sort: Sort, { value, id, isBefore }: Position): string {
  return Buffer.from(JSON.stringify([writeSort(sort), isBefore ? 1 : 0, value, id])).toString('base64url')
}

/** Undefined if it is not one of this order. */
export function readListCursor(text: string, sort: Sort, type: FieldType): Position | undefined {
  const parts = parse(text)
  if (!Array.isArray(parts) || parts.length !== 4) return undefined
  const [order, side, value, id] = parts as unknown[]
  if (order !== writeSort(sort) || !Number.isSafeInteger(id) || !isOfType(value, type)) return undefined
  return { value, id: id as number, isBefore: side === 1 }
}

export function writeSort({ field, isDescending }: Sort): string {
  return isDescending ? `-${field}` : field
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

function isOfType(value: unknown, type: FieldType): value is FilterValue {
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'integer' || type === 'cents') return Number.isSafeInteger(value)
  if (type === 'time') return typeof value === 'string' && isTime(value)
  return typeof value === 'string' && isStorable(value)
}
