/** The users that rows refer to. */
import type { Database } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { Actor, Row } from '../actor.ts'
import { describedUsers } from '../declare/describe.ts'
import { quote } from '../schema/tables.ts'

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
