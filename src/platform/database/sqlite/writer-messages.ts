import type { ConstraintKind, Statement } from '../database.ts'
import type { PlainError } from './connection.ts'

export type ToWriter = { kind: 'write'; requests: Statement[][] } | { kind: 'close' }
export type WriteResult = { rows: object[][] } | { constraint: ConstraintKind } | PlainError
export interface FromWriter {
  results: WriteResult[]
}
