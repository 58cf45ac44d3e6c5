/** Users for administrators. */
import type { Clock } from '../../core/clock.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'
import { offsetOf, type Page } from '../../platform/http/paging.ts'
import type { ListQuery } from '../../platform/listing/list-definition.ts'
import type { SortedPage } from '../../platform/listing/sorted-list.store.ts'
import type { UsersService } from '../users/users.create.ts'
import { createUserList } from './user-list.store.ts'
import { createFirstFound, isUnknown, matches, maxSearched, termsOf } from './user-search.store.ts'

export interface ListedUser {
  id: number
  email: string
  name: string
  roles: string[]
  two_factor: boolean
  locked_until: number | null
  /** Null if the user may sign in. */
  disabled_at: string | null
  email_verified_at: string | null
  created_at: string
}

interface UserRow extends Omit<ListedUser, 'roles' | 'two_factor'> {
  roles: string
  two_factor: boolean | null
  /** 1 or 0. */
  is_invited: number
}

/** A user, with the roles as stored, for optimistic locking. */
export interface Stored {
  user: ListedUser
  storedRoles: string
  /** Has no password yet. */
  isInvited: boolean
}

const selectAt = (now: string) => `
  SELECT u.id, u.email, u.name, u.roles, u.disabled_at, u.email_verified_at, u.created_at, t.enabled AS two_factor,
         a.locked_until, CASE WHEN u.password_hash = '' THEN 1 ELSE 0 END AS is_invited
  FROM users u
  LEFT JOIN two_factor t ON t.user_id = u.id
  LEFT JOIN login_attempts a ON a.email = u.email AND a.locked_until > ${now}`
const select = selectAt('$1')

type AdministratorSql = UsersService['administrators']

export interface AdminStoreDeps {
  db: Database
  clock: Clock
  counts: MaintainedCounts
  administrators: AdministratorSql
}

export function createAdminStore({ db, clock, counts, administrators }: AdminStoreDeps) {
  const sorted = createUserList({ db, clock, counts })
  const findFirst = createFirstFound(db)

  /** In the order of the ids. */
  async function readByIds(ids: readonly number[]): Promise<ListedUser[]> {
    // The ids are the first parameter of their condition.
    const sql = `${selectAt('$2')} WHERE u.${idIsListed(db)}`
    const rows = await db.scan<UserRow>(sql, [toIdList(db, ids), clock.nowSeconds()])
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => byId.get(id) ?? []).map(toUser)
  }

  return {
    async list(q: string, page: Page): Promise<{ users: ListedUser[]; total: number }> {
      const { perPage } = page
      const offset = offsetOf(page)
      const now = clock.nowSeconds()
      if (q === '') {
        const { id, skip } = await counts.find('users', offset)
        const rows = await db.all<UserRow>(`${select} WHERE u.id >= $2 ORDER BY u.id LIMIT $3 OFFSET $4`, [
          now,
          id,
          perPage,
          skip,
        ])
        return { users: rows.map(toUser), total: await counts.total('users') }
      }
      if (isUnknown(q)) return { users: [], total: 0 }
      const users = await findMatching({ db, clock }, { q, limit: perPage, offset })
      const counted = await db.scan<{ n: number }>(
        `SELECT count(*) AS n FROM users u WHERE ${matches('$1', '$2')}`,
        termsOf(q),
      )
      return { users, total: counted[0]?.n ?? 0 }
    },

    /** A few users by a part of their email or name, for any number of users. There may be others unless it is `isWhole`. */
    async searchFirst(q: string, limit: number): Promise<{ users: ListedUser[]; isWhole: boolean }> {
      const [ids, total] = await Promise.all([findFirst(q, limit), counts.total('users')])
      return { users: await readByIds(ids), isWhole: total <= maxSearched && ids.length < limit }
    },

    /** In any order, with filters. */
    async page(query: ListQuery): Promise<SortedPage<ListedUser>> {
      const { rows, ...page } = await sorted.page(query)
      return { ...page, rows: await readByIds(rows.map(({ id }) => id)) }
    },

    /** All who pass the filters, in their order. */
    async *batches(query: ListQuery): AsyncGenerator<ListedUser[]> {
      for await (const ids of sorted.batches(query)) yield await readByIds(ids)
    },

    /** All who are found by a part of their email or name, by id. */
    async *batchesOf(q: string, limit: number): AsyncGenerator<ListedUser[]> {
      if (isUnknown(q)) return
      for (let last = 0, isMore = true; isMore; ) {
        const rows = await db.scan<UserRow>(
          `${select} WHERE u.id > $4 AND ${matches('$2', '$3')} ORDER BY u.id LIMIT $5`,
          [clock.nowSeconds(), ...termsOf(q), last, limit],
        )
        if (rows.length > 0) yield rows.map(toUser)
        last = rows.at(-1)?.id ?? last
        isMore = rows.length === limit
      }
    },

    async find(id: number): Promise<Stored | undefined> {
      const row = await db.get<UserRow>(`${select} WHERE u.id = $2`, [clock.nowSeconds(), id])
      return row && { user: toUser(row), storedRoles: row.roles, isInvited: row.is_invited === 1 }
    },

    async findByEmail(email: string): Promise<ListedUser | undefined> {
      const row = await db.get<UserRow>(`${select} WHERE u.email = $2`, [clock.nowSeconds(), email])
      return row && toUser(row)
    },

    /**
     * Changes the roles unless that would leave no administrator. Deciding statement: fails if the roles have changed since
     * they were read.
     */
    setRoles: ({ user, storedRoles }: Stored, roles: readonly string[], keepsAdministrator: boolean): Statement[] => [
      administrators.takeAll,
      {
        sql: `UPDATE users SET roles = $1, updated_at = $2 WHERE id = $3 AND roles = $4
              AND ($5 = 1 OR ${administrators.isNotLast('$3')})
              RETURNING id`,
        params: [JSON.stringify(roles), clock.nowIso(), user.id, storedRoles, keepsAdministrator ? 1 : 0],
        decides: true,
      },
    ],
  }
}

/** Users whose email or name has the text in it. */
async function findMatching(
  { db, clock }: Pick<AdminStoreDeps, 'db' | 'clock'>,
  { q, limit, offset }: { q: string; limit: number; offset: number },
): Promise<ListedUser[]> {
  const rows = await db.scan<UserRow>(`${select} WHERE ${matches('$2', '$3')} ORDER BY u.id LIMIT $4 OFFSET $5`, [
    clock.nowSeconds(),
    ...termsOf(q),
    limit,
    offset,
  ])
  return rows.map(toUser)
}

export type AdminStore = ReturnType<typeof createAdminStore>

function toUser({ roles, two_factor, is_invited: _isInvited, ...row }: UserRow): ListedUser {
  return { ...row, roles: JSON.parse(roles) as string[], two_factor: two_factor === true }
}
