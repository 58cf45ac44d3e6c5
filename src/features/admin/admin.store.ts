/** Users and audit entries for administrators. */
import type { Clock } from '../../core/clock.ts'
import { normaliseEmail } from '../../core/email.ts'
import { lowerByCodePoint } from '../../core/text.ts'
import { actorColumn, outcomeColumn } from '../../platform/audit/actor-backfill.ts'
import type { AuditChanges } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'
import { offsetOf, type Page } from '../../platform/http/paging.ts'
import type { UsersService } from '../users/users.create.ts'

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

export interface AuditRow {
  at: string
  event: string
  user_id: number | null
  address: string
  user_agent: string
  outcome: string
  actor_id: number | null
  changes: AuditChanges | null
  email: string | null
  actor_email: string | null
}

const select = `
  SELECT u.id, u.email, u.name, u.roles, u.disabled_at, u.email_verified_at, u.created_at, t.enabled AS two_factor,
         a.locked_until, CASE WHEN u.password_hash = '' THEN 1 ELSE 0 END AS is_invited
  FROM users u
  LEFT JOIN two_factor t ON t.user_id = u.id
  LEFT JOIN login_attempts a ON a.email = u.email AND a.locked_until > $1`
const matches = (email: string, name: string) =>
  `(u.email LIKE ${email} ESCAPE '!' OR u.name_key LIKE ${name} ESCAPE '!')`

type AdministratorSql = UsersService['administrators']

export interface AdminStoreDeps {
  db: Database
  clock: Clock
  counts: MaintainedCounts
  administrators: AdministratorSql
}

export function createAdminStore({ db, clock, counts, administrators }: AdminStoreDeps) {
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
      // PostgreSQL cannot store U+0000, so no user has one.
      if (q.includes('\0')) return { users: [], total: 0 }
      const terms = [normaliseEmail(q), lowerByCodePoint(q)].map(
        (text) => `%${text.replace(/[!%_]/g, (char) => `!${char}`)}%`,
      )
      const rows = await db.scan<UserRow>(`${select} WHERE ${matches('$2', '$3')} ORDER BY u.id LIMIT $4 OFFSET $5`, [
        now,
        ...terms,
        perPage,
        offset,
      ])
      const counted = await db.scan<{ n: number }>(
        `SELECT count(*) AS n FROM users u WHERE ${matches('$1', '$2')}`,
        terms,
      )
      return { users: rows.map(toUser), total: counted[0]?.n ?? 0 }
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

    async listAudit(page: Page): Promise<{ rows: AuditRow[]; total: number }> {
      // Newest first, but positions are counted from the oldest.
      const total = await counts.total('audit')
      const end = Math.max(0, total - offsetOf(page))
      const start = Math.max(0, end - page.perPage)
      const { id, skip } = await counts.find('audit', start)
      const rows = await db.all<Omit<AuditRow, 'changes'> & { changes: string | null }>(
        `SELECT a.at, a.event, a.user_id, a.address, a.user_agent, ${outcomeColumn} AS outcome,
                ${actorColumn} AS actor_id, a.changes, u.email, actor.email AS actor_email
         FROM audit AS a LEFT JOIN users u ON u.id = a.user_id LEFT JOIN users actor ON actor.id = ${actorColumn}
         WHERE a.id >= $1 ORDER BY a.id LIMIT $2 OFFSET $3`,
        [id, end - start, skip],
      )
      const read = rows.map(({ changes, ...row }) => ({
        ...row,
        changes: changes === null ? null : (JSON.parse(changes) as AuditChanges),
      }))
      return { rows: read.reverse(), total }
    },
  }
}

export type AdminStore = ReturnType<typeof createAdminStore>

function toUser({ roles, two_factor, is_invited: _isInvited, ...row }: UserRow): ListedUser {
  return { ...row, roles: JSON.parse(roles) as string[], two_factor: two_factor === true }
}
