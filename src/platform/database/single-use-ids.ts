/** What works once and has been used: whoever comes second with it finds it there. */
import type { Database, Statement } from './database.ts'

export interface SingleUseIds {
  /** Uses it up. Decides: only where it was not used before. `expiresAt` is when it would have been of no use anyway. */
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
