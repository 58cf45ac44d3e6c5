/** The SQL that counts rows of sorted lists. */
import type { ListDefinition, ListQuery } from './list-definition.ts'
import { Params } from './list-params.ts'
import type { Finder, Walk } from './list-plan.ts'
import {
  conditionOf,
  type Lists,
  ordering,
  orderOf,
  type Sql,
  writeFilters,
  writeFinding,
  writePassing,
  writeSettled,
  writeWalk,
} from './list-sql.ts'

/** How many rows a finder finds, up to `most`. */
export function countFoundSql(
  finder: Finder,
  query: ListQuery,
  { definition, most }: { definition: ListDefinition; most: number },
): Sql {
  const params = new Params()
  const conditions =
    'index' in finder
      ? [conditionOf(finder.index, definition), ...writeSettled(params, finder.index, query, definition)].join(' AND ')
      : finder.writeCondition(params, most)
  const found = `SELECT 1 AS one FROM ${definition.table} WHERE ${conditions} LIMIT ${params.add(most)}`
  return { sql: `SELECT count(*) AS found FROM (${found}) AS counted`, params: params.values }
}

/** How many of the rows that a finder finds pass the filters that it does not settle. It finds `most` at most. */
export function countPassingSql(
  finder: Finder,
  query: ListQuery,
  { definition, most }: { definition: ListDefinition; most: number },
): Sql {
  const params = new Params()
  // Materialised, so that the planner must use the index of the finder.
  const found = writeFinding(params, finder, { query, definition, most })
  const rest = writePassing(params, finder, query, definition)
  const sql = `WITH found AS MATERIALIZED (${found}) SELECT count(*) AS found FROM found WHERE ${rest}`
  return { sql, params: params.values }
}

/** How many rows pass all filters. The planner chooses how. */
export function countAllPassingSql(query: ListQuery, definition: ListDefinition): Sql {
  const params = new Params()
  const filters = writeFilters(params, Object.keys(query.filters), query, definition)
  const sql = `SELECT count(*) AS found FROM ${definition.table} WHERE ${definition.condition} AND ${filters}`
  return { sql, params: params.values }
}

/**
 * How many of the next `walked` rows of a walk pass the rest of the filters, and at which row the walk goes on; null at the
 * end.
 */
export function countStepSql(
  walk: Walk,
  query: ListQuery,
  { definition, dialect, walked }: { walked: number } & Lists,
): Sql {
  const params = new Params()
  const order = orderOf(query, definition)
  const steps = writeWalk(params, walk, { query, definition, dialect, walked })
  const rest = writeFilters(params, walk.rest, query, definition)
  const sql = `WITH walked AS MATERIALIZED (${steps}),
    passing AS (SELECT count(*) AS found FROM walked${rest === '' ? '' : ` WHERE ${rest}`}),
    ending AS (SELECT id, ${order.column} AS list_value FROM walked
      ORDER BY ${ordering(order)} LIMIT 1 OFFSET ${params.add(walked - 1)})
    SELECT found, ending.id, ending.list_value FROM passing LEFT JOIN ending ON TRUE`
  return { sql, params: params.values }
}
