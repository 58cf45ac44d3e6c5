import type { CoreConfig } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import type { Random } from '../core/random.ts'
import type { OnAccessChanged } from './access/access-changes.ts'
import type { Audit } from './audit/audit.ts'
import type { Announce } from './bus/announce.ts'
import type { Bus } from './bus/bus.ts'
import type { ChangeLog } from './changes/change-log.ts'
import type { Database } from './database/database.ts'
import type { MaintainedCounts } from './database/maintained-counts.ts'
import type { DeclaredSchema } from './database/migrations.ts'
import type { SingleUseIds } from './database/single-use-ids.ts'
import type { Events } from './events/events.ts'
import type { SharedResponses } from './http/shared-responses.ts'
import type { LimitPerAddress } from './limiter/connections-per-address.ts'
import type { CreateLimiter } from './limiter/limiter.ts'
import type { Log } from './log/logger.ts'
import type { Mail } from './mail/mail-queue.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Nodes } from './nodes/nodes.ts'
import type { HashPool } from './passwords/hash-pool.ts'
import type { Secrets } from './secrets/secrets.ts'
import type { ReadRecentRequests } from './threads/process-parts.ts'
import type { Tracing } from './tracing/tracing.ts'

/** What every feature may use. */
export interface Infrastructure<Config = CoreConfig> {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
  /** Of this start of the process: unique, and the same in all of its threads. */
  readonly nodeId: string
  readonly db: Database
  /** What the service and all features declare about the database. */
  readonly schema: DeclaredSchema
  /** Undefined in commands, which serve no /metrics. */
  readonly metrics: Metrics | undefined
  /** The requests of the last hour, of each thread of this process. Undefined in commands. */
  readonly readRecentRequests: ReadRecentRequests | undefined
  /** Undefined without OpenTelemetry. */
  readonly tracing: Tracing | undefined
  readonly counts: MaintainedCounts
  readonly singleUseIds: SingleUseIds
  readonly audit: Audit
  readonly secrets: Secrets
  /** Undefined if there is no way to send mail. */
  readonly mail: Mail | undefined
  /** What was committed, in order: for readers that must miss nothing. */
  readonly changes: ChangeLog
  /** Responses to send again for as long as nothing changes. */
  readonly responses: SharedResponses
  /** Names of the jobs that features declare. */
  readonly jobs: readonly string[]
  /** The nodes that share the database. */
  readonly nodes: Nodes
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
  /** Limits what a client address may have open at once, over all threads of the process. `name` is unique. */
  readonly limitPerAddress: LimitPerAddress
  /** The pool of the process. To be closed by the caller. */
  openHashPool(): HashPool
  /** False in commands, which need no signing keys. */
  readonly isServing: boolean
  /** Called in reverse order of registration. */
  onClose(close: () => Promise<unknown>): void
}
