/** The one way to the data, with two engines behind it: sqlite.ts and postgres.ts. */

/** No more than this is gathered from long reads: more could not be sent to anybody. */
export const maxAnswerBytes = 256 * 1024 * 1024

/** A long read takes some milliseconds: whoever comes after this many would wait for too long. */
export const maxWaitingScans = 128

export type Value = string | number | boolean | null | Uint8Array

/**
 * Stands for a column of the first row that an earlier statement of the same batch returned. A class, so that no object
 * of a client's making can pass for one.
 */
export class RowReference {
  readonly statement: number
  readonly column: string
  constructor(statement: number, column: string) {
    this.statement = statement
    this.column = column
  }
}

export type Param = Value | RowReference

export interface Statement {
  readonly sql: string
  readonly params?: readonly Param[]
  /**
   * The batch stands or falls with this statement: where it returns no row, nothing of the batch happens. So a race
   * settled by `UPDATE … WHERE … RETURNING` settles what follows from it too.
   */
  readonly decides?: boolean
}

export type Dialect = 'sqlite' | 'postgres'

/**
 * Plain SQL, one text for both engines: `$1` placeholders, `RETURNING`, timestamps as ISO 8601 text, booleans as
 * booleans. Texts are constants of the code: each is prepared once and kept.
 */
export interface Database {
  readonly dialect: Dialect
  get<Row extends object>(sql: string, params?: readonly Value[]): Promise<Row | undefined>
  all<Row extends object>(sql: string, params?: readonly Value[]): Promise<Row[]>
  /** Like `all`, for what may take milliseconds: the event loop does not wait for it. */
  scan<Row extends object>(sql: string, params?: readonly Value[]): Promise<Row[]>
  /**
   * Runs all statements or none, and resolves once that is durable. Returns each statement's rows; where a deciding
   * statement returned none, every list is empty.
   */
  write<Row extends object>(statement: Statement): Promise<[Row[]]>
  write<A extends object, B extends object>(first: Statement, second: Statement): Promise<[A[], B[]]>
  write<Row extends object>(...statements: Statement[]): Promise<Row[][]>
  /** Rejects where a write would not be taken now: the database is read-only, has no room, or is away. */
  checkWritable(): Promise<void>
  /** Whether reads or writes have met damaged data, a disk that fails or is full. What does not meet it is served. */
  hasFaults(): boolean
  /** Lets what was asked before end, then closes. What is asked later is refused. */
  close(): Promise<void>
}

/** Is told the time that each operation took, waiting included. */
export type Observe = (operation: 'read' | 'write', ms: number) => void

/** The value of `column` in the first row that the statement at index `statement` of this batch returned. */
export function rowOf(statement: number, column: string): RowReference {
  return new RowReference(statement, column)
}

export type ConstraintKind = 'unique' | 'foreign_key' | 'not_null' | 'check'

/** A statement broke a rule of the schema. Nothing of its batch was kept. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
  readonly kind: ConstraintKind

  constructor(kind: ConstraintKind, options?: ErrorOptions) {
    super(`a ${kind.replace('_', ' ')} constraint was broken`, options)
    this.kind = kind
  }
}
