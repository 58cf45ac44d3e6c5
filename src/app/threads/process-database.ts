/** The main thread's side of the database: migrates it once and, on SQLite, owns the writer and the scanner. */
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import type { SqliteThreadData } from '../../platform/database/sqlite/thread-connection.ts'
import { type OwnSqliteThreads, type SqliteShare, startSqliteThreads } from '../../platform/database/sqlite/threads.ts'
import type { Feature } from '../../platform/feature.ts'
import type { Log } from '../../platform/log/logger.ts'
import { withOwnFeatures } from '../features.ts'
import type { Config } from '../load-config.ts'
import { openServiceDatabase, type ServiceDatabaseOptions } from '../open-service-database.ts'

export interface ProcessDatabase {
  /** For one serving thread. Undefined on PostgreSQL, where each has its own connections. */
  share(): SqliteShare | undefined
  connectScanner(): MessagePort
  close(): Promise<void>
}

export interface ProcessDatabaseOptions extends Pick<ServiceDatabaseOptions, 'onWriterDeath'> {
  config: Config
  log: Log
  extensions: readonly Feature[]
  clock: Clock
}

export async function openProcessDatabase(options: ProcessDatabaseOptions) {
  const { config, log, extensions, clock, onWriterDeath } = options
  let threads: OwnSqliteThreads | undefined
  const connectThreads = (file: SqliteThreadData) => {
    threads = startSqliteThreads(file)
    return threads
  }
  const { db } = await openServiceDatabase({
    config,
    log,
    features: withOwnFeatures(extensions),
    clock,
    random: systemRandom,
    isServing: true,
    onWriterDeath,
    connectThreads,
  })
  if (!threads) await db.close()
  return {
    share: () => threads?.share(),
    connectScanner() {
      if (!threads) throw new Error('only SQLite has a scanner')
      return threads.shareScanner()
    },
    async close() {
      await db.close()
      await threads?.closeScanner()
    },
  } satisfies ProcessDatabase
}
