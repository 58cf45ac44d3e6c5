/** Where content is put. Nothing of it shows before `commit`, and nothing is lost by a crash at any point. */
import type { Clock } from '../../core/clock.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Dialect } from '../database/database.ts'
import type { DeclaredSchema } from '../database/migrations.ts'
import type { AppliedMigration, Row, Table } from './content.ts'

export interface Target {
  readonly dialect: Dialect
  /** A table of the schema as of the content's migrations. */
  findTable(name: string): Table | undefined
  load(table: Table, rows: AsyncIterable<readonly Row[]>): Promise<void>
  /** Restores counters, triggers, indexes and constraints, which are absent while rows are loaded. */
  complete(tables: readonly Table[]): Promise<void>
  rows(table: Table): AsyncIterable<readonly Row[]>
  /** Migrates to the version of the program and puts the new data in place of the old. */
  commit(): Promise<Committed>
  /** Leaves everything as it was. Does nothing after `commit`. */
  discard(): Promise<void>
}

export interface Committed {
  /** Migrations that brought the content to the version of the program. */
  applied: readonly string[]
  /** Why the statistics of the planner could not be made, though everything is committed. Undefined if they could. */
  unanalyzed?: string | undefined
}

export interface TargetOptions {
  schema: DeclaredSchema
  /** Those of the content, which make its schema. */
  migrations: readonly AppliedMigration[]
  countedLists: readonly string[]
  /** Whether data that is there may be replaced. */
  canReplace: boolean
  /** Whether it is compared and thrown away. SQLite's search indexes are then left empty, which saves most of the time. */
  isProof: boolean
  clock: Clock
}

/** `tables` are those with rows of their own. */
export function requireEmpty(place: string, tables: readonly string[], canReplace: boolean): void {
  if (tables.length === 0 || canReplace) return
  const shown = tables.slice(0, 3).join(', ') + (tables.length > 3 ? ', …' : '')
  throw new FatalError(
    `${place} is not empty: it has rows in ${shown}. --replace replaces all of it`,
    exitCodes.badData,
  )
}

/** `how` says what to do too. */
export function inUse(place: string, how: string): FatalError {
  return new FatalError(`${place} is in use${how}`, exitCodes.unavailable)
}
