/** Lists of a collection: what clients ask for, and the statements that answer it. */

import { lowerByCodePoint } from '../../core/text.ts'
import type { Database, Value } from '../../platform/database/database.ts'
import { pageOf } from '../../platform/http/paging.ts'
import { readListCursor } from '../../platform/listing/list-cursor.ts'
import type { FieldType, Position, Sort } from '../../platform/listing/list-definition.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { comparedTypeOf, type Described, type DescribedField } from '../declare/describe.ts'
import { type Finder, findByRule, type Source } from '../rules/finders.ts'
import { decideRule, type RulePrincipal } from '../rules/values.ts'
import { type Filter, findByFilters, isNotNull, type Operator, operators } from './list-filters.ts'
import { createListSql, type ListSelection, type ListSqlDeps } from './list-sql.ts'
import { readFilter, wrongFilter } from './values.ts'

/** A filter as a client writes it: one of some values, or a bound. */
export interface GivenFilter {
  /** What the client calls it, for problems. */
  label: string
  field: string
  operator?: string | undefined
  /** `null` is among them for rows without a value. */
  values: readonly (string | null)[]
}

export interface GivenList {
  sort?: unknown
  filters: readonly GivenFilter[]
  q?: unknown
  cursor?: unknown
  page?: unknown
  per_page?: unknown
  count?: unknown
}

export interface ListRequest {
  sort: Sort
  filters: readonly Filter[]
  /** In lower case. */
  q: string | undefined
  position: Position | undefined
  skip: number
  limit: number
  isCounted: boolean
}

export interface ListedPage {
  rows: readonly Record<string, unknown>[]
  /** Null if counting would take long. */
  total: number | null
  next: Position | undefined
  previous: Position | undefined
}

const maxSkipped = 2000
const maxOneOf = 50
const maxFilters = 20

/** Only times and numbers have bounds. */
export function hasBounds(field: DescribedField): boolean {
  return ['number', 'scaled', 'time', 'day'].includes(comparedTypeOf(field) ?? '') && field.kind !== 'list'
}

/** What `sort` may name. */
export function sortsOf({ lists, fields }: Described): DescribedField[] {
  const names = ['id', ...lists.sort.filter((name) => name !== 'id')]
  return names.map((name) => fields.get(name) as DescribedField)
}

export function filtersOf({ lists, fields }: Described): DescribedField[] {
  return lists.filter.map((name) => fields.get(name) as DescribedField)
}

/** Throws 422 with all that is wrong. */
export function readList(given: GivenList, collection: Described): ListRequest {
  const problems: Record<string, string[]> = {}
  const sort = readSort(given.sort, collection, problems)
  const filters = readFilters(given.filters, collection, problems)
  const q = readSearch(given.q, collection, problems)
  const position = problems.sort ? undefined : readPosition(given.cursor, sort, { collection, problems })
  const { page, perPage } = pageOf(given)
  const skip = (page - 1) * perPage
  if (position && page > 1) problems.page = ['Cannot be combined with cursor']
  if (skip > maxSkipped) problems.page = [`Must be within the first ${maxSkipped} items; go on by cursor`]
  const { count } = given
  if (count !== undefined && count !== '' && count !== 'exact') problems.count = ['Must be exact']
  if (Object.keys(problems).length > 0) throw validationFailed(problems)
  return { sort, filters, q, position, skip, limit: perPage, isCounted: count === 'exact' }
}

type Found = Record<string, string[]>

function readSort(given: unknown, collection: Described, problems: Found): Sort {
  const text = given === undefined || given === null || given === '' ? 'id' : String(given)
  const isDescending = text.startsWith('-')
  const field = isDescending ? text.slice(1) : text
  const known = sortsOf(collection).map(({ name }) => name)
  if (!known.includes(field) || Array.isArray(given)) {
    problems.sort = [`Must be one of ${known.join(', ')}, with - in front for descending`]
  }
  return { field, isDescending }
}

function readFilters(given: readonly GivenFilter[], collection: Described, problems: Found): Filter[] {
  if (given.length > maxFilters) problems.filter = [`Must be at most ${maxFilters}`]
  const seen = new Set<string>()
  return given.slice(0, maxFilters).flatMap(({ label, field: name, operator, values }): Filter[] => {
    const field = filtersOf(collection).find((each) => each.name === name)
    const refuse = (reason: string) => {
      problems[label.slice(0, 80)] = [reason]
      return []
    }
    if (!field) return refuse(`Unknown filter; there are ${collection.lists.filter.join(', ') || 'none'}`)
    if (seen.has(`${name} ${operator ?? ''}`)) return refuse('Must be given once')
    seen.add(`${name} ${operator ?? ''}`)
    if (operator === isNotNull && values.length === 0) return [{ field, operator, values: [] }]
    if (operator !== undefined && !hasBounds(field)) return refuse('Takes no operator')
    if (operator !== undefined && !Object.hasOwn(operators, operator)) {
      return refuse(`The operator must be one of ${Object.keys(operators).join(', ')}`)
    }
    if (values.length === 0) return refuse('Must be given once')
    if (values.length > maxOneOf) return refuse(`Must be at most ${maxOneOf} values`)
    const read = values.map((value) => (value === null ? null : readFilter(value, field)))
    const isBound = operator !== undefined
    if (read.includes(undefined) || (isBound && (read.length > 1 || read[0] === null))) {
      return refuse(wrongFilter(field))
    }
    return [{ field, operator: operator as Operator | undefined, values: read as Value[] }]
  })
}

function readSearch(given: unknown, { lists }: Described, problems: Found): string | undefined {
  if (given === undefined || given === null || (typeof given === 'string' && given.trim() === '')) return undefined
  if (lists.search.length === 0) problems.q = ['Cannot be searched']
  else if (typeof given !== 'string') problems.q = ['Must be given once']
  else if (given.length > 255 || given.includes('\0') || !given.isWellFormed())
    problems.q = ['Must be at most 255 characters of text']
  else return lowerByCodePoint(given)
  return undefined
}

const cursorTypes: Readonly<Record<string, FieldType>> = {
  number: 'integer',
  scaled: 'cents',
  user: 'integer',
  row: 'integer',
  boolean: 'boolean',
  time: 'time',
}

function readPosition(
  given: unknown,
  sort: Sort,
  { collection, problems }: { collection: Described; problems: Found },
): Position | undefined {
  if (given === undefined || given === null || given === '') return undefined
  const type = cursorTypes[comparedTypeOf(collection.fields.get(sort.field) as DescribedField) ?? ''] ?? 'text'
  const position = typeof given === 'string' ? readListCursor(given, sort, type) : undefined
  if (!position) problems.cursor = ['Must be a cursor of this list in the same order']
  return position
}

export interface ListsDeps extends ListSqlDeps {
  db: Pick<Database, 'dialect' | 'all' | 'scan'>
}

/** Of rows that the reader may see: others must not make a difference. */
const maxCounted = 10_000
/** The same where the rule depends on the row, and each row is looked up. */
const maxAllowed = 1000
/** Sorting and walking are tried in turns with more rows each time, so that a page takes about as long as the better of both. */
const growth = 8
const walkedPerFound = 4
/** Rows in the order of an index, short enough for the event loop. */
const maxQuickRead = 250
/** Beyond that, counting reads the whole table. */
const maxFound = 64 * maxAllowed

interface Plan {
  selection: ListSelection
  /** Whether every row that is not deleted is in the list. */
  isWhole: boolean
  /** Whether the reader may see all rows. */
  seesAll: boolean
  byRule: Finder | undefined
  finders: readonly Finder[]
  /** By how many rows these find, up to `maxAllowed` and one more. */
  found: FoundRows
}

interface FoundRows {
  /** The finder with the fewest rows. */
  fewest: Finder | undefined
  /** By each finder, up to the bound and one more. */
  counts: readonly number[]
}

type ListRow = Record<string, unknown>

export function createLists({ db, collection, statements }: ListsDeps) {
  const { dialect } = db
  const sql = createListSql({ db, collection, statements })
  const read = <Row extends object = ListRow>(statement: { sql: string; params: Value[] }) =>
    db.scan<Row>(statement.sql, statement.params)

  async function plan(selection: ListSelection): Promise<Plan | undefined> {
    const conditions = sql.conditionsOf(selection)
    if (!conditions) return undefined
    const { principal, filters } = selection
    const rule = collection.rules?.read
    const seesAll = !principal || !rule || decideRule(rule, principal) === true
    const byRule = seesAll ? undefined : findByRule(rule, collection, { dialect, principal })
    const finders = [...(byRule ? [byRule] : []), ...findByFilters(filters, { collection, dialect })]
    const found = await find(finders, maxAllowed)
    return { selection, isWhole: conditions.length === 0, seesAll, byRule, finders, found }
  }

  async function find(finders: readonly Finder[], most: number): Promise<FoundRows> {
    if (finders.length === 0) return { fewest: undefined, counts: [] }
    const [row = {}] = await read<Record<string, number>>(sql.countFound(finders, most + 1))
    const counts = finders.map((_, i) => row[`found_${i}`] as number)
    const least = Math.min(...counts)
    return { fewest: least <= most ? finders[counts.indexOf(least)] : undefined, counts }
  }

  /** One more than the page has, to know whether there are more. */
  async function readRows({ selection, isWhole, finders, found }: Plan, request: ListRequest): Promise<ListRow[]> {
    const rows: ListRow[] = []
    const needed = request.limit + 1
    let { position, skip } = request
    const by = selection.sort.field === 'id' ? finders.flatMap(orderedById)[0] : undefined
    if (isWhole) {
      const walk = sql.walk({ selection, position, skip, limit: needed, by, walked: undefined })
      return skip + needed <= maxQuickRead ? db.all(walk.sql, walk.params) : read(walk)
    }
    for (let most = maxAllowed; ; most *= growth) {
      const range = { selection, position, skip, limit: needed - rows.length }
      const { fewest } = most === maxAllowed ? found : await find(finders, most)
      if (fewest) return [...rows, ...(await read(sql.collect(fewest, range, 2 * most)))]
      const step = await read(sql.walk({ ...range, by, walked: walkedPerFound * most }))
      rows.push(...step.filter(({ id }) => id !== null))
      const [end] = step as { end__id: number | null; end__value: Position['value']; end__passed: number }[]
      if (!end || end.end__id === null) return rows
      position = { value: end.end__value, id: end.end__id, isBefore: position?.isBefore ?? false }
      skip = Math.max(0, skip - end.end__passed)
    }
  }

  /** Null if that would take long, which depends only on rows that the reader may see. */
  async function total(plan: Plan, { isCounted }: ListRequest): Promise<number | null> {
    const { selection, isWhole, seesAll, byRule, finders, found } = plan
    if (isCounted) {
      const { fewest } = await find(finders, maxFound)
      return fewest ? countPassing(fewest, selection, maxFound) : count(sql.countAll(selection))
    }
    if (seesAll) {
      const { fewest, counts } = await find([everything, ...finders], maxCounted)
      if (!fewest) return null
      return isWhole ? (counts[0] as number) : countPassing(fewest, selection, maxCounted)
    }
    if (!byRule) return countSome(selection)
    const allowed = byRule.isExact
      ? (found.counts[0] as number)
      : await count(sql.countAllowed(byRule, selection, maxAllowed + 1))
    if (allowed > maxAllowed) return null
    if (selection.filters.length === 0 && selection.q === undefined) return allowed
    return byRule.isExact ? countPassing(byRule, selection, maxAllowed) : countSome(selection)
  }

  async function count(statement: { sql: string; params: Value[] }): Promise<number> {
    const [row] = await read<{ found: number }>(statement)
    return row?.found ?? 0
  }

  function countPassing(finder: Finder, selection: ListSelection, most: number): Promise<number> {
    return count(sql.countPassing(finder, selection, 2 * most))
  }

  async function countSome(selection: ListSelection): Promise<number | null> {
    const [row] = await read<{ allowed: number; found: number }>(sql.countSome(selection, maxAllowed + 1))
    return row && row.allowed <= maxAllowed ? row.found : null
  }

  const everything: Finder = {
    sources: [{ kind: 'column', of: collection, column: 'id', isEqual: false, write: () => 'TRUE' }],
    isExact: true,
  }

  return {
    async page(request: ListRequest, principal: RulePrincipal | undefined): Promise<ListedPage> {
      const { sort, filters, q, position, limit, skip } = request
      const planned = await plan({ sort, filters, q, principal })
      if (!planned) return { rows: [], total: 0, next: undefined, previous: undefined }
      const reading = readRows(planned, request)
      // A first page that holds everything is its own count, and is known at once where nothing has to be looked for.
      const isAll = planned.isWhole && position === undefined && skip === 0 && (await reading).length <= limit
      const [rows, counted] = await Promise.all([reading, isAll ? null : total(planned, request)])
      const isBefore = position?.isBefore ?? false
      const type = comparedTypeOf(collection.fields.get(sort.field) as DescribedField)
      const positionOf = (row: Readonly<ListRow>, isBefore: boolean): Position => ({
        // SQLite does not know that the result of an expression is a boolean.
        value: (type === 'boolean' ? Boolean(row.list__value) : row.list__value) as Position['value'],
        id: row.id as number,
        isBefore,
      })
      const isFull = rows.length > limit
      const kept = isFull ? rows.slice(0, limit) : rows
      const [first, last] = [kept[0], kept.at(-1)]
      const onward = isFull && last ? positionOf(last, isBefore) : undefined
      const isFirst = position === undefined && skip === 0
      const back = isFirst
        ? undefined
        : first
          ? positionOf(first, !isBefore)
          : position && { ...position, isBefore: !isBefore }
      if (isBefore) kept.reverse()
      return {
        rows: kept,
        total: counted ?? (isFirst && !isFull ? rows.length : null),
        next: isBefore ? back : onward,
        previous: isBefore ? onward : back,
      }
    },
  }
}

export type Lists = ReturnType<typeof createLists>

/** A condition whose index has the rows in order of ids. */
function orderedById({ sources }: Finder): Extract<Source, { kind: 'column' }>[] {
  const [only, ...others] = sources
  return only?.kind === 'column' && only.isEqual && others.length === 0 ? [only] : []
}
