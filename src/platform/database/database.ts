/** The database interface. Its two implementations are sqlite.ts and postgres.ts. */

/** Global cap on the bytes of results being read. */
export const maxResultBytes = 256 * 1024 * 1024

export type Value = string | number | boolean | null | Uint8Array

/**
 * A parameter whose value comes from the first row of an earlier statement in the batch. A class, so that parsed JSON of a
 * client can never be taken for one.
 */
export class RowReference {
  readonly statement: number
  readonly column: string
  constructor(statement: number, column: string) {
    this.statement = statement
    this.column = column
  }
}

/** A JSON list, of which some items come from rows of earlier statements. */
export class RowReferenceList {
  readonly items: readonly (number | RowReference)[]
  constructor(items: readonly (number | RowReference)[]) {
    this.items = items
  }
}

export type Param = Value | RowReference | RowReferenceList

export interface Statement {
  readonly sql: string
  readonly params?: readonly Param[]
  /**
   * Rolls the whole batch back if this statement returns no row. So a race that is settled by
   * `UPDATE … WHERE … RETURNING` also settles everything that depends on it.
   */
  readonly decides?: boolean
  /** Rolls the whole batch back after this statement, and returns the rows up to it: what a batch would do. */
  readonly rehearses?: boolean
  /**
   * This is `INSERT … VALUES (…) RETURNING …` of one row, with an `id` that the database assigns. If it is the only statement
   * of a transaction, those that are made at the same time may become one.
   */
  readonly insertsOne?: boolean
}

export type Dialect = 'sqlite' | 'postgres'

/**
 * Plain SQL, one text for both engines: `$1` placeholders, `RETURNING`, timestamps as ISO 8601 text, booleans as
 * booleans. Texts should be constants: each is prepared once and kept. See changing-texts.ts for those that are not.
 */
export interface Database {
  readonly dialect: Dialect
  get<Row extends object>(sql: string, params?: readonly Value[]): Promise<Row | undefined>
  all<Row extends object>(sql: string, params?: readonly Value[]): Promise<Row[]>
  /**
   * Like `all`, for queries that may take milliseconds. They do not block the event loop. Clients take turns (see
   * `core/current-client.ts`), and a scan is dropped or interrupted when its client disconnects; it then rejects with
   * `clientGone`.
   */
  scan<Row extends object>(sql: string, params?: readonly Value[]): Promise<Row[]>
  /**
   * Runs the statements as one transaction, and resolves once it is durable. Returns the rows of each statement, or only
   * empty lists if a deciding statement returned no row.
   */
  write<Row extends object>(statement: Statement): Promise<[Row[]]>
  write<A extends object, B extends object>(first: Statement, second: Statement): Promise<[A[], B[]]>
  write<Row extends object>(...statements: Statement[]): Promise<Row[][]>
  /** Rejects if a write would fail now: the database is read-only, full or unreachable. */
  checkWritable(): Promise<void>
  /** Whether operations have met damaged pages, or a disk that fails or is full. Other operations are still served. */
  hasFaults(): boolean
  /** How busy it is now, for metrics. */
  load(): DatabaseLoad
  /** True behind a pooler that shares server connections between transactions, such as PgBouncer can. */
  isTransactionPooled?(): boolean
  /** Waits for pending operations, then closes. Later operations are refused. */
  close(): Promise<void>
}

export interface DatabaseLoad {
  /** Unfinished operations by where they wait. */
  readonly waiting: Readonly<Record<string, number>>
  /** Open connections by what they do. Undefined without a pool. */
  readonly connections?: { readonly in_use: number; readonly idle: number }
}

/** Called with the duration of each operation, including the time it waited. */
export type Observe = (operation: 'read' | 'write', ms: number) => void

/** Refers to `column` in the first row of the statement with index `statement` of the same batch. */
export function rowOf(statement: number, column: string): RowReference {
  return new RowReference(statement, column)
}

export type ConstraintKind = 'unique' | 'foreign_key' | 'not_null' | 'check'

/** A statement violated a constraint of the schema; its whole batch was rolled back. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
  readonly kind: ConstraintKind

  constructor(kind: ConstraintKind, options?: ErrorOptions) {
    super(`a ${kind.replace('_', ' ')} constraint was broken`, options)
    this.kind = kind
  }
}
