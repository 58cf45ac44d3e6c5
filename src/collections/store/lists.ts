/** Lists of a collection: what clients ask for, and the statements that answer it. */

import { lowerByCodePoint } from '../../core/text.ts'
import type { Database, Dialect, Value } from '../../platform/database/database.ts'
import { pageOf } from '../../platform/http/paging.ts'
import { readListCursor } from '../../platform/listing/list-cursor.ts'
import type { FieldType, Position, Sort } from '../../platform/listing/list-definition.ts'
import { Params } from '../../platform/listing/list-params.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { comparedTypeOf, type Described, type DescribedField, valuesOf } from '../declare/describe.ts'
import type { Condition } from '../rules/sql.ts'
import type { RulePrincipal } from '../rules/values.ts'
import { castTo, hasKey, itemTypeOf, keyColumnOf, listTableOf, quote, sortExpression } from '../schema/tables.ts'
import type { CollectionStatements } from './statements.ts'
import { readFilter, wrongFilter } from './values.ts'

export const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const
export type Operator = keyof typeof operators

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

/** Of GraphQL, which has no word for it among the values. */
export const isNotNull = 'isNotNull'

interface Filter {
  field: DescribedField
  operator: Operator | typeof isNotNull | undefined
  values: readonly Value[]
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
const maxCounted = 10_000

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

export interface ListsDeps {
  db: Database
  collection: Described
  statements: CollectionStatements
}

export function createLists({ db, collection, statements }: ListsDeps) {
  const { dialect } = db
  const table = `${quote(collection.table)} AS target`

  function conditionsOf(
    request: ListRequest,
    principal: RulePrincipal | undefined,
    params: Params,
  ): string[] | undefined {
    const conditions = [statements.readable(principal, params), ...requested(request, principal, params)]
    if (conditions.includes(false)) return undefined
    return ['target.deleted_at IS NULL', ...conditions.filter((each) => typeof each === 'string')]
  }

  /** A field that may be read in some rows finds only those. */
  function requested(
    { filters, q }: Pick<ListRequest, 'filters' | 'q'>,
    principal: RulePrincipal | undefined,
    params: Params,
  ): Condition[] {
    return [
      ...filters.flatMap((filter) => {
        const { readable } = filter.field.definition.options
        const rule = readable ? [statements.ruleOf(readable, principal, params)] : []
        return [...rule, writeFilter(filter, { collection, dialect, params })]
      }),
      ...(q === undefined ? [] : [writeSearch(q, collection, params)]),
    ]
  }

  function pageSql(request: ListRequest, principal: RulePrincipal | undefined) {
    const params = new Params()
    const conditions = conditionsOf(request, principal, params)
    if (!conditions) return undefined
    const { sort, position, skip, limit } = request
    const field = collection.fields.get(sort.field) as DescribedField
    const column = sortExpression(collection, field, dialect)
    const isDescending = sort.isDescending !== (position?.isBefore ?? false)
    const flags = statements.readableFlags(principal, params)
    const arms = (position ? writeAfter(position, { field, column, isDescending }, params) : ['']).map(
      (after) =>
        `SELECT ${statements.returned}${flags}, ${column} AS list_value FROM ${table}
        WHERE ${[...conditions, ...(after === '' ? [] : [after])].join(' AND ')}`,
    )
    const direction = isDescending ? 'DESC' : 'ASC'
    const range = `LIMIT ${params.add(limit + 1)} OFFSET ${params.add(skip)}`
    return {
      sql: `${arms.join(' UNION ALL ')} ORDER BY list_value ${direction}, id ${direction} ${range}`,
      params: params.values,
    }
  }

  /** One part or two: SQLite looks up only the first column of a pair in an index. It merges the parts as it reads. */
  function writeAfter(
    { value, id }: Position,
    { field, column, isDescending }: { field: DescribedField; column: string; isDescending: boolean },
    params: Params,
  ): string[] {
    const sign = isDescending ? '<' : '>'
    if (field.name === 'id') return [`target.id ${sign} ${params.add(id)}`]
    const at = castTo(field, params.add(value), dialect)
    const beyond = params.add(id)
    if (dialect === 'postgres') return [`(${column}, target.id) ${sign} (${at}, ${beyond})`]
    return [`${column} = ${at} AND target.id ${sign} ${beyond}`, `${column} ${sign} ${at}`]
  }

  async function count(request: ListRequest, principal: RulePrincipal | undefined): Promise<number | null> {
    const params = new Params()
    if (request.isCounted) {
      const conditions = conditionsOf(request, principal, params)
      if (!conditions) return 0
      const sql = `SELECT count(*) AS found FROM ${table} WHERE ${conditions.join(' AND ')}`
      const [row] = await db.scan<{ found: number }>(sql, params.values)
      return row?.found ?? 0
    }
    // Of a bounded number of rows that the reader may see: others must not make a difference.
    const { filters } = request
    const equal = filters.filter(({ operator }) => operator === undefined)
    const rest = { ...request, filters: filters.filter((filter) => !equal.includes(filter)) }
    const others = requested(rest, principal, params)
    const walked = conditionsOf({ ...request, filters: equal, q: undefined }, principal, params)
    if (!walked || others.includes(false)) return 0
    const passes = others.filter((each) => typeof each === 'string').join(' AND ') || 'TRUE'
    const sql = `SELECT count(*) AS walked, count(*) FILTER (WHERE ${passes}) AS found
      FROM (SELECT * FROM ${table} WHERE ${walked.join(' AND ')} LIMIT ${maxCounted + 1}) AS target`
    const [row] = await db.scan<{ walked: number; found: number }>(sql, params.values)
    return row && row.walked <= maxCounted ? row.found : null
  }

  return {
    async page(request: ListRequest, principal: RulePrincipal | undefined): Promise<ListedPage> {
      const statement = pageSql(request, principal)
      if (!statement) return { rows: [], total: 0, next: undefined, previous: undefined }
      const [rows, total] = await Promise.all([
        db.scan<Record<string, unknown>>(statement.sql, statement.params),
        count(request, principal),
      ])
      const { position, limit, skip } = request
      const isBefore = position?.isBefore ?? false
      const type = comparedTypeOf(collection.fields.get(request.sort.field) as DescribedField)
      const positionOf = (row: Readonly<Record<string, unknown>>, isBefore: boolean): Position => ({
        // SQLite does not know that the result of an expression is a boolean.
        value: (type === 'boolean' ? Boolean(row.list_value) : row.list_value) as Position['value'],
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
      return { rows: kept, total, next: isBefore ? back : onward, previous: isBefore ? onward : back }
    },
  }
}

export type Lists = ReturnType<typeof createLists>

interface FilterPlace {
  collection: Described
  dialect: Dialect
  params: Params
}

function writeFilter({ field, operator, values }: Filter, { collection, dialect, params }: FilterPlace): string {
  const isList = field.kind === 'list'
  const add = (value: Value) => {
    if (!isList) return castTo(field, params.add(value), dialect)
    return `CAST(${params.add(value)} AS ${itemTypeOf(field, dialect)})`
  }
  const some = values.filter((value) => value !== null)
  const isNullToo = some.length < values.length
  if (isList) {
    const found = `EXISTS (SELECT 1 FROM ${listTableOf(collection, field)} item WHERE item.row_id = target.id
      AND item.value IN (${some.map(add).join(', ')}))`
    const empty = `target.${quote(field.name)} = '[]'`
    if (some.length === 0) return empty
    return isNullToo ? `(${found} OR ${empty})` : found
  }
  const column = `target.${quote(field.name)}`
  if (operator === isNotNull) return `${column} IS NOT NULL`
  if (operator !== undefined) return `${column} ${operators[operator]} ${add(values[0] as Value)}`
  const equal =
    some.length === 1 ? `${column} = ${add(some[0] as Value)}` : `${column} IN (${some.map(add).join(', ')})`
  if (some.length === 0) return `${column} IS NULL`
  return isNullToo ? `(${equal} OR ${column} IS NULL)` : equal
}

/** Both engines have this function; those that find a text have different names. */
function writeSearch(q: string, collection: Described, params: Params): string {
  const text = params.add(q)
  const each = collection.lists.search.map((name) => {
    const field = collection.fields.get(name) as DescribedField
    const column = hasKey(field, collection) ? `target.${quote(keyColumnOf(field))}` : `lower(target.${quote(name)})`
    return `replace(${column}, ${text}, '') <> ${column}`
  })
  return each.length === 1 ? (each[0] as string) : `(${each.join(' OR ')})`
}

/** Whether values of a field may be of several kinds in a list of choices, for the description. */
export function choicesOf(field: DescribedField): readonly string[] | undefined {
  return valuesOf(field.definition).values
}
