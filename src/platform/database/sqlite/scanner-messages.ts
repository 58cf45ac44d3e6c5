import type { LinkMessage } from '../../threads/thread-link.ts'
import type { Value } from '../database.ts'
import type { Column, PlainError } from './connection.ts'

export interface ScanMessage {
  kind: 'scan'
  id: number
  sql: string
  params: readonly Value[]
}

export type ToScanner = ScanMessage | LinkMessage
/** Rows cross as JSON, in half the time of a structured clone, and in parts, so that the receiver can yield in between. */
export type FromScanner = Found | ({ id: number } & PlainError)
interface Found {
  id: number
  columns: readonly Column[]
  parts: string[]
}
