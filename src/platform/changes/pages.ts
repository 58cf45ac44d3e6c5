/** What readers of the log ask for, and get. */
import type { ChangeRow } from './change.ts'

export interface ReadQuery {
  /** All topics by default. */
  topic?: string
  /** A position; `beginning` stands for the oldest entry that is kept. */
  after: number
  limit: number
  /** Ends the page after the entry that exceeds it. */
  maxBytes?: number
}

export interface FollowQuery extends ReadQuery {
  signal: AbortSignal
}

/** Readers at the same position share it. */
export interface ChangePage {
  entries: readonly ChangeRow[]
  /** Where to go on. Never for clients if a topic was read: it may be an entry of another topic. */
  position: number
  /** There are more entries of what was read. */
  more: boolean
}

/** Must not throw. Returns a promise if the reader has to read first. */
export type OnPage = (page: ChangePage) => Promise<void> | undefined
