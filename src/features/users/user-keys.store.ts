/** Users of older versions, which have no search key yet. */
import { lowerByCodePoint } from '../../core/text.ts'
import { ConstraintError, type Database, type Statement } from '../../platform/database/database.ts'

export interface KeylessUser {
  id: number
  email: string
}

export interface Renaming {
  id: number
  from: string
  to: string
}

export const batch = 200

export function createUserKeyStore(db: Database) {
  return {
    /** Usually false. Uses an index. */
    hasKeyless: async () => (await db.get('SELECT id FROM users WHERE name_key IS NULL LIMIT 1')) !== undefined,

    /** Users whose email may not be normalised. ASCII is the same in every Unicode normalisation form. */
    listForeign: (after: number) =>
      db.scan<KeylessUser>(
        `SELECT id, email FROM users WHERE name_key IS NULL AND id > $1 AND octet_length(email) <> length(email)
         ORDER BY id LIMIT ${batch}`,
        [after],
      ),

    listKeyless: () =>
      db.all<KeylessUser & { name: string }>(
        `SELECT id, email, name FROM users WHERE name_key IS NULL ORDER BY id LIMIT ${batch}`,
      ),

    findByEmail: (email: string) => db.get<{ id: number }>('SELECT id FROM users WHERE email = $1', [email]),

    /** All or none. Returns false if an email is taken. */
    async rename(renamings: readonly Renaming[]): Promise<boolean> {
      try {
        await db.write(...renamings.map(toStatement))
        return true
      } catch (error) {
        if (error instanceof ConstraintError && error.kind === 'unique') return false
        throw error
      }
    },

    async setKeys(users: readonly { id: number; name: string }[]): Promise<void> {
      const statements = users.map(({ id, name }) => ({
        // A user who was renamed in the meantime has a key already.
        sql: 'UPDATE users SET name_key = $1 WHERE id = $2 AND name_key IS NULL',
        params: [lowerByCodePoint(name), id],
      }))
      if (statements.length > 0) await db.write(...statements)
    },
  }
}

export type UserKeyStore = ReturnType<typeof createUserKeyStore>

function toStatement({ id, from, to }: Renaming): Statement {
  return { sql: 'UPDATE users SET email = $1 WHERE id = $2 AND email = $3', params: [to, id, from] }
}
