/** Users of every state, written into the tables: registering so many would take long. */
import { lowerByCodePoint } from '../../src/core/text.ts'
import type { ApiWithRoles } from './roles.ts'

export interface MadeUser {
  id: number
  email: string
  name: string
  roles: string[]
  isDisabled: boolean
  isLocked: boolean
  isInvited: boolean
  hasTwoFactor: boolean
}

/** The same each time, with many equal names. */
export async function makeUsers({ db, clock }: ApiWithRoles, count: number): Promise<MadeUser[]> {
  const users: MadeUser[] = []
  for (let i = 0; i < count; i++) {
    const user = {
      email: `${'zyxabc'[(i * 5) % 6]}${i}@example.com`,
      name: ['Émile', 'ada', 'Bob', 'Zoë', '', 'eve'][(i * 7) % 6] as string,
      roles: i % 9 === 0 ? ['editor', 'viewer'] : i % 11 === 0 ? ['viewer'] : [],
      isDisabled: i % 8 === 1,
      isLocked: i % 10 === 2,
      isInvited: i % 13 === 5,
      hasTwoFactor: i % 6 === 4,
    }
    const now = clock.nowIso()
    const [[row]] = await db.write<{ id: number }>({
      sql: `INSERT INTO users (email, name, name_key, password_hash, roles, disabled_at, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING id`,
      params: [
        user.email,
        user.name,
        lowerByCodePoint(user.name),
        user.isInvited ? '' : 'x',
        JSON.stringify(user.roles),
        user.isDisabled ? now : null,
        now,
      ],
    })
    const id = row?.id as number
    users.push({ id, ...user })
    // A set-up that was not finished is no second factor.
    if (i % 3 === 1) {
      await db.write({
        sql: 'INSERT INTO two_factor (user_id, secret, enabled, set_up_at) VALUES ($1, $2, $3, $4)',
        params: [id, 'x', user.hasTwoFactor, clock.nowSeconds()],
      })
    }
    // A lock that is over is none.
    if (i % 5 === 2) {
      const until = clock.nowSeconds() + (user.isLocked ? 86_400 : -10)
      await db.write({
        sql: `INSERT INTO login_attempts (email, failures, last_failure_at, locked_until, expires_at)
              VALUES ($1, 5, $2, $3, $4)`,
        params: [user.email, clock.nowSeconds(), until, clock.nowSeconds() + 86_400],
      })
    }
  }
  return users
}
