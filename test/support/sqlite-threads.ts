import { openSqliteFile } from '../../src/platform/database/sqlite/open-file.ts'
import type { SqliteThreadData } from '../../src/platform/database/sqlite/thread-connection.ts'
import { startSqliteThreads, useSqliteThreads } from '../../src/platform/database/sqlite/threads.ts'

/** The threads of a SQLite file for a test that opens it again and again: starting them takes longer than its work. */
export function keepSqliteThreads() {
  let kept: ReturnType<typeof keep> | undefined
  return {
    /** For `openDatabase`. */
    connectThreads(file: SqliteThreadData) {
      kept ??= keep(file)
      const { threads } = kept
      return useSqliteThreads(threads.share(), async () => threads.shareScanner())
    },
    /** To be called before the file is removed. */
    async close(): Promise<void> {
      await kept?.threads.closeScanner()
      await kept?.threads.writer.close()
      kept?.connection.close()
    },
  }
}

function keep(file: SqliteThreadData) {
  // Without a connection, the files that the threads expect would be removed when the database is closed.
  const { connection } = openSqliteFile(file.path)
  return { connection, threads: startSqliteThreads(file) }
}
