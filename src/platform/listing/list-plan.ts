/** Chooses the indexes that answer a query. */
import type { Filter, Filters, FilterValue, ListDefinition, ListIndex, ListQuery } from './list-definition.ts'

/** An index in the order that is wanted. */
export interface Walk {
  index: ListIndex
  /** The values of the fields of `index.equal`: several walks if a boolean is not filtered by. */
  branches: readonly Readonly<Record<string, FilterValue>>[]
  /** Filters that the index does not settle. */
  rest: readonly string[]
}

/** An index that finds the rows which pass some of the filters, in no order. */
export interface Finder {
  index: ListIndex
  /** The filters that it settles. */
  settles: readonly string[]
}

export function planWalk({ sort, filters }: Pick<ListQuery, 'sort' | 'filters'>, definition: ListDefinition): Walk {
  const fitting = definition.indexes.filter(
    (index) => index.order === sort.field && isUsable(index, filters, definition),
  )
  const [index] = fitting.sort((a, b) => settledBy(b, filters).length - settledBy(a, filters).length)
  if (!index) throw new Error(`no index of ${definition.table} is in the order of ${sort.field}`)
  const settled = settledBy(index, filters)
  return {
    index,
    branches: branchesOf(index, filters),
    rest: Object.keys(filters).filter((field) => !settled.includes(field)),
  }
}

/** Those that settle at least one of `rest`. */
export function planFinders(filters: Filters, rest: readonly string[], definition: ListDefinition): Finder[] {
  const finders = new Map<string, Finder>()
  for (const index of definition.indexes) {
    const settles = isUsable(index, filters, definition) ? settledBy(index, filters) : []
    if (settles.some((field) => rest.includes(field))) finders.set(settles.toSorted().join(), { index, settles })
  }
  return [...finders.values()]
}

/** Whether each field before the last has one value or is a boolean, which has two, and all such rows are in it. */
function isUsable({ equal, except }: ListIndex, filters: Filters, { fields }: ListDefinition): boolean {
  if (except && filters[except.field]?.equal === except.value) return false
  return equal.every((field) => filters[field]?.equal !== undefined || fields[field]?.type === 'boolean')
}

function settledBy({ equal, order }: ListIndex, filters: Filters): string[] {
  const isRange = filters[order] !== undefined && (filters[order] as Filter).equal === undefined
  return [...equal.filter((field) => filters[field] !== undefined), ...(isRange ? [order] : [])]
}

function branchesOf({ equal }: ListIndex, filters: Filters): Record<string, FilterValue>[] {
  let branches: Record<string, FilterValue>[] = [{}]
  for (const field of equal) {
    const given = filters[field]?.equal
    const values = given === undefined ? [true, false] : [given]
    branches = branches.flatMap((branch) => values.map((value) => ({ ...branch, [field]: value })))
  }
  return branches
}
