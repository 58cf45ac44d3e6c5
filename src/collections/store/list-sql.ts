/**
 * The SQL of a collection's lists. Texts differ by order, bounds, filters and outcome of the rule, so they are few. All of them
 * check by row what the reader asked for and may see; finders and walks only tell which rows are looked at.
 */
import type { Database, Value } from '../../platform/database/database.ts'
import type { Position, Sort } from '../../platform/listing/list-definition.ts'
import { Params } from '../../platform/listing/list-params.ts'
import type { Described, DescribedField } from '../declare/describe.ts'
import { type Finder, type Source, writeAllowed, writeFound } from '../rules/finders.ts'
import type { Condition } from '../rules/sql.ts'
import type { RulePrincipal } from '../rules/values.ts'
import { castTo, hasKey, keyOf, quote, sortExpression } from '../schema/tables.ts'
import { type Filter, writeFilter, writeSearch } from './list-filters.ts'
import type { CollectionStatements } from './statements.ts'

/** What a page is read of. */
export interface ListSelection {
  sort: Sort
  filters: readonly Filter[]
  /** In lower case. */
  q: string | undefined
  principal: RulePrincipal | undefined
}

export interface PageRange {
  position: Position | undefined
  skip: number
  limit: number
}

interface Sql {
  sql: string
  params: Value[]
}

export interface ListSqlDeps {
  db: Pick<Database, 'dialect'>
  collection: Described
  statements: CollectionStatements
}

const live = 'target.deleted_at IS NULL'

export function createListSql({ db: { dialect }, collection, statements }: ListSqlDeps) {
  const table = `${quote(collection.table)} AS target`

  /** What has to hold for each row. Undefined if it holds for none. */
  function writeConditions({ filters, q, principal }: ListSelection, params: Params): string[] | undefined {
    const conditions: Condition[] = [
      statements.readable(principal, params),
      ...filters.flatMap((filter) => {
        // A field that may be read in some rows finds only those.
        const { readable } = filter.field.definition.options
        const rule = readable ? [statements.ruleOf(readable, principal, params)] : []
        return [...rule, writeFilter(filter, { collection, dialect, params, alias: 'target' })]
      }),
      ...(q === undefined ? [] : [writeSearch(q, collection, params)]),
    ]
    return conditions.includes(false) ? undefined : conditions.filter((each) => typeof each === 'string')
  }

  function requireConditions(selection: ListSelection, params: Params): string[] {
    return writeConditions(selection, params) ?? ['FALSE']
  }

  function orderOf({ sort }: ListSelection, position: Position | undefined) {
    const field = collection.fields.get(sort.field) as DescribedField
    const column = sortExpression(collection, field, dialect)
    const isDescending = sort.isDescending !== (position?.isBefore ?? false)
    const direction = isDescending ? 'DESC' : 'ASC'
    const ordering = (value: string, id: string) => `${value} ${direction}, ${id} ${direction}`
    return { field, column, isDescending, ordering }
  }

  type Order = ReturnType<typeof orderOf>

  /** SQLite gives a cast the type that it names, and compares that with an expression, which has none, by no index. */
  function toSortValue(value: Value, field: DescribedField, params: Params): string {
    return dialect === 'sqlite' ? params.add(value) : castTo(field, params.add(value), dialect)
  }

  /** One part or two: SQLite looks up only the first column of a pair in an index. It merges the parts as it reads. */
  function writeAfter({ value, id }: Position, { field, column, isDescending }: Order, params: Params): string[] {
    const sign = isDescending ? '<' : '>'
    if (field.name === 'id') return [`target.id ${sign} ${params.add(id)}`]
    const at = toSortValue(value, field, params)
    const beyond = params.add(id)
    if (dialect === 'postgres') return [`(${column}, target.id) ${sign} (${at}, ${beyond})`]
    return [`${column} = ${at} AND target.id ${sign} ${beyond}`, `${column} ${sign} ${at}`]
  }

  /**
   * The next rows in the order of an index, from the bound of a filter or from the position, whichever is further on. With both,
   * an engine may look up the bound, and read all rows from there to the position.
   */
  function writeWalk(
    { selection, position, by, walked }: Walk,
    { columns, order, params }: { columns: string; order: Order; params: Params },
  ): string {
    const { low, high } = boundsOf(selection, order.field, collection)
    const { column, isDescending } = order
    const [from, to] = isDescending ? [high, low] : [low, high]
    const isFurther =
      position !== undefined && from !== undefined && (isDescending ? from < position.value : from > position.value)
    const after = position && !isFurther ? writeAfter(position, order, params) : []
    const bound = (value: Value, sign: string) => [`${column} ${sign} ${toSortValue(value, order.field, params)}`]
    const conditions = [
      live,
      ...(by ? [by.write(params, 'target')] : []),
      ...(from === undefined || after.length > 0 ? [] : bound(from, isDescending ? '<=' : '>=')),
      ...(to === undefined ? [] : bound(to, isDescending ? '>=' : '<=')),
    ].join(' AND ')
    const arms = (after.length === 0 ? [''] : after).map(
      (each) =>
        `SELECT ${columns}, ${column} AS list__value FROM ${table} WHERE ${conditions}${each && ` AND ${each}`}`,
    )
    const limit = walked === undefined ? '' : ` LIMIT ${walked}`
    return `${arms.join(' UNION ALL ')} ORDER BY ${order.ordering('list__value', 'id')}${limit}`
  }

  /** Only ids and sort values are sorted or walked along; the rows of the page are read afterwards. */
  function writeRows({ selection, skip, limit }: PageSelection, order: Order, params: Params): string {
    const flags = statements.readableFlags(selection.principal, params)
    return `SELECT ${statements.returned}${flags}, list__value FROM page CROSS JOIN ${table} WHERE target.id = page__id
      ORDER BY ${order.ordering('list__value', 'id')} LIMIT ${params.add(limit)} OFFSET ${params.add(skip)}`
  }

  return {
    conditionsOf: (selection: ListSelection) => writeConditions(selection, new Params()),

    /**
     * A page along an index. If the walk ends before the page is full, also where: a row without an id has that as `end__id`, and
     * how many rows were found before. Both in one statement, so that no row can move between its parts unseen.
     */
    walk(walk: Walk & PageSelection): Sql {
      const { selection, position, skip, limit, walked } = walk
      const params = new Params()
      const order = orderOf(selection, position)
      const rest = requireConditions(selection, params)
      const steps = writeWalk(walk, { columns: '*', order, params })
      const where = rest.length === 0 ? '' : ` WHERE ${rest.join(' AND ')}`
      const needed = params.add(skip + limit)
      const page = `page (page__id, list__value) AS MATERIALIZED (
        SELECT target.id, target.list__value FROM (${steps}) AS target${where} LIMIT ${needed})`
      const rows = writeRows(walk, order, params)
      if (walked === undefined) return { sql: `WITH ${page} ${rows}`, params: params.values }
      const sql = `WITH ${page},
        passing AS MATERIALIZED (SELECT count(*) AS end__passed FROM page),
        ending AS MATERIALIZED (SELECT id AS end__id, list__value AS end__value
          FROM (${writeWalk(walk, { columns: 'id', order, params })}) AS target
          WHERE (SELECT end__passed FROM passing) < ${needed}
          ORDER BY ${order.ordering('list__value', 'id')} LIMIT 1 OFFSET ${walked - 1})
        SELECT * FROM passing LEFT JOIN ending ON TRUE LEFT JOIN (${rows}) AS shown ON TRUE
        ORDER BY ${order.ordering('shown.list__value', 'shown.id')}`
      return { sql, params: params.values }
    },

    /** A page of the rows that a finder finds. */
    collect(finder: Finder, page: PageSelection, most: number): Sql {
      const { selection, position, skip, limit } = page
      const params = new Params()
      const order = orderOf(selection, position)
      const found = writeFound(finder, { dialect, params, most })
      const after = position ? [`(${writeAfter(position, order, params).join(' OR ')})`] : []
      const where = ['target.id = found__id', live, ...requireConditions(selection, params), ...after].join(' AND ')
      const sql = `WITH found (found__id) AS MATERIALIZED (${found}), page (page__id, list__value) AS MATERIALIZED (
          SELECT target.id, ${order.column === 'id' ? 'target.id' : order.column} AS list__value
          FROM found CROSS JOIN ${table} WHERE ${where}
          ORDER BY ${order.ordering('list__value', 'target.id')} LIMIT ${params.add(skip + limit)})
        ${writeRows(page, order, params)}`
      return { sql, params: params.values }
    },

    /** How many rows each of these finds, up to a bound: as `found_0` and so on. */
    countFound(finders: readonly Finder[], most: number): Sql {
      const params = new Params()
      const counts = finders.map(
        (finder, i) =>
          `(SELECT count(*) FROM (${writeFound(finder, { dialect, params, most })}) AS counted) AS found_${i}`,
      )
      return { sql: `SELECT ${counts.join(', ')}`, params: params.values }
    },

    /** How many of the rows that a finder finds are in the list. */
    countPassing(finder: Finder, selection: ListSelection, most: number): Sql {
      const params = new Params()
      const found = writeFound(finder, { dialect, params, most })
      const where = ['target.id = found__id', live, ...requireConditions(selection, params)].join(' AND ')
      const sql = `WITH found (found__id) AS MATERIALIZED (${found})
        SELECT count(*) AS found FROM found CROSS JOIN ${table} WHERE ${where}`
      return { sql, params: params.values }
    },

    /** Reads the whole table. */
    countAll(selection: ListSelection): Sql {
      const params = new Params()
      const where = [live, ...requireConditions(selection, params)].join(' AND ')
      return { sql: `SELECT count(*) AS found FROM ${table} WHERE ${where}`, params: params.values }
    },

    /** How many rows the reader may see, up to a bound. */
    countAllowed(finder: Finder, { principal }: ListSelection, most: number): Sql {
      const params = new Params()
      const rule = statements.readable(principal, params) as string
      const allowed = writeAllowed(finder, { rule, of: collection }, { dialect, params, most })
      return { sql: `SELECT count(*) AS found FROM (${allowed}) AS counted`, params: params.values }
    },

    /** Of some rows that the reader may see, how many are in the list. */
    countSome(selection: ListSelection, most: number): Sql {
      const params = new Params()
      const seen = [live, ...requireConditions({ ...selection, filters: [], q: undefined }, params)].join(' AND ')
      const passes = requireConditions(selection, params).join(' AND ') || 'TRUE'
      const sql = `SELECT count(*) AS allowed, count(*) FILTER (WHERE ${passes}) AS found
        FROM (SELECT * FROM ${table} WHERE ${seen} LIMIT ${most}) AS target`
      return { sql, params: params.values }
    },
  }
}

export type ListSql = ReturnType<typeof createListSql>

export interface PageSelection extends PageRange {
  selection: ListSelection
}

export interface Walk {
  selection: ListSelection
  position: Position | undefined
  /** A condition that an index settles in the same order. */
  by: Extract<Source, { kind: 'column' }> | undefined
  /** How many rows are looked at. Undefined if each of them is in the list. */
  walked: number | undefined
}

/** Between which values of the order the rows are that pass the filters. */
function boundsOf(
  { filters }: ListSelection,
  field: DescribedField,
  collection: Described,
): { low?: NonNullable<Value>; high?: NonNullable<Value> } {
  const bounds: { low?: NonNullable<Value>; high?: NonNullable<Value> } = {}
  if (field.name === 'id') return bounds
  for (const { operator, values } of filters.filter((each) => each.field === field)) {
    const [only, ...others] = values
    if (only === undefined || only === null || others.length > 0) continue
    const value = (hasKey(field, collection) ? keyOf(only) : only) as NonNullable<Value>
    const isLow = operator === undefined || operator === 'gt' || operator === 'gte'
    const isHigh = operator === undefined || operator === 'lt' || operator === 'lte'
    if (isLow && (bounds.low === undefined || value > bounds.low)) bounds.low = value
    if (isHigh && (bounds.high === undefined || value < bounds.high)) bounds.high = value
  }
  return bounds
}
