/** Opens what every feature may use: database, buses, rate limits, audit trail, secrets and the rest. */
import { hostname } from 'node:os'
import type { CoreConfig } from '../config/config.ts'
import { root } from '../config/root.ts'
import { readVersion } from '../config/version.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { type Random, systemRandom } from '../core/random.ts'
import { createAccessChanges } from '../platform/access/access-changes.ts'
import { createAudit } from '../platform/audit/audit.ts'
import { createAnnounce } from '../platform/bus/announce.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { createMemoryBus } from '../platform/bus/memory.ts'
import { createChangeLog } from '../platform/changes/change-log.ts'
import { createCursors } from '../platform/changes/cursors.ts'
import type { Observe } from '../platform/database/database.ts'
import { createMaintainedCounts } from '../platform/database/maintained-counts.ts'
import { withAdvice } from '../platform/database/open.ts'
import { createSingleUseIds } from '../platform/database/single-use-ids.ts'
import { countWriteFailures } from '../platform/database/write-failures.ts'
import { createEvents } from '../platform/events/events.ts'
import type { Feature } from '../platform/feature.ts'
import { createSharedResponses } from '../platform/http/shared-responses.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import { createLimiters } from '../platform/limiter/limiter.ts'
import type { Log } from '../platform/log/logger.ts'
import { createMailTransport } from '../platform/mail/mail.ts'
import { createMailQueue, maxMailDelayMs } from '../platform/mail/mail-queue.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import { createNodeStore } from '../platform/nodes/nodes.store.ts'
import { createNodes } from '../platform/nodes/nodes.ts'
import { openRedis, type Redis } from '../platform/redis/redis.ts'
import { createOwnParts, type ProcessParts } from '../platform/threads/process-parts.ts'
import type { Telemetry } from '../platform/tracing/otlp/telemetry.ts'
import { traceDatabase } from '../platform/tracing/traced-database.ts'
import { type BusParts, openNodeBus, openTopicBus, warnWithoutListen } from './buses.ts'
import { warnOfLonelyTopics } from './lonely-topics.ts'
import { createOneShotAccessNotice } from './one-shot-access-notice.ts'
import { openSecrets } from './open-secrets.ts'
import { openServiceDatabase, type ServiceDatabaseOptions } from './open-service-database.ts'

/** Of each thread. */
const maxSharedBytes = 16 * 1024 * 1024

export interface InfrastructureOptions extends Pick<ServiceDatabaseOptions, 'onWriterDeath'> {
  config: CoreConfig
  log: Log
  features: readonly Feature[]
  clock?: Clock
  random?: Random
  observe?: Observe
  /** Absent in commands, which serve no /metrics. */
  metrics?: Metrics
  /** Absent without OpenTelemetry. Closed last. */
  telemetry?: Telemetry | undefined
  /** False in commands: they connect neither to Redis nor to a bus, and a database fault ends them. */
  isServing: boolean
  /** What the serving threads of the process share. By default there is only this thread. */
  threads?: ProcessParts
}

export interface OpenInfrastructure extends Infrastructure {
  readonly redis: Redis | undefined
  readonly threads: ProcessParts
  /** Names of the migrations that were applied while opening. */
  readonly applied: readonly string[]
  close(): Promise<void>
}

/** Opens the infrastructure and builds on it. Closes it again if `build` throws; otherwise closing is up to the caller. */
export async function buildOnInfrastructure<T>(
  options: InfrastructureOptions,
  build: (infrastructure: OpenInfrastructure) => Promise<T>,
): Promise<T> {
  const infrastructure = await openInfrastructure(options)
  try {
    return await build(infrastructure)
  } catch (error) {
    await infrastructure.close()
    throw withAdvice(error, { url: options.config.database.url, root })
  }
}

export async function openInfrastructure(options: InfrastructureOptions): Promise<OpenInfrastructure> {
  const {
    config,
    log,
    clock = systemClock,
    random = systemRandom,
    observe,
    isServing,
    onWriterDeath,
    metrics,
  } = options
  const threads = options.threads ?? createOwnParts()
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  const opened = <Resource extends { close(): Promise<unknown> }>(resource: Resource): Resource => {
    closers.push(() => resource.close())
    return resource
  }

  try {
    const tracing = options.telemetry && opened(options.telemetry).tracing
    const {
      db: plainDb,
      applied,
      declared,
    } = await openServiceDatabase({
      config,
      log,
      features: options.features,
      clock,
      random,
      isServing,
      claimOnce: threads.claimOnce,
      onWriterDeath,
      ...(observe && { observe }),
      ...(threads.database && { ...threads.database, isMigrated: true }),
    })
    const counted = countWriteFailures(opened(plainDb), metrics)
    const db = tracing ? traceDatabase(counted, tracing) : counted
    const redis =
      isServing && config.redis.url !== undefined ? opened(await openRedis(config.redis.url, log)) : undefined
    const open = async (bus: (parts: BusParts, redis: Redis | undefined) => Promise<Bus>) =>
      opened(isServing ? await bus({ config, log, db, threads, tracing }, redis) : createMemoryBus({ log }))
    const nodeBus = await open(openNodeBus)
    const topics = await open(openTopicBus)
    const secrets = openSecrets({ config, log, random, isServing })
    const transport = createMailTransport({ ...config.mail, isDevelopment: config.isDevelopment, log })
    const { encryption } = secrets
    const maxDelayMs = config.isDevelopment ? 0 : maxMailDelayMs
    const mail =
      transport && opened(createMailQueue({ transport, db, clock, random, encryption, metrics, log, maxDelayMs }))
    const cursors = await createCursors({ db, keys: secrets.deriveKeys('change cursors'), random })
    const changes = opened(await createChangeLog({ db, bus: nodeBus, clock, log, cursors }))
    const readRecentRequests = metrics && threads.recentRequestsOf(metrics)
    if (isServing) warnWithoutListen({ config, db, log, threads }, redis)
    // A SQLite file has one node.
    if (isServing && db.dialect === 'postgres' && config.graphql.pubsub === 'in_memory' && threads.doesBackgroundWork) {
      const stop = await warnOfLonelyTopics({ nodeBus, log, nodeId: random.id() })
      closers.push(async () => stop())
    }
    return {
      config,
      log,
      clock,
      random,
      nodeId: threads.nodeId,
      db,
      schema: declared,
      redis,
      applied,
      metrics,
      readRecentRequests,
      tracing,
      counts: createMaintainedCounts(db),
      singleUseIds: createSingleUseIds(db),
      audit: createAudit({ clock, events: declared.auditEvents }),
      secrets,
      jobs: declared.jobs,
      mail,
      changes,
      responses: createSharedResponses({ maxBytes: maxSharedBytes }),
      nodes: createNodes({
        store: db.dialect === 'postgres' ? createNodeStore(db) : undefined,
        clock,
        log,
        self: { id: threads.nodeId, name: hostname(), version: readVersion() },
        countThreads: async () => (await readRecentRequests?.())?.length ?? 0,
      }),
      events: createEvents({ log }),
      topics,
      announce: createAnnounce(topics, log),
      nodeBus,
      onAccessChanged: isServing
        ? createAccessChanges({ bus: nodeBus, log })
        : createOneShotAccessNotice({ config, log, db, threads }),
      createLimiter: createLimiters(redis, {
        counts: threads.rateCounts,
        onFallback: metrics?.addCounter({
          name: 'rate_limit_fallbacks_total',
          help: 'Rate limit checks that this node counted alone, because Redis did not answer.',
        }),
      }),
      limitPerAddress: threads.limitPerAddress,
      openHashPool: threads.openHashPool,
      threads,
      isServing,
      onClose: (closer) => void closers.push(closer),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
