/** Builds the GraphQL engines from the elements of all features, and adds the routes that serve them. */

import type { FastifyInstance } from 'fastify'
import { isPlaygroundOpen } from '../config/config.ts'
import { createLiveAccess } from '../platform/access/live-access.ts'
import { createEngine, type EngineOptions } from '../platform/graphql/execution/engine.ts'
import { countedCodes } from '../platform/graphql/execution/error-counts.ts'
import { createFairScheduler } from '../platform/graphql/execution/fair-scheduler.ts'
import { graphqlPath, graphqlRoutes } from '../platform/graphql/http/graphql.routes.ts'
import { servePlayground } from '../platform/graphql/playground/playground.ts'
import { maxRunningOperations } from '../platform/graphql/websocket/operation-quota.ts'
import { namedPlugin } from '../platform/http/named-plugin.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import { createAddressBudgets } from '../platform/limiter/address-budgets.ts'
import { createThemeReader } from '../platform/pages/frame/theme.ts'
import { traceEngine } from '../platform/tracing/traced-engine.ts'
import type { Joined } from './join.ts'

export type GraphQL = Awaited<ReturnType<typeof createGraphQL>>

export async function createGraphQL(infrastructure: Infrastructure, joined: Joined) {
  const { config, log, clock, metrics, tracing, topics, nodeBus, limitPerAddress, onClose } = infrastructure
  const { graphql } = config
  const { authenticate, keys } = joined.signIn
  const liveAccess = await createLiveAccess({ authenticate, bus: nodeBus, clock, log })
  onClose(() => liveAccess.close())
  const scheduler = createFairScheduler({ onError: (error) => log.error({ err: error }, 'a task of a client failed') })
  const budgets = createAddressBudgets({
    maxBytes: graphql.maxBytesPerAddress,
    subscriptions: limitPerAddress('subscriptions', graphql.maxSubscriptionsPerAddress),
    maxOperations: maxRunningOperations,
  })
  const countError = metrics?.addCounter({
    name: 'graphql_errors_total',
    help: 'Errors in answers of GraphQL, whatever their HTTP status.',
    label: { name: 'code', values: countedCodes },
  })
  const shared = {
    policies: joined.policies,
    log,
    limits: graphql.limits,
    scheduler,
    ...(countError && { countError }),
  }
  const createTracedEngine = (options: EngineOptions) =>
    tracing ? traceEngine(createEngine(options), tracing) : createEngine(options)
  const engine = createTracedEngine({
    ...shared,
    elements: joined.elements,
    bus: topics,
    allowsIntrospection: isPlaygroundOpen(config),
  })
  onClose(() => engine.close())
  const consoleEngine = createTracedEngine({
    ...shared,
    elements: joined.liveElements,
    bus: nodeBus,
    allowsIntrospection: false,
  })
  onClose(() => consoleEngine.close())

  return {
    engine,
    scheduler,
    budgets,
    authenticate,
    liveAccess,
    /** Before the first request, so that it need not wait for them. Throws if elements of features do not fit together. */
    prepareSchemas() {
      for (const each of [engine, consoleEngine]) each.prepareSchema()
    },
    /** Has only the subscriptions of console pages: a session cookie on a WebSocket must not allow queries or mutations. */
    consoleEngine,
    counts() {
      const [one, other] = [engine.counts(), consoleEngine.counts()]
      return { subscribers: one.subscribers + other.subscribers, sources: one.sources + other.sources }
    },
    async addRoutes(app: FastifyInstance): Promise<void> {
      servePlayground(app, {
        isOn: isPlaygroundOpen(config),
        themeOf: createThemeReader(config.server.publicUrl),
      })
      await app.register(namedPlugin('graphql', graphqlRoutes), {
        prefix: graphqlPath,
        engine,
        authenticate,
        keys,
        liveAccess,
        maxBatch: graphql.limits.batch,
        maxCost: graphql.limits.cost,
        streamsPerAddress: limitPerAddress('streams', graphql.maxSocketsPerAddress),
        budgets,
      })
    },
  }
}
