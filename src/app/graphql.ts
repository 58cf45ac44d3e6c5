/** GraphQL: the schema of all elements, and where it is served. */
import type { FastifyInstance } from 'fastify'
import { isPlaygroundOpen } from '../config/config.ts'
import type { Posts } from '../features/posts/posts.service.ts'
import { createProductChangeElements } from '../features/products/product-changes.graphql.ts'
import { productCreatedTopic } from '../features/products/products.graphql.ts'
import type { Products } from '../features/products/products.service.ts'
import { createUserElements } from '../features/users/users.graphql.ts'
import type { Policies } from '../platform/access/authorize.ts'
import type { LiveAccess } from '../platform/access/live-access.ts'
import type { Authenticate, Principal } from '../platform/access/route-guards.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { createEngine } from '../platform/graphql/execution/engine.ts'
import { countedCodes } from '../platform/graphql/execution/error-counts.ts'
import { createFairTurns } from '../platform/graphql/execution/fair-turns.ts'
import { graphqlPath, graphqlRoutes } from '../platform/graphql/http/graphql.routes.ts'
import { servePlayground } from '../platform/graphql/playground/playground.ts'
import type { Element } from '../platform/graphql/schema/elements.ts'
import { maxUnderWay } from '../platform/graphql/websocket/operation-room.ts'
import { createAddressBudgets } from '../platform/limiter/address-budgets.ts'
import type { CreateLimiter } from '../platform/limiter/limiter.ts'
import type { Announce } from './buses.ts'
import { createElements } from './elements.ts'
import type { AppEvents } from './events.ts'
import type { Infrastructure } from './infrastructure.ts'

export interface GraphQLParts {
  posts: Posts
  products: Products
  policies: Policies<Principal>
  events: AppEvents
  topics: Bus
  /** Of what the nodes of the service tell each other. */
  ownBus: Bus
  announce: Announce
  authenticate: Authenticate
  liveAccess: LiveAccess
  createLimiter: CreateLimiter
  /** Beside the service's own. */
  elements: readonly Element[]
}

export function createGraphQL({ config, log, metrics, onClose }: Infrastructure, parts: GraphQLParts) {
  const { graphql } = config
  const turns = createFairTurns({ onError: (error) => log.error({ err: error }, 'what was done for a client failed') })
  const budgets = createAddressBudgets({
    maxBytes: graphql.maxBytesPerAddress,
    maxSubscriptions: graphql.maxSubscriptionsPerAddress,
    maxOperations: maxUnderWay,
  })
  const countError = metrics?.addCounter({
    name: 'graphql_errors_total',
    help: 'Errors in answers of GraphQL, whatever their HTTP status.',
    label: { name: 'code', values: countedCodes },
  })
  const shared = { policies: parts.policies, log, limits: graphql.limits, turns, ...(countError && { countError }) }
  const engine = createEngine({
    ...shared,
    elements: [
      ...createElements(config, {
        ...parts,
        limiter: parts.createLimiter('posts', graphql.rateLimit),
        byteLimiter: parts.createLimiter('post-bytes', graphql.byteLimit),
      }),
      ...parts.elements,
    ],
    bus: parts.topics,
    allowsIntrospection: isPlaygroundOpen(config),
  })
  onClose(() => engine.close())
  const consoleEngine = createEngine({
    ...shared,
    elements: [...createUserElements(), ...createProductChangeElements()],
    bus: parts.ownBus,
    allowsIntrospection: false,
  })
  onClose(() => consoleEngine.close())
  parts.events.on('ProductCreated', (product) => parts.announce(productCreatedTopic, product))

  return {
    engine,
    turns,
    budgets,
    /** What the socket of the console's pages is for, and nothing else: who is signed in by a cookie can only listen. */
    consoleEngine,
    counts() {
      const [one, other] = [engine.counts(), consoleEngine.counts()]
      return { subscribers: one.subscribers + other.subscribers, sources: one.sources + other.sources }
    },
    async addRoutes(app: FastifyInstance): Promise<void> {
      servePlayground(app, { isOn: isPlaygroundOpen(config) })
      await app.register(graphqlRoutes, {
        prefix: graphqlPath,
        engine,
        authenticate: parts.authenticate,
        liveAccess: parts.liveAccess,
        maxBatch: graphql.limits.batch,
        maxCost: graphql.limits.cost,
        maxStreamsPerAddress: graphql.maxSocketsPerAddress,
        budgets,
      })
    },
  }
}
