import type { Value } from '../database.ts'
import type { Column, PlainError } from './connection.ts'

export type ToScanner = { id: number; sql: string; params: readonly Value[] } | 'close'
/**
 * The values of rows cross as JSON, which takes half the time of a structured clone. Some rows at a time, so that they
 * can be read so.
 */
export type FromScanner = Found | ({ id: number } & PlainError)
interface Found {
  id: number
  columns: readonly Column[]
  parts: string[]
}
