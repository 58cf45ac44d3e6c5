/** Entries of the change log, and the cursors that name them. */
import { AppError } from '../../core/app-error.ts'
import { validationFailed } from '../validation/body-validation.ts'

/** As stored. Readers of a process share one object per entry. */
export interface ChangeRow {
  readonly id: number
  readonly topic: string
  readonly type: string
  /** What has changed, by its id. */
  readonly entity_id: number | null
  /** The user who made the change. Null where nobody was signed in. */
  readonly actor_id: number | null
  readonly at: string
  /** JSON, as the topic stores it; `ChangeTopic.present` turns it into what readers get. */
  readonly data: string
}

/** As readers get it. */
export interface Change<Data = unknown> {
  readonly cursor: string
  readonly type: string
  readonly at: string
  readonly data: Data
}

/** The entries that a feature logs. */
export interface ChangeTopic {
  readonly topic: string
  readonly types: readonly string[]
  /** Parses `ChangeRow.data`. */
  present(stored: string): unknown
}

export const changeTable = 'changes'

/** Before the oldest entry that is kept. */
export const beginning = 0

export function cursorOf(position: number): string {
  return String(position)
}

/** Throws 422 on what was never a cursor. */
export function parseCursor(text: string): number {
  const position = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(position)) throw validationFailed({ after: ['Must be a cursor'] })
  return position
}

/** The entry that the cursor names is no longer kept, or was lost by restoring an older backup. */
export const cursorExpired = () => new AppError(410, 'Cursor has expired')
