import type { Value } from '../database/database.ts'
import type { FilterValue } from './list-definition.ts'

/** Collects parameters while a text is written. */
export class Params {
  readonly values: Value[] = []

  add(value: Value): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** To compare a column with. Given a number beyond the type of the column, PostgreSQL would fail. */
  addCompared(value: FilterValue): string {
    return typeof value === 'number' ? `CAST(${this.add(value)} AS BIGINT)` : this.add(value)
  }
}
