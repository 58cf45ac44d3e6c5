/** Everything that serves requests, apart from the listening sockets: infrastructure, features, GraphQL, readiness. */
import { root } from '../config/root.ts'
import { readVersion } from '../config/version.ts'
import { systemRandom } from '../core/random.ts'
import { startActorBackfill } from '../platform/audit/actor-backfill.ts'
import { startCursorEncryption } from '../platform/changes/encrypt-cursors.ts'
import { startRetention } from '../platform/changes/retention.ts'
import { startCleanup } from '../platform/database/cleanup.ts'
import type { Database } from '../platform/database/database.ts'
import { startFolding } from '../platform/database/maintained-counts.ts'
import { findSqlitePath } from '../platform/database/open.ts'
import { createStorage } from '../platform/database/storage.ts'
import type { Feature } from '../platform/feature.ts'
import { createReadiness } from '../platform/http/readiness.ts'
import { createMetrics, type Metrics } from '../platform/metrics/metrics.ts'
import { createOwnParts, type ProcessParts } from '../platform/threads/process-parts.ts'
import type { Telemetry } from '../platform/tracing/otlp/telemetry.ts'
import { expiringTables } from './declarations.ts'
import { createdAmong, isOwn, withOwnFeatures, withoutDisabled } from './features.ts'
import { createGraphQL } from './graphql.ts'
import { buildOnInfrastructure, type InfrastructureOptions, type OpenInfrastructure } from './infrastructure.ts'
import { createServices, joinFeatures } from './join.ts'

export interface ServiceOptions
  extends Omit<InfrastructureOptions, 'features' | 'observe' | 'metrics' | 'telemetry' | 'isServing'> {
  /** In addition to the service's own features. */
  extensions?: readonly Feature[]
}

export async function openService({ extensions = [], ...options }: ServiceOptions) {
  const features = withOwnFeatures(extensions)
  const metrics = createMetrics()
  const reads = metrics.databaseSeries({ operation: 'read' })
  const writes = metrics.databaseSeries({ operation: 'write' })
  const threads = options.threads ?? createOwnParts()
  const telemetry = await openConfiguredTelemetry({ ...options, threads }, metrics)
  return buildOnInfrastructure(
    {
      ...options,
      threads,
      features,
      metrics,
      telemetry,
      isServing: true,
      observe: (operation, ms) => (operation === 'read' ? reads : writes).observe(ms / 1000),
    },
    async (infrastructure) => {
      const service = await joinAll(features, infrastructure, metrics)
      const exportLastMetrics = async () => telemetry?.exportLastMetrics()
      // At a stop, right after the servers: all requests are counted, and nothing else is closed yet.
      infrastructure.onClose(exportLastMetrics)
      return { ...service, exportLastMetrics }
    },
  )
}

/** Loaded only if it is used. */
async function openConfiguredTelemetry(
  { config, log, random = systemRandom, threads }: ServiceOptions & { threads: ProcessParts },
  own: Metrics,
): Promise<Telemetry | undefined> {
  const { endpoint, ...configured } = config.telemetry
  if (endpoint === undefined) return undefined
  // Every thread exports its spans; one exports the metrics of all.
  const settings = { ...configured, endpoint, ...(!threads.doesBackgroundWork && { metrics: 'none' as const }) }
  const metrics = threads.metricsOf(own)
  const { openTelemetry } = await import('../platform/tracing/otlp/telemetry.ts')
  return openTelemetry({ settings, metrics, version: readVersion(), instanceId: threads.nodeId, random, log })
}

async function joinAll(features: readonly Feature[], infrastructure: OpenInfrastructure, metrics: Metrics) {
  const { config, log, clock, db, threads, onClose } = infrastructure
  const enabled = withoutDisabled(features, config.features.disabled)
  const services = await createServices(createdAmong(features, enabled), infrastructure, enabled)
  const joined = await joinFeatures(enabled, services, infrastructure)
  if (threads.doesBackgroundWork) {
    const { cursors } = infrastructure.changes
    for (const running of [
      startCleanup({ db, clock, log, tables: expiringTables(features, config) }),
      startActorBackfill({ db, log }),
      startFolding({ db, log }),
      startCursorEncryption({ cursors, clock, log }),
      startRetention({ db, clock, log, days: config.changes.retentionDays, cursors }),
    ]) {
      onClose(() => running.close())
    }
  }
  const graphql = await createGraphQL(infrastructure, joined)
  // Our own are known to fit.
  if (enabled.some((feature) => !isOwn(feature))) graphql.prepareSchemas()
  await joined.start({ doesBackgroundWork: threads.doesBackgroundWork })
  const storage = createStorage(db, findSqlitePath(config.database.url, root))
  const readiness = createReadiness({
    log,
    async checkDatabase() {
      await db.checkWritable()
      // A write that changes nothing may succeed where one that needs room does not.
      await storage.requireRoom()
    },
    dependencies: { ...neighboursOf(db, infrastructure), database: () => !db.hasFaults() },
  })
  return { infrastructure, metrics, services, joined, graphql, readiness }
}

export type Service = Awaited<ReturnType<typeof openService>>

/** Buses count as a part of what they run on: an operator can repair Redis, not one of our connections to it. */
function neighboursOf(
  db: Database,
  { redis, nodeBus, topics, config }: OpenInfrastructure,
): Record<string, () => boolean> {
  const areTopicsInPostgres = config.graphql.pubsub === 'postgres'
  const busesOfRedis = areTopicsInPostgres ? [nodeBus] : [nodeBus, topics]
  const busesOfPostgres = redis ? [topics] : [nodeBus, topics]
  return {
    ...(redis && { redis: () => redis.isUp() && busesOfRedis.every((bus) => bus.isUp()) }),
    ...(db.dialect === 'postgres' &&
      (!redis || areTopicsInPostgres) && { notifications: () => busesOfPostgres.every((bus) => bus.isUp()) }),
  }
}
