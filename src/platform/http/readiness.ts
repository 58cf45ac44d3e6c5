/**
 * Only the database can make a node unready; without its other dependencies it is degraded. If Redis counted too, the
 * load balancer would remove all nodes at once, and turn a degradation into an outage.
 */
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'

export interface ReadinessOptions {
  log: Log
  /** Rejects if the database does not accept writes. */
  checkDatabase(): Promise<void>
  /** Optional dependencies by the name that operators see; false while unavailable or impaired. */
  dependencies: Readonly<Record<string, () => boolean>>
}

export interface Readiness {
  /** Returns the names of unavailable dependencies. Rejects if the service is not ready. */
  check(): Promise<string[]>
  /** Whether the database accepts writes, also while the service is about to stop. */
  acceptsWrites(): Promise<boolean>
  /** By name: 1 if available, 0 if not. */
  gauges(): Promise<Record<string, number>>
  /** From now on `check` rejects: the service is about to stop. */
  drain(): void
}

const timeoutMs = 900
/** Caches the result, so that frequent health checks do not load the database. */
const maxAgeMs = 1000

export function createReadiness({ log, checkDatabase, dependencies }: ReadinessOptions): Readiness {
  let latest: { checkedAt: number; outcome: Promise<void> } | undefined
  let isReady = true
  let isDraining = false

  function databaseOutcome(): Promise<void> {
    const now = performance.now()
    if (!latest || now - latest.checkedAt >= maxAgeMs) latest = { checkedAt: now, outcome: checkOnce() }
    return latest.outcome
  }

  async function checkOnce(): Promise<void> {
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

  const acceptsWrites = () =>
    databaseOutcome().then(
      () => true,
      () => false,
    )

  const unavailable = () => Object.keys(dependencies).filter((name) => !dependencies[name]?.())

  return {
    async check() {
      if (isDraining) throw new Error('the service is stopping')
      await databaseOutcome()
      return unavailable()
    },
    acceptsWrites,
    async gauges() {
      const isWritable = await acceptsWrites()
      const gauges = Object.fromEntries(Object.keys(dependencies).map((name) => [name, 1]))
      for (const name of unavailable()) gauges[name] = 0
      return { ...gauges, database: isWritable && gauges.database !== 0 ? 1 : 0 }
    },
    drain() {
      isDraining = true
    },
  }
}
