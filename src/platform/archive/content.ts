/** What is backed up, restored and moved: tables and rows, without anything that one engine alone has. */
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Dialect } from '../database/database.ts'

/** Integers are numbers where these are exact, bigints beyond; both are written alike. */
export type Cell = null | boolean | number | bigint | string | Uint8Array

export type Row = readonly Cell[]

/** `other` are types that one engine alone has, such as JSONB. They are carried as the text that the engine shows. */
export const kinds = ['integer', 'real', 'boolean', 'text', 'timestamp', 'bytes', 'other'] as const
export type Kind = (typeof kinds)[number]

export interface Column {
  name: string
  kind: Kind
}

export interface Table {
  name: string
  /** See `inOrder`. */
  columns: readonly Column[]
  /** The column whose values the engine gives out, and the last that it gave: ids of deleted rows are not used again. */
  counter?: { column: string; last: string } | undefined
}

export interface AppliedMigration {
  name: string
  appliedAt: string
  /** Of the migration's text for each engine; only one is known where the other text is not at hand. */
  checksums: Partial<Readonly<Record<Dialect, string>>>
}

/** Tables of a database or of an archive. All reads see the same moment. */
export interface Content {
  readonly dialect: Dialect
  readonly migrations: readonly AppliedMigration[]
  /** Lists whose row counts are maintained (see database/counted-lists.ts). */
  readonly countedLists: readonly string[]
  readonly tables: readonly Table[]
  /** About how many rows there are, for showing progress. */
  readonly estimatedRows: number
  rows(table: Table): AsyncIterable<readonly Row[]>
}

/** By name: the engines may have the same columns in different orders. */
export function inOrder(columns: readonly Column[]): Column[] {
  return columns.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Told while rows are read, loaded or compared; `rows` counts from the start of the step. */
export type OnProgress = (progress: { step: Step; rows: number; total: number | undefined }) => void

export type Step = 'writing' | 'loading' | 'comparing'

export function badArchive(message: string, cause?: unknown): FatalError {
  return new FatalError(message, exitCodes.badData, { cause })
}
