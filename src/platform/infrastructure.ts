import type { CoreConfig } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import type { Random } from '../core/random.ts'
import type { OnAccessChanged } from './access/access-changes.ts'
import type { Audit } from './audit/audit.ts'
import type { Announce } from './bus/announce.ts'
import type { Bus } from './bus/bus.ts'
import type { Database } from './database/database.ts'
import type { MaintainedCounts } from './database/maintained-counts.ts'
import type { SingleUseIds } from './database/single-use-ids.ts'
import type { Events } from './events/events.ts'
import type { CreateLimiter } from './limiter/limiter.ts'
import type { Log } from './log/logger.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { Tracing } from './tracing/tracing.ts'

/** What every feature may use. */
export interface Infrastructure<Config = CoreConfig> {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
  readonly db: Database
  /** Undefined in commands, which serve no /metrics. */
  readonly metrics: Metrics | undefined
  /** Undefined without OpenTelemetry. */
  readonly tracing: Tracing | undefined
  readonly counts: MaintainedCounts
  readonly singleUseIds: SingleUseIds
  readonly audit: Audit
  readonly secrets: Secrets
  /** Domain events within this process. */
  readonly events: Events
  /** The topics of GraphQL subscriptions, across nodes. */
  readonly topics: Bus
  /** Publishes to a topic; never rejects. */
  readonly announce: Announce
  /** Messages between the nodes of the service. */
  readonly nodeBus: Bus
  /** Call after a user's roles, password or sessions have changed, so that open connections are re-checked. */
  readonly onAccessChanged: OnAccessChanged
  readonly createLimiter: CreateLimiter
  /** False in commands, which need no signing keys. */
  readonly isServing: boolean
  /** Called in reverse order of registration. */
  onClose(close: () => Promise<unknown>): void
}
