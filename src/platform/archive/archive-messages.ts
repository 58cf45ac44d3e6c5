/** Between archive-task.ts and its thread. */
import type { DatabasePlace } from './transfer.ts'

export interface ArchiveTask {
  from: DatabasePlace
  version: string
  /** Where the archive is written. */
  file: string
  /** Where the temporary database of the proof is made. */
  folder: string
}

export interface ArchiveResult {
  rows: number
  bytes: number
  leftOut: readonly string[]
  /** Why it could not be restored and compared. Undefined if it could. */
  unproved?: string | undefined
}

export type ArchiveMessage = { kind: 'done'; result: ArchiveResult } | { kind: 'failed'; message: string }
