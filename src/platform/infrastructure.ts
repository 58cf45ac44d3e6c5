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

/** What every feature may use. */
export interface Infrastructure<Config = CoreConfig> {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
  readonly db: Database
  /** Undefined in commands, where nobody reads them. */
  readonly metrics: Metrics | undefined
  readonly counts: MaintainedCounts
  readonly singleUseIds: SingleUseIds
  readonly audit: Audit
  readonly secrets: Secrets
  /** What happens in this process. */
  readonly events: Events
  /** The topics of GraphQL's subscriptions, on every node. */
  readonly topics: Bus
  /** Publishes to a topic, and never rejects: what is told has happened. */
  readonly announce: Announce
  /** What the nodes of the service tell each other. */
  readonly nodeBus: Bus
  /** Tell it once roles, a password or a session have changed: open connections follow. */
  readonly onAccessChanged: OnAccessChanged
  readonly createLimiter: CreateLimiter
  /** False in a command, which serves nobody and needs no keys to sign with. */
  readonly isServing: boolean
  /** What is opened later is closed earlier. */
  onClose(close: () => Promise<unknown>): void
}
