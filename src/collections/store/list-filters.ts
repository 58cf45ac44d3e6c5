/** Filters and search of a collection's lists, as conditions of SQL and as finders. */
import type { Dialect, Value } from '../../platform/database/database.ts'
import type { Params } from '../../platform/listing/list-params.ts'
import type { Described, DescribedField } from '../declare/describe.ts'
import type { Finder, Source } from '../rules/finders.ts'
import { castTo, hasKey, isFoundByIndex, itemTypeOf, keyColumnOf, listTableOf, quote } from '../schema/tables.ts'

export const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const
export type Operator = keyof typeof operators

/** Of GraphQL, which has no word for it among the values. */
export const isNotNull = 'isNotNull'

export interface Filter {
  field: DescribedField
  operator: Operator | typeof isNotNull | undefined
  values: readonly Value[]
}

interface FilterPlace {
  collection: Described
  dialect: Dialect
  params: Params
  /** Of the table in the statement. */
  alias: string
}

export function writeFilter({ field, operator, values }: Filter, place: FilterPlace): string {
  const { collection, dialect, params, alias } = place
  const some = values.filter((value) => value !== null)
  const isNullToo = some.length < values.length
  if (field.kind === 'list') {
    const items = some.map((value) => writeItem(value, field, place)).join(', ')
    const found = `EXISTS (SELECT 1 FROM ${listTableOf(collection, field)} item WHERE item.row_id = ${alias}.id
      AND item.value IN (${items}))`
    const empty = `${alias}.${quote(field.name)} = '[]'`
    if (some.length === 0) return empty
    return isNullToo ? `(${found} OR ${empty})` : found
  }
  const add = (value: Value) => castTo(field, params.add(value), dialect)
  const column = `${alias}.${quote(field.name)}`
  if (operator === isNotNull) return `${column} IS NOT NULL`
  if (operator !== undefined) return `${column} ${operators[operator]} ${add(values[0] as Value)}`
  const equal =
    some.length === 1 ? `${column} = ${add(some[0] as Value)}` : `${column} IN (${some.map(add).join(', ')})`
  if (some.length === 0) return `${column} IS NULL`
  return isNullToo ? `(${equal} OR ${column} IS NULL)` : equal
}

function writeItem(value: Value, field: DescribedField, { params, dialect }: FilterPlace): string {
  return `CAST(${params.add(value)} AS ${itemTypeOf(field, dialect)})`
}

/** Both engines have this function; those that find a text have different names. */
export function writeSearch(q: string, collection: Described, params: Params): string {
  const text = params.add(q)
  const each = collection.lists.search.map((name) => {
    const field = collection.fields.get(name) as DescribedField
    const column = hasKey(field, collection) ? `target.${quote(keyColumnOf(field))}` : `lower(target.${quote(name)})`
    return `replace(${column}, ${text}, '') <> ${column}`
  })
  return each.length === 1 ? (each[0] as string) : `(${each.join(' OR ')})`
}

interface FindersPlace {
  collection: Described
  dialect: Dialect
}

/** One for each field that an index finds, with all its bounds. */
export function findByFilters(filters: readonly Filter[], place: FindersPlace): Finder[] {
  const byField = Map.groupBy(filters, ({ field }) => field)
  return [...byField].flatMap(([field, each]) => {
    const sources = field.kind === 'list' ? findByItems(each, place) : findByColumn(field, each, place)
    return sources ? [{ sources, isExact: true }] : []
  })
}

function findByItems([filter, ...others]: readonly Filter[], place: FindersPlace): Source[] | undefined {
  if (!filter || others.length > 0 || filter.values.includes(null)) return undefined
  const { field, values } = filter
  const { collection, dialect } = place
  const items = listTableOf(collection, field)
  return values.map((value) => ({
    kind: 'items',
    of: collection,
    items,
    write: (params, alias) => `${alias}.value = ${writeItem(value, field, { collection, dialect, params, alias })}`,
  }))
}

function findByColumn(
  field: DescribedField,
  filters: readonly Filter[],
  { collection, dialect }: FindersPlace,
): Source[] | undefined {
  if (!isFoundByIndex(field, collection)) return undefined
  const found = filters.filter(({ operator }) => operator !== isNotNull)
  const [first] = found
  if (!first) return undefined
  const sourceOf = (parts: readonly Filter[]): Source => ({
    kind: 'column',
    of: collection,
    column: field.name,
    isEqual: parts.some(({ operator, values }) => operator === undefined && values.length === 1),
    write: (params, alias) =>
      parts.map((part) => writeFilter(part, { collection, dialect, params, alias })).join(' AND '),
  })
  if (found.length > 1 || !first.values.includes(null)) return [sourceOf(found)]
  const some = first.values.filter((value) => value !== null)
  return [[null], some].filter((values) => values.length > 0).map((values) => sourceOf([{ ...first, values }]))
}
