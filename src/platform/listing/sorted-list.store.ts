/**
 * Pages of a table in any declared order, with any filters, whatever its size. A page is read by an index in its order. Filters
 * that this index does not settle are checked row by row, on `maxWalked` rows: if one of them finds few rows by an index of its
 * own, `maxRead` at most, these are sorted instead; otherwise a page may end early, with a cursor to go on.
 */
import { setImmediate } from 'node:timers/promises'
import type { Database, Dialect } from '../database/database.ts'
import { countAllPassingSql, countFoundSql, countPassingSql, countStepSql } from './count-sql.ts'
import type { Filters, ListDefinition, ListQuery, Position } from './list-definition.ts'
import type { Params } from './list-params.ts'
import { type Finder, planCount, planFinders, planWalk, type TextFinder, type Walk } from './list-plan.ts'
import { findSql, type Sql, walkEndSql, walkSql } from './list-sql.ts'

export interface SortedPage<Row> {
  rows: Row[]
  /** Null if counting would take too long. */
  total: number | null
  next: Position | undefined
  previous: Position | undefined
}

/** Finds rows for the search of a list. */
export interface TextIndex {
  /** Whether so many rows contain the text that looking up even the first ones would take long. */
  isCommon(text: string): Promise<boolean>
  /** Selects at most `most` rows, with all that contain the text if there are fewer. */
  writeCondition(text: string, params: Params, most: number): string
}

export interface SortedListDeps {
  db: Database
  definition: ListDefinition
  columns: string
  textIndex?: TextIndex
  /** Of all rows, without filters. */
  countAll(): Promise<number>
}

interface ListRow {
  id: number
  list_value: string | number | boolean
}

/** A few milliseconds of reading. */
const maxRead = 2000
/** Rows in the order of an index are all over the table, and each takes as long as several that are close together. */
const maxWalked = 1000
const maxCounted = 10_000
/** Short enough for the event loop. */
const maxQuickRead = 250

type CountStep = { found: number } & (ListRow | { id: null })

interface Plan {
  walk: Walk
  /** Sorts what it finds instead of walking. */
  finder: (Finder & { found: number }) | undefined
}

export interface SortedList<Row> {
  page(query: ListQuery): Promise<SortedPage<Row>>
  /** All rows from the position on, `limit` at a time, in constant memory. Nothing is counted. */
  batches(query: ListQuery): AsyncGenerator<Row[]>
}

export function createSortedList<Row extends { id: number }>({
  db,
  definition,
  columns,
  textIndex,
  countAll,
}: SortedListDeps): SortedList<Row> {
  const run = <Found extends object>({ sql, params }: Sql) => db.scan<Found>(sql, params)

  async function plan(query: ListQuery): Promise<Plan> {
    const walk = planWalk(query, definition)
    if (walk.rest.length === 0) return { walk, finder: undefined }
    const finders = [...planFinders(query.filters, walk.rest, definition), ...(await planSearch(query.filters))]
    const { finder, fewest } = await findFewest(finders, query, maxRead)
    return { walk, finder: finder && { ...finder, found: fewest } }
  }

  /** No finder if each of them finds more than `most` rows. */
  async function findFewest(finders: readonly Finder[], query: ListQuery, most: number) {
    const found = await Promise.all(
      finders.map((finder) => count(countFoundSql(finder, query, { definition, most: most + 1 }))),
    )
    const fewest = Math.min(...found)
    return { fewest, finder: fewest <= most ? finders[found.indexOf(fewest)] : undefined }
  }

  async function planSearch(filters: Filters): Promise<TextFinder[]> {
    const text = definition.search && filters[definition.search.parameter]?.contains
    if (text === undefined || !textIndex || (await textIndex.isCommon(text))) return []
    return [{ settles: [], writeCondition: (params, most) => textIndex.writeCondition(text, params, most) }]
  }

  async function count(sql: Sql): Promise<number> {
    const [row] = await run<{ found: number }>(sql)
    return row?.found ?? 0
  }

  /** One more than the page has, to know whether there are more. */
  async function read({ walk, finder }: Plan, query: ListQuery): Promise<(Row & ListRow)[]> {
    const options = { definition, dialect: db.dialect, columns, skip: query.skip, limit: query.limit + 1 }
    if (finder) return run(findSql(finder, query, { ...options, most: maxRead + 1 }))
    const walkOver = async (walked: number): Promise<(Row & ListRow)[]> => {
      const { sql, params } = walkSql(walk, query, { ...options, walked })
      return walked <= maxQuickRead ? db.all(sql, params) : db.scan(sql, params)
    }
    const needed = query.skip + query.limit + 1
    if (walk.rest.length === 0) return walkOver(needed)
    // Mostly enough, where a filter passes one row in ten.
    const first = needed <= maxQuickRead ? await walkOver(maxQuickRead) : []
    return first.length > query.limit ? first : walkOver(Math.max(maxWalked, needed))
  }

  /** Where a walk that has read enough ends without having filled its page. */
  async function endOfWalk({ walk, finder }: Plan, query: ListQuery): Promise<Position | undefined> {
    if (finder || walk.rest.length === 0) return undefined
    const walked = Math.max(maxWalked, query.skip + query.limit + 1)
    const [end] = await run<ListRow>(walkEndSql(walk, query, { definition, dialect: db.dialect, walked }))
    return end && { value: end.list_value, id: end.id, isBefore: query.position?.isBefore ?? false }
  }

  async function total({ finder }: Plan, query: ListQuery): Promise<number | null> {
    const { filters, isCounted } = query
    if (Object.keys(filters).length === 0) return countAll()
    if (finder?.settles.length === Object.keys(filters).length) return finder.found
    if (finder) return count(countPassingSql(finder, query, { definition, most: maxRead + 1 }))
    if ((await countAll()) <= maxCounted) return count(countAllPassingSql(query, definition))
    if (isCounted) return countInSteps(query.filters, { definition, dialect: db.dialect, run })
    return countUpTo(maxCounted, query)
  }

  /** By the index that settles most, or that finds fewest rows. Null if each of them finds more. */
  async function countUpTo(most: number, query: ListQuery): Promise<number | null> {
    const names = Object.keys(query.filters)
    const finders = planFinders(query.filters, names, definition)
    const whole = finders.find(({ settles }) => settles.length === names.length)
    const { fewest, finder } = await findFewest(whole ? [whole] : finders, query, most)
    if (!finder) return null
    return whole ? fewest : count(countPassingSql(finder, query, { definition, most: most + 1 }))
  }

  async function readPage(planned: Plan, query: ListQuery): Promise<Omit<SortedPage<Row>, 'total'>> {
    const rows = await read(planned, query)
    const isFull = rows.length > query.limit
    const kept = isFull ? rows.slice(0, query.limit) : rows
    const last = kept.at(-1)
    const isBefore = query.position?.isBefore ?? false
    const onward = isFull && last ? positionOf(last, isBefore) : await endOfWalk(planned, query)
    const isFirst = query.position === undefined && query.skip === 0
    const back = isFirst ? undefined : backFrom(kept[0], query, isBefore)
    if (isBefore) kept.reverse()
    return { rows: kept, next: isBefore ? back : onward, previous: isBefore ? onward : back }
  }

  return {
    async page(query) {
      const planned = await plan(query)
      const [page, counted] = await Promise.all([readPage(planned, query), total(planned, query)])
      return { ...page, total: counted }
    },

    async *batches(query) {
      for (let from: ListQuery | undefined = query; from; ) {
        // Planned anew each time, because meanwhile there may be more rows than can be sorted.
        const { rows, next }: Omit<SortedPage<Row>, 'total'> = await readPage(await plan(from), from)
        if (rows.length > 0) yield rows
        // A short read of SQLite is done at once: without a turn of the event loop, nobody else is served until the end.
        await setImmediate()
        from = next && { ...query, skip: 0, position: next }
      }
    },
  }
}

interface Counting {
  definition: ListDefinition
  dialect: Dialect
  run<Found extends object>(sql: Sql): Promise<Found[]>
}

/** Each step is short, so that clients take turns, and counting ends when the client disconnects. */
async function countInSteps(filters: Filters, { definition, dialect, run }: Counting): Promise<number> {
  const { sort, walk } = planCount(filters, definition)
  let total = 0
  for (let position: Position | undefined, isOver = false; !isOver; ) {
    const query = { sort, filters, position, skip: 0, limit: 0, isCounted: true }
    const [step] = await run<CountStep>(countStepSql(walk, query, { definition, dialect, walked: maxCounted }))
    total += step?.found ?? 0
    if (step && step.id !== null) position = { value: step.list_value, id: step.id, isBefore: false }
    else isOver = true
  }
  return total
}

/** In the other direction, from the first row that was read. */
function backFrom(first: ListRow | undefined, { position }: ListQuery, isBefore: boolean): Position | undefined {
  if (first) return positionOf(first, !isBefore)
  return position && { ...position, isBefore: !isBefore }
}

function positionOf({ list_value, id }: ListRow, isBefore: boolean): Position {
  return { value: list_value, id, isBefore }
}
