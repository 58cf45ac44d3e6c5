import type { LinkMessage } from '../../threads/thread-link.ts'
import type { Value } from '../database.ts'
import type { Column, PlainError } from './connection.ts'

export interface ScanMessage {
  kind: 'scan'
  id: number
  sql: string
  params: readonly Value[]
  /** Of the sender, who sets one of its elements to the id of a scan that is to stop. */
  stops: Int32Array
}

/** A scan of each sender runs while the next is on its way, so that the thread does not wait for event loops. */
export const scansAtOnce = 2

export type ToScanner = ScanMessage | LinkMessage
/** Rows cross as JSON, in half the time of a structured clone, and in parts, so that the receiver can yield in between. */
export type FromScanner = Found | ({ id: number } & PlainError)
interface Found {
  id: number
  columns: readonly Column[]
  parts: string[]
}
