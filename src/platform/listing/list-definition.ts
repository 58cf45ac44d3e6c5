/** What a list can be sorted and filtered by. A feature declares it; the query, the plan and the SQL are made from it. */

export type FieldType = 'integer' | 'cents' | 'text' | 'boolean' | 'time'

export interface ListField {
  column: string
  type: FieldType
  isSortable?: boolean
  /** With `range`, one value is a range too. Undefined: it cannot be filtered by. */
  filter?: 'equal' | 'range'
  /** The only values that a filter can have. */
  values?: readonly string[]
}

/** An index of the table: rows with equal values of `equal`, in the order of a field and the id. */
export interface ListIndex {
  equal: readonly string[]
  order: string
  /** Rows with this value of a field are not in it: they are so many that a walk finds them. */
  except?: { field: string; value: string }
}

/** A query parameter that narrows a list to the rows whose text contains it. */
export interface ListSearch {
  parameter: string
  column: string
  /** Converts a term as the column's values are converted. */
  toKey(text: string): string
}

export interface ListDefinition {
  table: string
  /** Which rows there are, such as `deleted_at IS NULL`. All indexes have this condition. */
  condition: string
  /** By the names that clients use. No column to sort by is ever NULL. */
  fields: Readonly<Record<string, ListField>>
  /** One of them for each sortable field. */
  indexes: readonly ListIndex[]
  search?: ListSearch
  defaultSort: Sort
}

export interface Sort {
  field: string
  isDescending: boolean
}

export type FilterValue = string | number | boolean

/** Of one field: `equal` where it can only be that, else inclusive bounds. Of the search: `contains`. */
export interface Filter {
  equal?: FilterValue
  contains?: string
  low?: FilterValue
  high?: FilterValue
}

export type Filters = Readonly<Record<string, Filter>>

/** Where a page begins: after this row, or before it. */
export interface Position {
  value: FilterValue
  id: number
  isBefore: boolean
}

export interface ListQuery {
  sort: Sort
  filters: Filters
  /** Undefined: from the beginning. */
  position: Position | undefined
  /** Rows to leave out. */
  skip: number
  limit: number
  /** Count, however long it takes. */
  isCounted: boolean
}
