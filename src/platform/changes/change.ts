/** Entries of the change log. */
import { AppError } from '../../core/app-error.ts'

/** As stored. Readers of a process share one object per entry. */
export interface ChangeRow {
  readonly id: number
  readonly topic: string
  readonly type: string
  /** What has changed, by its id. */
  readonly entity_id: number | null
  /** The user who made the change. Null where nobody was signed in. */
  readonly actor_id: number | null
  /** Their session, or `key …`. Null where it was not recorded. */
  readonly actor_via: string | null
  readonly at: string
  /** JSON, as the topic stores it; `ChangeTopic.present` turns it into what readers get. */
  readonly data: string
}

/** As readers get it. */
export interface Change<Data = unknown> {
  readonly cursor: string
  readonly type: string
  readonly at: string
  /** Grows with every change of the row. Undefined for a topic that has none. */
  readonly version?: number
  readonly data: Data
  /** Who made the change, for those who may know. */
  readonly actor?: { readonly id: number; readonly key?: string; readonly session?: string } | null
}

/** The entries that a feature logs. */
export interface ChangeTopic {
  readonly topic: string
  readonly types: readonly string[]
  /** What users need to be sent these entries. Default: nothing. */
  readonly permissions?: readonly string[]
  /** Parses `ChangeRow.data`. */
  present(stored: string): unknown
  /** The version of the row after the change, which must grow with every change of that row. Undefined for an entry of none. */
  versionOf?(type: string, stored: string): number | undefined
}

export const changeTable = 'changes'

/** Before the oldest entry that is kept. */
export const beginning = 0

/** The entry that the migration makes: a position in a log without others. */
export const firstEntry = 1

/** The entry that the cursor names is no longer kept, was lost by restoring an older backup, or is of another installation. */
export const cursorExpired = () => new AppError(410, 'Cursor has expired')
