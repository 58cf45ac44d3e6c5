/**
 * `?sort=-price&filter[category]=home&filter[price][gte]=10&cursor=…`. What is not understood is refused: a filter that was
 * ignored would show what was not asked for.
 */
import { pageOf } from '../http/paging.ts'
import { validationFailed } from '../validation/body-validation.ts'
import { type Operator, operators, readFilterValue, toBound, wrongValue } from './filter-values.ts'
import { readListCursor } from './list-cursor.ts'
import type { Filter, Filters, FilterValue, ListDefinition, ListField, ListQuery, Sort } from './list-definition.ts'

/** Rows before a page are walked over, so a page further on has to be reached by cursor. */
const maxSkipped = 2000
/** Filters are checked on rows, which takes longer than to walk over an index. */
const maxSkippedOfFiltered = 500

const filterName = /^filter\[([a-z_]{1,40})\](?:\[([a-z]{1,10})\])?$/

/** Blank counts as absent. */
export function asksForList({ sort = '', cursor = '', ...rest }: Readonly<Record<string, unknown>>): boolean {
  return sort !== '' || cursor !== '' || Object.keys(rest).some(isFilterName)
}

function isFilterName(name: string): boolean {
  return name === 'filter' || name.startsWith('filter[')
}

/** Throws 422 with all that is wrong. */
export function readListQuery(query: Readonly<Record<string, unknown>>, definition: ListDefinition): ListQuery {
  const problems: Record<string, string[]> = {}
  const sort = readSort(query.sort, definition, problems)
  const filters = { ...readFilters(query, definition, problems), ...readSearch(query, definition, problems) }
  const position = readPosition(query.cursor, { sort, definition }, problems)
  const { page, perPage } = pageOf(query)
  const skip = (page - 1) * perPage
  if (position && page > 1) problems.page = ['Cannot be combined with cursor']
  const most = Object.keys(filters).length === 0 ? maxSkipped : maxSkippedOfFiltered
  if (skip > most) problems.page = [`Must be within the first ${most} items; go on by cursor`]
  if (query.count !== undefined && query.count !== '' && query.count !== 'exact') problems.count = ['Must be exact']
  if (Object.keys(problems).length > 0) throw validationFailed(problems)
  return { sort, filters, position, skip, limit: perPage, isCounted: query.count === 'exact' }
}

function readSort(given: unknown, { fields, defaultSort }: ListDefinition, problems: Record<string, string[]>): Sort {
  if (given === undefined || given === '') return defaultSort
  const text = typeof given === 'string' ? given : ''
  const isDescending = text.startsWith('-')
  const field = isDescending ? text.slice(1) : text
  if (isSortable(fields, field)) return { field, isDescending }
  const known = Object.keys(fields).filter((name) => fields[name]?.isSortable)
  problems.sort = [`Must be one of ${known.join(', ')}, with - in front for descending`]
  return defaultSort
}

function isSortable(fields: ListDefinition['fields'], name: string): boolean {
  return Object.hasOwn(fields, name) && fields[name]?.isSortable === true
}

function readPosition(
  given: unknown,
  { sort, definition }: { sort: Sort; definition: ListDefinition },
  problems: Record<string, string[]>,
) {
  if (given === undefined || given === '' || problems.sort) return undefined
  const { type } = definition.fields[sort.field] as ListField
  const position = typeof given === 'string' ? readListCursor(given, sort, type) : undefined
  if (!position) problems.cursor = ['Must be a cursor of this list in the same order']
  return position
}

function readFilters(
  query: Readonly<Record<string, unknown>>,
  { fields }: ListDefinition,
  problems: Record<string, string[]>,
): Filters {
  const filters: Record<string, Filter> = {}
  for (const [name, given] of Object.entries(query)) {
    if (!isFilterName(name)) continue
    const problem = addFilter(filters, { name, given, fields })
    if (problem) problems[name.slice(0, maxNameLength)] = [problem]
  }
  return filters
}

/** Blank counts as absent. */
function readSearch(
  query: Readonly<Record<string, unknown>>,
  { search }: ListDefinition,
  problems: Record<string, string[]>,
): Filters {
  const given = search && query[search.parameter]
  if (!search || given === undefined || (typeof given === 'string' && given.trim() === '')) return {}
  const text = typeof given === 'string' ? readFilterValue(given, 'text') : undefined
  if (typeof text === 'string') return { [search.parameter]: { contains: search.toKey(text) } }
  problems[search.parameter] = [typeof given === 'string' ? wrongValue.text : 'Must be given once']
  return {}
}

const maxNameLength = 80

/** Returns what is wrong with it. */
function addFilter(
  filters: Record<string, Filter>,
  { name, given, fields }: { name: string; given: unknown; fields: ListDefinition['fields'] },
): string | undefined {
  const [, field = '', operator] = filterName.exec(name) ?? []
  const known = Object.hasOwn(fields, field) ? fields[field] : undefined
  if (!known?.filter) {
    return `Unknown filter; there are ${Object.keys(fields)
      .filter((each) => fields[each]?.filter)
      .join(', ')}`
  }
  if (operator !== undefined && known.filter === 'equal') return 'Takes no operator'
  if (operator !== undefined && !isOperator(operator)) return `The operator must be one of ${operators.join(', ')}`
  if (typeof given !== 'string') return 'Must be given once'
  const value = readFilterValue(given, known.type)
  if (value === undefined) return wrongValue[known.type]
  if (known.values && !known.values.includes(given)) return `Must be one of ${known.values.join(', ')}`
  const before = filters[field] ?? {}
  const added = toFilter(operator, value, known)
  if (Object.keys(added).some((side) => side in before)) return 'Cannot be combined with the other one of this field'
  filters[field] = { ...before, ...added }
  return undefined
}

function toFilter(operator: Operator | undefined, value: FilterValue, { filter }: ListField): Filter {
  if (operator !== undefined) return toBound(operator, value)
  return filter === 'equal' ? { equal: value } : { low: value, high: value }
}

function isOperator(text: string): text is Operator {
  return (operators as readonly string[]).includes(text)
}
