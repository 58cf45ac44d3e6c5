/** The composition root: with the files of app/ the only place that knows every part. */
import type { FastifyInstance } from 'fastify'
import { createAccounts } from './app/accounts.ts'
import { createAuth } from './app/auth.ts'
import type { AppEvents, EventMap } from './app/events.ts'
import { createGraphQL } from './app/graphql.ts'
import { type GroundOptions, openGround } from './app/ground.ts'
import { createProductParts } from './app/products.ts'
import { readVersion } from './config/version.ts'
import { createPolicies, type Policy } from './features/access/policies.ts'
import { adminRoutes } from './features/admin/admin.routes.ts'
import { counterTopic } from './features/posts/posts.graphql.ts'
import { postPolicy } from './features/posts/posts.policy.ts'
import { addPostRoutes } from './features/posts/posts.routes.ts'
import { createPosts } from './features/posts/posts.service.ts'
import { createPostStore } from './features/posts/posts.store.ts'
import { productRoutes, productsPath } from './features/products/products.routes.ts'
import { createMemoryBus } from './platform/bus/memory.ts'
import { startCleanup } from './platform/database/cleanup.ts'
import type { Database } from './platform/database/database.ts'
import { createKeptCounts, startFolding } from './platform/database/kept-counts.ts'
import { createEvents } from './platform/events/events.ts'
import type { Element } from './platform/graphql/elements.ts'
import type { Engine } from './platform/graphql/engine.ts'
import { createHttpServer } from './platform/http/server.ts'
import { createLimiters } from './platform/limiter/limiter.ts'
import { createMetrics } from './platform/metrics/metrics.ts'
import { openRedis } from './platform/redis/redis.ts'

export interface AppOptions extends Omit<GroundOptions, 'observe'> {
  /** Routes beside the service's own. */
  extend?: Extend
  /** Policies for those routes and elements. */
  policies?: Readonly<Record<string, Policy<never>>>
  /** Elements of the GraphQL schema beside the service's own. */
  elements?: readonly Element[]
}

/** Adds to the service, before it serves. */
export type Extend = (app: FastifyInstance, parts: Parts) => void | Promise<void>

export interface Parts {
  db: Database
  events: AppEvents
  engine: Engine
}

export interface App {
  /** Serves, and answers the address it serves on. */
  listen(): Promise<{ url: string }>
  close(): Promise<void>
}

export async function createApp(options: AppOptions): Promise<App> {
  const metrics = createMetrics()
  const reads = metrics.databaseSeries({ operation: 'read' })
  const writes = metrics.databaseSeries({ operation: 'write' })
  const ground = await openGround({
    ...options,
    observe: (operation, ms) => (operation === 'read' ? reads : writes).observe(ms / 1000),
  })
  try {
    const { config, log, clock, random, db } = ground
    const redis = config.redis.url === undefined ? undefined : await openRedis(config.redis.url, log)
    if (redis) ground.onClose(() => redis.close())

    const accounts = createAccounts(ground)
    const auth = createAuth(ground, accounts)
    const cleanup = startCleanup({ db, clock, log, tables: expiringTables })
    ground.onClose(() => cleanup.close())
    const folding = startFolding({ db, log })
    ground.onClose(() => folding.close())
    const events = createEvents<EventMap>({ log })
    const { products } = createProductParts(ground, events)
    const topics = createMemoryBus({ log })
    ground.onClose(() => topics.close())
    const posts = createPosts({
      store: createPostStore({ db, clock, counts: createKeptCounts(db) }),
      onCounted: (count) => topics.publish(counterTopic, { count }),
    })
    const policies = createPolicies({ posts: postPolicy, ...options.policies })
    const createLimiter = createLimiters(redis?.client)
    const graphql = createGraphQL(ground, {
      posts,
      products,
      policies,
      events,
      topics,
      authenticate: auth.authenticate,
      liveAccess: { watch: () => () => {} },
      createLimiter,
      elements: options.elements ?? [],
    })

    const http = await createHttpServer({
      ...config.server,
      log,
      random,
      metrics,
      version: readVersion(),
      authenticate: auth.authenticate,
      policies,
      checks: {
        database: () => db.get('SELECT 1 AS ok'),
        ...(redis && { redis: () => redis.ping() }),
      },
    })
    ground.onClose(() => http.close())
    auth.addRoutes(http.app, createLimiter)
    addPostRoutes(http.app, { posts })
    await http.app.register(adminRoutes, { prefix: '/api/admin', admin: accounts.admin })
    await http.app.register(productRoutes, {
      prefix: productsPath,
      products,
      corsOrigins: config.cors.origins,
      writePermission: config.products.writePermission,
    })
    await graphql.addRoutes(http.app)
    await options.extend?.(http.app, { db, events, engine: graphql.engine })
    await http.app.ready()

    return {
      listen: async () => ({ url: await http.listen(config.server.host, config.server.port) }),
      close: ground.close,
    }
  } catch (error) {
    await ground.close()
    throw error
  }
}

/** What the background clean-up looks after. */
const expiringTables = [
  { table: 'sessions', key: 'id' },
  { table: 'revoked_tokens', key: 'id' },
  { table: 'used_once', key: 'id' },
  { table: 'login_attempts', key: 'email' },
  { table: 'password_resets', key: 'token_hash' },
  { table: 'idempotency_keys', key: 'id' },
]
