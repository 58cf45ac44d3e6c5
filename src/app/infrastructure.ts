/** What every part stands on: the configuration, the log, the clock, randomness and the database. */
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { root } from '../config/root.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { type Random, systemRandom } from '../core/random.ts'
import type { Database, Observe } from '../platform/database/database.ts'
import { openDatabase } from '../platform/database/open.ts'
import type { Log } from '../platform/log/logger.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'

export interface InfrastructureOptions {
  config: Config
  log: Log
  clock?: Clock
  random?: Random
  /** A folder with a folder of migrations for each engine. */
  migrations?: string
  observe?: Observe
  /** Absent where nobody reads them, as with commands. */
  metrics?: Metrics
  /** A service goes on where the database has a fault, and logs it; a command ends with it. */
  isService?: boolean
}

export interface Infrastructure {
  config: Config
  log: Log
  clock: Clock
  random: Random
  db: Database
  metrics: Metrics | undefined
  /** The migrations that opening it applied. */
  applied: readonly string[]
  /** What is opened later is closed earlier. */
  onClose(closer: () => Promise<unknown>): void
  close(): Promise<void>
}

export async function openInfrastructure(options: InfrastructureOptions): Promise<Infrastructure> {
  const { config, log, clock = systemClock, random = systemRandom, observe, isService = false } = options
  const { db, applied } = await openDatabase({
    ...config.database,
    root,
    migrations: options.migrations ?? join(root, 'migrations'),
    clock,
    random,
    onConnectionLost: (error) => log.warn({ err: error }, 'database connection lost'),
    faultLog: isService ? log : undefined,
    // Commands show warnings alone.
    onLongWork: (line) => (isService ? log.info(line) : log.warn(line)),
    ...(observe && { observe }),
  })
  if (applied.length > 0) log.info({ applied }, 'migrations applied')
  const closers: (() => Promise<unknown>)[] = [() => db.close()]
  return {
    config,
    log,
    clock,
    random,
    db,
    metrics: options.metrics,
    applied,
    onClose: (closer) => void closers.push(closer),
    async close() {
      for (const closer of closers.splice(0).reverse()) await closer()
    },
  }
}
