/** The users that rows refer to. */
import { isStorable, lowerByCodePoint } from '../../core/text.ts'
import type { Database } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { Actor, Row } from '../actor.ts'
import { describedUsers } from '../declare/describe.ts'
import { quote } from '../schema/tables.ts'

/** How many of the newest users are looked at. */
const maxSearched = 2000

/** By a part of their name or email. Only for those who may view users: to others, users are known by what refers to them. */
export async function findUsers(
  db: Database,
  q: string,
  { actor: { principal }, limit }: { actor: Actor; limit: number },
): Promise<(Row & { name: string })[]> {
  if ((principal && !principal.can('users.view')) || !isStorable(q)) return []
  const part = `%${lowerByCodePoint(q).replace(/[!%_]/g, (char) => `!${char}`)}%`
  const newest = `SELECT id, name, email, name_key FROM ${quote(describedUsers.table)} ORDER BY id DESC LIMIT ${maxSearched}`
  return db.scan(
    `SELECT id, name, email FROM (${newest}) AS newest
     WHERE email LIKE $1 ESCAPE '!' OR name_key LIKE $1 ESCAPE '!' ORDER BY id DESC LIMIT $2`,
    [part, limit],
  )
}

/** Everybody sees the names of users; emails, those who may view users. */
export async function readUsers(
  db: Database,
  ids: readonly number[],
  { principal, allows }: Actor,
): Promise<Map<number, Row & { name: string }>> {
  if (ids.length === 0) return new Map()
  const seesEmails = !principal || (principal.can('users.view') && allows?.('users.view') !== false)
  const sql = `SELECT id, name${seesEmails ? ', email' : ''} FROM ${quote(describedUsers.table)} WHERE ${idIsListed(db)}`
  const users = await db.all<Row & { name: string }>(sql, [toIdList(db, ids)])
  return new Map(users.map((user) => [user.id, user]))
}
