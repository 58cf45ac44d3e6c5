/** Chooses the indexes that answer a query. */
import type { Filter, Filters, FilterValue, ListDefinition, ListIndex, ListQuery, Sort } from './list-definition.ts'
import type { Params } from './list-params.ts'

/** An index in the order that is wanted. */
export interface Walk {
  index: ListIndex
  /** The values of the fields of `index.equal`: several walks if a boolean is not filtered by. */
  branches: readonly Readonly<Record<string, FilterValue>>[]
  /** Filters that the index does not settle. */
  rest: readonly string[]
}

/** An index that finds the rows which pass some of the filters, in no order. */
export type Finder = IndexFinder | TextFinder

export interface IndexFinder {
  index: ListIndex
  /** The filters that it settles. */
  settles: readonly string[]
}

/** An index outside the definition, which finds candidates: also rows that do not contain the text, or are not in the list. */
export interface TextFinder {
  /** Selects at most `most` rows. */
  writeCondition(params: Params, most: number): string
  settles: readonly never[]
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

/** The order in which rows are counted: of an index that settles the filters, or at least a value that is not a boolean. */
export function planCount(filters: Filters, definition: ListDefinition): { sort: Sort; walk: Walk } {
  const { fields, defaultSort } = definition
  const sortable = Object.keys(fields).filter((field) => fields[field]?.isSortable)
  const plans = [defaultSort.field, ...sortable].map((field) => {
    const sort = { field, isDescending: false }
    return { sort, walk: planWalk({ sort, filters }, definition) }
  })
  const isNarrow = ({ walk }: { walk: Walk }) =>
    walk.index.equal.some((field) => filters[field] !== undefined && fields[field]?.type !== 'boolean')
  // No walk settles a search.
  const isSettled = ({ walk }: { walk: Walk }) => walk.rest.every((field) => filters[field]?.contains !== undefined)
  const plan = plans.find(isSettled) ?? plans.find(isNarrow) ?? plans[0]
  return plan as { sort: Sort; walk: Walk }
}

/** Those that settle at least one of `rest`. */
export function planFinders(filters: Filters, rest: readonly string[], definition: ListDefinition): IndexFinder[] {
  const finders = new Map<string, IndexFinder>()
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
