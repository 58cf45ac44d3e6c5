/** Records consumed single-use ids; a second insert returns no row. */
import type { Database, Statement } from './database.ts'

export interface SingleUseIds {
  /** A deciding statement: the batch runs only if the id was not consumed before. The record is kept until `expiresAt`. */
  use(name: string, expiresAt: number): Statement
  isUsed(name: string): Promise<boolean>
}

export function createSingleUseIds(db: Database): SingleUseIds {
  return {
    use: (name, expiresAt) => ({
      sql: 'INSERT INTO used_once (id, expires_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING RETURNING id',
      params: [name, expiresAt],
      decides: true,
    }),
    isUsed: async (name) => (await db.get('SELECT id FROM used_once WHERE id = $1', [name])) !== undefined,
  }
}
