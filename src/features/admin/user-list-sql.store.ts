/** The SQL of sorted and filtered users. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Value } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { Filters, ListQuery } from '../../platform/listing/list-definition.ts'
import type { UserStatus } from './user-orders.ts'

export interface Sql {
  sql: string
  params: Value[]
}

/** A few milliseconds of reading. */
export const maxRead = 2000
/** The same of users in the order of an index, each of which is looked up in other tables. */
const maxWalked = 1000

const isEnabled = 'EXISTS (SELECT 1 FROM two_factor t WHERE t.user_id = u.id AND t.enabled)'

/** How the few users of a state are found: at most `maxRead + 1` rows, whose id may be null. `$1` is the time. */
const finders = {
  disabled: `SELECT id FROM users WHERE disabled_at IS NOT NULL LIMIT ${maxRead + 1}`,
  locked: `SELECT u.id FROM (SELECT email FROM login_attempts WHERE locked_until > $1 LIMIT ${maxRead + 1}) l
    LEFT JOIN users u ON u.email = l.email`,
  role: `SELECT id FROM users WHERE roles <> '[]' LIMIT ${maxRead + 1}`,
  twoFactor: `SELECT user_id AS id FROM two_factor LIMIT ${maxRead + 1}`,
} as const

/** Finds all who pass a filter, and maybe more. */
export interface Finder extends Sql {
  /** The filters that still have to be checked. */
  rest: Filters
}

interface Order {
  key: string
  direction: 'ASC' | 'DESC'
}

export function createUserListSql({ dialect }: Pick<Database, 'dialect'>, clock: Clock) {
  const db = { dialect }

  function orderOf({ sort, position }: ListQuery): Order {
    const isDescending = sort.isDescending !== (position?.isBefore ?? false)
    return { key: keyOf(sort.field, dialect), direction: isDescending ? 'DESC' : 'ASC' }
  }

  /** The conditions of the filters, on a row of `u`. Adds their values to `params`. */
  function conditionsOf({ status, role, two_factor }: Filters, params: Value[]): string[] {
    const add = (value: Value) => `$${params.push(value)}`
    const isLocked = () => `l.locked_until > ${add(clock.nowSeconds())}`
    const statuses: Readonly<Record<UserStatus, () => string>> = {
      active: () => 'u.disabled_at IS NULL',
      disabled: () => 'u.disabled_at IS NOT NULL',
      locked: () => `EXISTS (SELECT 1 FROM login_attempts l WHERE l.email = u.email AND ${isLocked()})`,
      invited: () => `u.password_hash = ''`,
    }
    return [
      ...(status ? [statuses[status.equal as UserStatus]()] : []),
      // Not by LIKE, to which "_" is a wildcard and case, on SQLite, no matter.
      ...(role ? [`replace(u.roles, ${add(JSON.stringify(role.equal))}, '') <> u.roles`] : []),
      ...(two_factor ? [two_factor.equal === true ? isEnabled : `NOT ${isEnabled}`] : []),
    ]
  }

  /** The first rows in this order, of which a page is filtered. Without `columns`, no row is read beside the index. */
  function writeWalk(query: ListQuery, walked: number, params: Value[], columns: readonly string[]): string {
    const order = orderOf(query)
    const { key, direction } = order
    const selected = `SELECT ${['id', ...columns].join(', ')}, ${key} AS list_value FROM users u`
    const parts = afterOf(query, order, params, dialect).map((after) => `${selected} ${where(after)}`)
    // A constant limit, so that the planner knows how few rows there are.
    return `WITH walked AS MATERIALIZED (
      ${parts.join(' UNION ALL ')} ORDER BY list_value ${direction}, id ${direction} LIMIT ${walked})`
  }

  return {
    /** For the filters that few users may pass. */
    finders(filters: Filters): Finder[] {
      const { status, ...others } = filters
      const found: Finder[] = []
      if (status?.equal === 'disabled') found.push({ sql: finders.disabled, params: [], rest: others })
      if (status?.equal === 'locked') found.push({ sql: finders.locked, params: [clock.nowSeconds()], rest: others })
      if (filters.role) found.push({ sql: finders.role, params: [], rest: filters })
      if (filters.two_factor?.equal === true) found.push({ sql: finders.twoFactor, params: [], rest: filters })
      return found
    },

    walk(query: ListQuery, walked: number): Sql {
      const params: Value[] = []
      const { direction } = orderOf(query)
      const walk = writeWalk(query, walked, params, columnsOf(query.filters))
      const passing = where(conditionsOf(query.filters, params))
      const sql = `${walk} SELECT id, list_value FROM walked u ${passing}
        ORDER BY list_value ${direction}, id ${direction} ${range(query, params)}`
      return { sql, params }
    },

    /** The row at the end of a walk. */
    walkEnd(query: ListQuery, walked: number): Sql {
      const params: Value[] = []
      const { direction } = orderOf(query)
      const walk = writeWalk(query, walked, params, [])
      const sql = `${walk} SELECT id, list_value FROM walked
        ORDER BY list_value ${direction}, id ${direction} LIMIT 1 OFFSET ${walked - 1}`
      return { sql, params }
    },

    sortFew(ids: readonly number[], query: ListQuery): Sql {
      const { key, direction } = orderOf(query)
      const params: Value[] = [toIdList(db, ids)]
      const after = afterOf(query, { key, direction }, params, dialect).map((part) => part.join(' AND '))
      const conditions = [`u.${idIsListed(db)}`, ...either(after), ...conditionsOf(query.filters, params)]
      const sql = `SELECT id, ${key} AS list_value FROM users u ${where(conditions)}
        ORDER BY ${key} ${direction}, id ${direction} ${range(query, params)}`
      return { sql, params }
    },

    /** Of the few, if they are known. */
    count(filters: Filters, few: readonly number[] | undefined): Sql {
      const params: Value[] = few ? [toIdList(db, few)] : []
      const conditions = [...(few ? [`u.${idIsListed(db)}`] : []), ...conditionsOf(filters, params)]
      return { sql: `SELECT count(*) AS n FROM users u ${where(conditions)}`, params }
    },
  }
}

const statusColumns: Readonly<Record<UserStatus, string>> = {
  active: 'disabled_at',
  disabled: 'disabled_at',
  locked: 'email',
  invited: 'password_hash',
}

/** What the filters look at. */
function columnsOf({ status, role }: Filters): string[] {
  return [...(status ? [statusColumns[status.equal as UserStatus]] : []), ...(role ? ['roles'] : [])]
}

/** How many users are read for a page. In the order of a key, they are all over the table. */
export function walkedFor(filters: Filters): number {
  return columnsOf(filters).length === 0 ? maxWalked : maxWalked / 2
}

/** By code point, as SQLite compares. */
export function keyOf(field: string, dialect: Database['dialect']): string {
  if (field === 'created_at') return 'id'
  const column = field === 'email' ? 'email' : 'name_key'
  return dialect === 'sqlite' ? column : `${column} COLLATE "C"`
}

/** The conditions of what follows the position, in two parts on SQLite (see list-sql.ts). */
function afterOf(
  { position }: ListQuery,
  { key, direction }: Order,
  params: Value[],
  dialect: Database['dialect'],
): string[][] {
  // Users of an earlier version have no key until a background task gives them one.
  const known = key.startsWith('name_key') ? ['u.name_key IS NOT NULL'] : []
  if (!position) return [known]
  const sign = direction === 'DESC' ? '<' : '>'
  if (key === 'id') return [[`u.id ${sign} $${params.push(position.id)}`]]
  const [value, id] = [`$${params.push(position.value)}`, `$${params.push(position.id)}`]
  if (dialect === 'postgres') return [[...known, `(u.${key}, u.id) ${sign} (${value}, ${id})`]]
  return [[`u.${key} = ${value}`, `u.id ${sign} ${id}`], [`u.${key} ${sign} ${value}`]]
}

function either(parts: readonly string[]): string[] {
  const given = parts.filter((part) => part !== '')
  return given.length === 0 ? [] : [`(${given.join(' OR ')})`]
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}

/** One more than the page has, to know whether there are more. */
function range({ limit, skip }: ListQuery, params: Value[]): string {
  return `LIMIT $${params.push(limit + 1)} OFFSET $${params.push(skip)}`
}
