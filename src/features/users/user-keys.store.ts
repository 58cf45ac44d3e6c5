/** Users from before, who have no key yet, and what brings them up to date. */
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

/** So many users are read at once. */
export const batch = 200

export function createUserKeyStore(db: Database) {
  return {
    /** Most often there is nobody, which an index tells. */
    hasKeyless: async () => (await db.get('SELECT id FROM users WHERE name_key IS NULL LIMIT 1')) !== undefined,

    /** Those whose email may have another form: what is in ASCII is in every form. */
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

    /** All or none. Returns false where an email is taken. */
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
        // A name that was changed meanwhile has its key.
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
