/**
 * Pages of users in any order, with filters, whatever their number. If one of the filters is passed by few users, these are
 * read and sorted. Otherwise users are read in their order, but not many: a page may end early, with a cursor to go on.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'
import type { Filters, ListQuery, Position } from '../../platform/listing/list-definition.ts'
import type { SortedPage } from '../../platform/listing/sorted-list.store.ts'
import { createUserListSql, maxRead, type Sql, walkedFor } from './user-list-sql.store.ts'

export interface ListedId {
  id: number
  list_value: string | number
}

export interface UserListDeps {
  db: Database
  clock: Clock
  counts: MaintainedCounts
}

/** Short enough for the event loop. */
const maxQuickRead = 250
/** Counted in some milliseconds. */
const maxCounted = 10_000

/** Users who may pass the filters. */
interface Few {
  ids: readonly number[]
  /** The filters that they do not pass for certain. */
  rest: Filters
}

interface Read {
  rows: ListedId[]
  /** Where a walk ended without having filled the page. */
  end: ListedId | undefined
}

export function createUserList({ db, clock, counts }: UserListDeps) {
  const write = createUserListSql(db, clock)
  const scan = <Row extends object>({ sql, params }: Sql) => db.scan<Row>(sql, params)

  /** The users who may pass the filters, if they are few. */
  async function findFew(filters: Filters): Promise<Few | undefined> {
    for (const finder of write.finders(filters)) {
      const rows = await scan<{ id: number | null }>(finder)
      if (rows.length <= maxRead) return { ids: rows.flatMap(({ id }) => id ?? []), rest: finder.rest }
    }
    return undefined
  }

  async function walk(query: ListQuery): Promise<Read> {
    const isFiltered = !isEmpty(query.filters)
    const needed = query.skip + query.limit + 1
    const walked = isFiltered ? Math.max(walkedFor(query.filters), needed) : needed
    const { sql, params } = write.walk(query, walked)
    const rows = await (walked <= maxQuickRead ? db.all<ListedId>(sql, params) : db.scan<ListedId>(sql, params))
    if (!isFiltered || rows.length > query.limit) return { rows, end: undefined }
    const [end] = await scan<ListedId>(write.walkEnd(query, walked))
    return { rows, end }
  }

  async function read(query: ListQuery, few: Few | undefined): Promise<Read> {
    if (!few) return walk(query)
    const rows = await scan<ListedId>(write.sortFew(few.ids, { ...query, filters: few.rest }))
    return { rows, end: undefined }
  }

  async function total({ filters, isCounted }: ListQuery, few: Few | undefined): Promise<number | null> {
    if (few && isEmpty(few.rest)) return few.ids.length
    const all = await counts.total('users')
    if (isEmpty(filters)) return all
    if (!few && !isCounted && all > maxCounted) return null
    const [row] = await scan<{ n: number }>(write.count(few?.rest ?? filters, few?.ids))
    return row?.n ?? 0
  }

  return {
    async page(query: ListQuery): Promise<SortedPage<ListedId>> {
      const few = await findFew(query.filters)
      const [found, counted] = await Promise.all([read(query, few), total(query, few)])
      return toPage(query, { ...found, total: counted })
    },

    /** The ids of all who pass the filters, some at a time. */
    async *batches(query: ListQuery): AsyncGenerator<number[]> {
      for (let from: ListQuery | undefined = { ...query, position: undefined, skip: 0 }; from; ) {
        const found: Read = await read(from, await findFew(from.filters))
        const { rows, next } = toPage(from, { ...found, total: null })
        if (rows.length > 0) yield rows.map(({ id }) => id)
        await setImmediate()
        from = next && { ...query, skip: 0, position: next }
      }
    },
  }
}

export type UserList = ReturnType<typeof createUserList>

function isEmpty(filters: Filters): boolean {
  return Object.keys(filters).length === 0
}

/** As the sorted lists of the platform. */
function toPage(
  { limit, position, skip }: ListQuery,
  { rows, end, total }: Read & { total: number | null },
): SortedPage<ListedId> {
  const isBefore = position?.isBefore ?? false
  const isFull = rows.length > limit
  const kept = isFull ? rows.slice(0, limit) : rows
  const last = isFull ? kept.at(-1) : end
  const onward = last && positionOf(last, isBefore)
  const isFirst = position === undefined && skip === 0
  const back = isFirst ? undefined : backFrom(kept[0], position, isBefore)
  if (isBefore) kept.reverse()
  return { rows: kept, total, next: isBefore ? back : onward, previous: isBefore ? onward : back }
}

/** In the other direction, from the first row that was read. */
function backFrom(first: ListedId | undefined, position: Position | undefined, isBefore: boolean) {
  if (first) return positionOf(first, !isBefore)
  return position && { ...position, isBefore: !isBefore }
}

function positionOf({ list_value, id }: ListedId, isBefore: boolean): Position {
  return { value: list_value, id, isBefore }
}
