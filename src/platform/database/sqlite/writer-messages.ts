import type { LinkMessage } from '../../threads/thread-link.ts'
import type { ConstraintKind, Statement } from '../database.ts'
import type { PlainError } from './connection.ts'
import type { SqliteThreadData } from './thread-connection.ts'

export interface WriteMessage {
  kind: 'write'
  requests: Statement[][]
}

export type ToWriter = WriteMessage | LinkMessage
export type WriteResult = { rows: object[][] } | { constraint: ConstraintKind } | PlainError
/** In the order of the requests. */
export interface FromWriter {
  results: WriteResult[]
}

export interface WriterData extends SqliteThreadData {
  /** Incremented by each commit, before it is acknowledged. */
  commits: SharedArrayBuffer
}
