/** GraphQL: the schema of all elements, and where it is served. */
import type { FastifyInstance } from 'fastify'
import { isPlaygroundOpen } from '../config/config.ts'
import type { Posts } from '../features/posts/posts.service.ts'
import { productCreatedTopic } from '../features/products/products.graphql.ts'
import type { Products } from '../features/products/products.service.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { createEngine } from '../platform/graphql/create-engine.ts'
import type { Element } from '../platform/graphql/elements.ts'
import { createFairTurns } from '../platform/graphql/fair-turns.ts'
import { graphqlPath, graphqlRoutes } from '../platform/graphql/http/graphql.routes.ts'
import { servePlayground } from '../platform/graphql/playground/playground.ts'
import { maxUnderWay } from '../platform/graphql/sockets/operation-room.ts'
import type { Authenticate, Principal } from '../platform/http/access.ts'
import type { Policies } from '../platform/http/authorize.ts'
import type { LiveAccess } from '../platform/http/live-access.ts'
import { createAddressBudgets } from '../platform/limiter/address-budgets.ts'
import type { CreateLimiter } from '../platform/limiter/limiter.ts'
import { createElements } from './elements.ts'
import type { AppEvents } from './events.ts'
import type { Ground } from './ground.ts'

export interface GraphQLParts {
  posts: Posts
  products: Products
  policies: Policies<Principal>
  events: AppEvents
  topics: Bus
  authenticate: Authenticate
  liveAccess: LiveAccess
  createLimiter: CreateLimiter
  /** Beside the service's own. */
  elements: readonly Element[]
}

export function createGraphQL({ config, log, onClose }: Ground, parts: GraphQLParts) {
  const { graphql } = config
  const turns = createFairTurns({ onError: (error) => log.error({ err: error }, 'what was done for a client failed') })
  const budgets = createAddressBudgets({
    maxBytes: graphql.maxBytesPerAddress,
    maxSubscriptions: graphql.maxSubscriptionsPerAddress,
    maxOperations: maxUnderWay,
  })
  const engine = createEngine({
    elements: [
      ...createElements(config, { ...parts, limiter: parts.createLimiter('posts', graphql.rateLimit) }),
      ...parts.elements,
    ],
    policies: parts.policies,
    bus: parts.topics,
    log,
    limits: graphql.limits,
    allowsIntrospection: isPlaygroundOpen(config),
    turns,
  })
  onClose(() => engine.close())
  parts.events.on('ProductCreated', (product) => parts.topics.publish(productCreatedTopic, product))

  return {
    engine,
    turns,
    budgets,
    async addRoutes(app: FastifyInstance): Promise<void> {
      servePlayground(app, { isOn: isPlaygroundOpen(config) })
      await app.register(graphqlRoutes, {
        prefix: graphqlPath,
        engine,
        authenticate: parts.authenticate,
        liveAccess: parts.liveAccess,
        corsOrigins: config.cors.origins,
        maxBatch: graphql.limits.batch,
        maxCost: graphql.limits.cost,
        maxStreamsPerAddress: graphql.maxSocketsPerAddress,
        budgets,
      })
    },
  }
}
