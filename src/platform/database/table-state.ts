/** A table to look at, and what was found. */
export interface TableQuestion {
  table: string
  /** One text for both engines. Text, integers and nulls only: integers may come as text. */
  sql: string
}

export interface TableState<Row> {
  /** Undefined if there is no such table. */
  rows: readonly Row[] | undefined
  databaseBytes: number
}
