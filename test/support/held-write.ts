/** For races that are decided by what has been read before a write. */
import type { Database } from '../../src/platform/database/database.ts'
import type { Owner } from './api.ts'

/** Holds the next transaction with this statement back until it is released. */
export function holdWrite(t: Owner, db: Database, text: string) {
  const { write } = db
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.after(() => released.resolve())
  Object.assign(db, {
    async write(...statements: Parameters<typeof write>) {
      if (!statements.some(({ sql }) => sql.includes(text))) return write(...statements)
      db.write = write
      reached.resolve()
      await released.promise
      return write(...statements)
    },
  })
  return { reached: reached.promise, release: () => released.resolve() }
}
