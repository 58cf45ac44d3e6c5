/**
 * Rows that are deleted with a user, by `onDelete: 'delete'`, take along, clear or hold what refers to them, as when they are
 * deleted by a request. The foreign keys of their tables know nothing of that. Statements for the batch that deletes the user.
 */
import type { Statement } from '../platform/database/database.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import { registryOf } from './registry.ts'

export interface UserRemoval {
  statements(userId: number): Statement[]
  /** Whether something else refers to a row that would be deleted, so that the batch is rolled back. */
  isHeld(userId: number): Promise<boolean>
}

export function createUserRemoval({ db, random }: Pick<Infrastructure, 'db' | 'random'>): UserRemoval {
  const registry = registryOf({ db })

  function statements(userId: number): Statement[] {
    const mark = `users:${userId}:${random.id()}`
    const parts = [...registry.values()].flatMap((service) => service.deleteOfUser(userId, mark) ?? [])
    return [
      ...parts.flatMap(({ rows }) => rows),
      ...parts.flatMap(({ deletions }) => deletions),
      ...parts.flatMap(({ others }) => others),
    ]
  }

  return {
    statements,
    async isHeld(userId) {
      const all = statements(userId)
      if (all.length === 0) return false
      const undecided = all.map(({ decides: _decides, ...rest }) => rest)
      const rows = await db.write<object>(...undecided, { sql: 'SELECT 1 AS one', rehearses: true })
      return all.some(({ decides }, i) => decides === true && rows[i]?.length === 0)
    },
  }
}
