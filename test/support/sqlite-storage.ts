/** A storage of @latchkey/client that processes share: a file of SQLite. */
import { DatabaseSync } from 'node:sqlite'
import type { LatchkeyStorage, StoredState } from '../../packages/client/src/storage/storage.ts'

export function sqliteStorage(file: string): LatchkeyStorage & { close(): void } {
  const db = new DatabaseSync(file, { timeout: 60_000 })
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY, value TEXT NOT NULL)')
  const select = db.prepare('SELECT value FROM state WHERE id = 1')
  const replace = db.prepare('REPLACE INTO state VALUES (1, ?)')
  const read = () => JSON.parse(String(select.get()?.value ?? '{}')) as StoredState
  return {
    read: async () => read(),
    async update(change) {
      // Others wait from here on, so that nobody changes it between the read and the write.
      db.exec('BEGIN IMMEDIATE')
      try {
        const before = read()
        const after = change(before)
        if (after !== before) replace.run(JSON.stringify(after))
        db.exec('COMMIT')
        return after
      } catch (error) {
        db.exec('ROLLBACK')
        throw error
      }
    },
    close: () => db.close(),
  }
}
