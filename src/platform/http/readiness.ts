/**
 * Whether a node can serve. Only the database can make it unready: without the rest it goes on, less well, and says so.
 * A load balancer that took every node out because Redis is away would turn a nuisance into an outage.
 */
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'

export interface ReadinessOptions {
  log: Log
  /** Rejects where the database does not take writes. */
  checkDatabase(): Promise<void>
  /** What the service goes on without, by the name that operators see; false while it is away or does not work in full. */
  neighbours: Readonly<Record<string, () => boolean>>
}

export interface Readiness {
  /** Returns the names of what is away. Rejects where the service is not ready. */
  check(): Promise<string[]>
  /** By name: 1 what is well, 0 what is not. */
  figures(): Promise<Record<string, number>>
}

const timeoutMs = 900
/** However often anybody asks, the database is asked no more often than this. */
const maxAgeMs = 1000

export function createReadiness({ log, checkDatabase, neighbours }: ReadinessOptions): Readiness {
  let latest: { askedAt: number; outcome: Promise<void> } | undefined
  let isReady = true

  function databaseOutcome(): Promise<void> {
    const now = performance.now()
    if (!latest || now - latest.askedAt >= maxAgeMs) latest = { askedAt: now, outcome: ask() }
    return latest.outcome
  }

  async function ask(): Promise<void> {
    try {
      await withTimeout(checkDatabase(), timeoutMs)
      if (!isReady) log.info('ready again')
      isReady = true
    } catch (error) {
      if (isReady) log.error({ err: error }, 'not ready: the database does not take writes')
      isReady = false
      throw error
    }
  }

  const away = () => Object.keys(neighbours).filter((name) => !neighbours[name]?.())

  return {
    async check() {
      await databaseOutcome()
      return away()
    },
    async figures() {
      const takesWrites = await databaseOutcome().then(
        () => true,
        () => false,
      )
      const figures = Object.fromEntries(Object.keys(neighbours).map((name) => [name, 1]))
      for (const name of away()) figures[name] = 0
      return { ...figures, database: takesWrites && figures.database !== 0 ? 1 : 0 }
    },
  }
}
