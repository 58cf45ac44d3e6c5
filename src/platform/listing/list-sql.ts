/** The SQL of sorted lists. Texts differ by order, indexes and which bounds there are, so they are few. */
import type { Dialect, Value } from '../database/database.ts'
import type {
  Filter,
  FilterValue,
  ListDefinition,
  ListField,
  ListIndex,
  ListQuery,
  ListSearch,
  Position,
} from './list-definition.ts'
import { Params } from './list-params.ts'
import type { Finder, Walk } from './list-plan.ts'

export interface Sql {
  sql: string
  params: Value[]
}

export interface Order {
  column: string
  isDescending: boolean
}

/** Of the rows as they are read, which is backwards before a position. */
export function orderOf({ sort, position }: ListQuery, definition: ListDefinition): Order {
  return { column: columnOf(sort.field, definition), isDescending: sort.isDescending !== (position?.isBefore ?? false) }
}

/** The first rows of a walk that pass the rest of the filters. Each has its sort value as `list_value`. */
export function walkSql(
  walk: Walk,
  query: ListQuery,
  { definition, dialect, columns, walked, skip, limit }: PageOptions & { walked: number },
): Sql {
  const params = new Params()
  const order = orderOf(query, definition)
  const steps = writeWalk(params, walk, { query, definition, dialect, walked })
  const rest = writeFilters(params, walk.rest, query, definition)
  const rows = `SELECT id, ${order.column} FROM walked${rest === '' ? '' : ` WHERE ${rest}`}`
  const page = writePage(params, { rows, order, skip, limit })
  const sql = `WITH walked AS MATERIALIZED (${steps}), ${page} ${writeRows(columns, definition.table, order)}`
  return { sql, params: params.values }
}

/** The row at the end of a walk. None if the walk ends before. */
export function walkEndSql(
  walk: Walk,
  query: ListQuery,
  { definition, dialect, walked }: { walked: number } & Lists,
): Sql {
  const params = new Params()
  const order = orderOf(query, definition)
  const steps = writeWalk(params, { ...walk, rest: [] }, { query, definition, dialect, walked })
  const sql = `WITH walked AS MATERIALIZED (${steps}) SELECT id, ${order.column} AS list_value FROM walked
    ORDER BY ${ordering(order)} LIMIT 1 OFFSET ${params.add(walked - 1)}`
  return { sql, params: params.values }
}

export interface Lists {
  definition: ListDefinition
  dialect: Dialect
}

export interface PageOptions extends Lists {
  columns: string
  skip: number
  limit: number
}

/** The rows that a finder finds, `most` at most, filtered and sorted. */
export function findSql(
  finder: Finder,
  query: ListQuery,
  { definition, dialect, columns, skip, limit, most }: PageOptions & { most: number },
): Sql {
  const params = new Params()
  const order = orderOf(query, definition)
  const found = writeFinding(params, finder, { query, definition, most })
  const conditions = [
    writePassing(params, finder, query, definition),
    query.position ? `(${writeAfter(params, order, query.position, dialect).join(' OR ')})` : '',
  ].filter((each) => each !== '')
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''
  const page = writePage(params, { rows: `SELECT id, ${order.column} FROM found${where}`, order, skip, limit })
  const sql = `WITH found AS MATERIALIZED (${found}), ${page} ${writeRows(columns, definition.table, order)}`
  return { sql, params: params.values }
}

interface PageRows {
  rows: string
  order: Order
  skip: number
  limit: number
}

/** As the index says it, so that the planner can tell that it has all these rows. */
export function conditionOf({ except }: ListIndex, definition: ListDefinition): string {
  if (!except) return definition.condition
  return `${definition.condition} AND ${columnOf(except.field, definition)} <> '${except.value}'`
}

/** Only ids and sort values are sorted; the rows of the page are read afterwards. */
function writePage(params: Params, { rows, order, skip, limit }: PageRows): string {
  const range = `LIMIT ${params.add(limit)} OFFSET ${params.add(skip)}`
  return `page (page_id, list_value) AS MATERIALIZED (${rows} ORDER BY ${ordering(order)} ${range})`
}

function writeRows(columns: string, table: string, order: Order): string {
  return `SELECT ${columns}, list_value FROM page JOIN ${table} ON id = page_id
    ORDER BY ${ordering({ ...order, column: 'list_value' })}`
}

/** Joining the rows later, the planner may read the whole table instead. */
function columnsOf({ fields }: ListDefinition): string {
  return [...new Set(['id', ...Object.values(fields).map(({ column }) => column)])].join(', ')
}

/** The conditions that a finder does not settle. */
export function writePassing(params: Params, finder: Finder, query: ListQuery, definition: ListDefinition): string {
  const settles: readonly string[] = finder.settles
  const rest = Object.keys(query.filters).filter((field) => !settles.includes(field))
  const filters = writeFilters(params, rest, query, definition)
  return 'index' in finder ? filters : `is_listed AND ${filters}`
}

export function writeWalk(
  params: Params,
  { index, branches, rest }: Walk,
  { query, definition, dialect, walked }: { query: ListQuery; walked: number } & Lists,
): string {
  const order = orderOf(query, definition)
  const sorted = order.column === 'id' ? 'id' : `id, ${order.column}`
  const columns = rest.length === 0 ? sorted : columnsOf(definition)
  const { range, after } = boundsOf(query.filters[index.order] ?? {}, query.position, order)
  const steps = branches.flatMap((branch) =>
    (after ? writeAfter(params, order, after, dialect) : ['TRUE']).map((position) => {
      const conditions = [
        conditionOf(index, definition),
        ...index.equal.map(
          (field) => `${columnOf(field, definition)} = ${params.addCompared(branch[field] as FilterValue)}`,
        ),
        ...writeRange(params, order.column, range),
        position,
      ]
      return `SELECT ${columns} FROM ${definition.table} WHERE ${conditions.join(' AND ')}`
    }),
  )
  const ordered = `ORDER BY ${ordering(order)} LIMIT ${params.add(walked)}`
  // SQLite merges them as it reads. PostgreSQL might sort all rows, so it is told how many of each are enough.
  if (steps.length === 1 || dialect === 'sqlite') return `${steps.join(' UNION ALL ')} ${ordered}`
  const parts = steps.map((step, i) => `SELECT * FROM (${step} ${ordered}) AS branch_${i}`)
  return `SELECT * FROM (${parts.join(' UNION ALL ')}) AS branches ${ordered}`
}

/**
 * Where a walk begins: at the bound of the filter or at the position, whichever is further on. With both conditions, an engine
 * may look up the bound in the index, and read all rows from there to the position.
 */
function boundsOf(
  range: Filter,
  position: Position | undefined,
  { column, isDescending }: Order,
): { range: Filter; after: Position | undefined } {
  const { low, high, ...rest } = range
  const bound = isDescending ? high : low
  if (!position || bound === undefined) return { range, after: position }
  const at = column === 'id' ? position.id : position.value
  const isBoundFurther = isDescending ? bound < at : bound > at
  if (isBoundFurther) return { range, after: undefined }
  const end = isDescending ? { ...(low !== undefined && { low }) } : { ...(high !== undefined && { high }) }
  return { range: { ...rest, ...end }, after: position }
}

export function writeFinding(
  params: Params,
  finder: Finder,
  { query, definition, most }: { query: ListQuery; definition: ListDefinition; most: number },
): string {
  const { table, condition } = definition
  const limit = `LIMIT ${params.add(most)}`
  if ('index' in finder) {
    const settled = writeSettled(params, finder.index, query, definition)
    const conditions = [conditionOf(finder.index, definition), ...settled].join(' AND ')
    return `SELECT ${columnsOf(definition)} FROM ${table} WHERE ${conditions} ${limit}`
  }
  // The condition of the list is checked outside: the planner might use an index for it instead of the one of the texts.
  const columns = `${columnsOf(definition)}, ${condition} AS is_listed`
  return `SELECT ${columns} FROM ${table} WHERE ${finder.writeCondition(params, most)} ${limit}`
}

/** The conditions of an index. Those of a boolean that is not filtered by are there, so that the index is used. */
export function writeSettled(
  params: Params,
  { equal, order }: ListIndex,
  query: ListQuery,
  definition: ListDefinition,
): string[] {
  const { filters } = query
  const equals = equal.map((field) => {
    const given = filters[field]?.equal
    const column = columnOf(field, definition)
    return given === undefined ? `${column} IN (TRUE, FALSE)` : `${column} = ${params.addCompared(given)}`
  })
  return [...equals, ...writeRange(params, columnOf(order, definition), filters[order])]
}

function writeRange(params: Params, column: string, { low, high }: Filter = {}): string[] {
  return [
    ...(low === undefined ? [] : [`${column} >= ${params.addCompared(low)}`]),
    ...(high === undefined ? [] : [`${column} <= ${params.addCompared(high)}`]),
  ]
}

export function writeFilters(
  params: Params,
  names: readonly string[],
  { filters }: ListQuery,
  definition: ListDefinition,
): string {
  return names
    .flatMap((field) => {
      const filter = filters[field] as Filter
      if (filter.contains !== undefined) return [writeContains(params, filter.contains, definition)]
      const column = columnOf(field, definition)
      return filter.equal === undefined
        ? writeRange(params, column, filter)
        : [`${column} = ${params.addCompared(filter.equal)}`]
    })
    .join(' AND ')
}

/** Both engines have this function; those that find a text have different names. */
function writeContains(params: Params, text: string, { search }: ListDefinition): string {
  const { column } = search as ListSearch
  return `replace(${column}, ${params.add(text)}, '') <> ${column}`
}

/**
 * The rows after a position, in one part or two. SQLite looks up only the first column of a comparison of two in an index,
 * and would read all rows with the same value, which may be a million.
 */
function writeAfter(
  params: Params,
  { column, isDescending }: Order,
  { value, id }: Position,
  dialect: Dialect,
): string[] {
  const sign = isDescending ? '<' : '>'
  if (column === 'id') return [`id ${sign} ${params.add(id)}`]
  const [at, beyond] = [params.addCompared(value), params.add(id)]
  if (dialect === 'postgres') return [`(${column}, id) ${sign} (${at}, ${beyond})`]
  return [`${column} = ${at} AND id ${sign} ${beyond}`, `${column} ${sign} ${at}`]
}

export function ordering({ column, isDescending }: Order): string {
  const direction = isDescending ? 'DESC' : 'ASC'
  return column === 'id' ? `id ${direction}` : `${column} ${direction}, id ${direction}`
}

function columnOf(field: string, { fields }: Pick<ListDefinition, 'fields'>): string {
  return (fields[field] as ListField).column
}
