/** The composition root: with the files of app/ the only place that knows every part. */
import type { FastifyInstance } from 'fastify'
import { createAccounts } from './app/accounts.ts'
import { createAuth } from './app/auth.ts'
import { openAccessBus, openTopicBus } from './app/buses.ts'
import type { AppEvents, EventMap } from './app/events.ts'
import { type GroundOptions, openGround } from './app/ground.ts'
import { createProductParts } from './app/products.ts'
import { readVersion } from './config/version.ts'
import { createPolicies, type Policy } from './features/access/policies.ts'
import { adminRoutes } from './features/admin/admin.routes.ts'
import { postPolicy } from './features/posts/posts.policy.ts'
import { addPostRoutes } from './features/posts/posts.routes.ts'
import { createPosts } from './features/posts/posts.service.ts'
import { createPostStore } from './features/posts/posts.store.ts'
import { productRoutes, productsPath } from './features/products/products.routes.ts'
import type { Bus } from './platform/bus/bus.ts'
import { startCleanup } from './platform/database/cleanup.ts'
import type { Database } from './platform/database/database.ts'
import { createKeptCounts, startFolding } from './platform/database/kept-counts.ts'
import { createEvents } from './platform/events/events.ts'
import type { Authenticate } from './platform/http/access.ts'
import { createAccessChanges } from './platform/http/access-changes.ts'
import { createLiveAccess, type LiveAccess } from './platform/http/live-access.ts'
import { createHttpServer } from './platform/http/server.ts'
import { createLimiters } from './platform/limiter/limiter.ts'
import { createMetrics } from './platform/metrics/metrics.ts'
import { openRedis } from './platform/redis/redis.ts'

export interface AppOptions extends Omit<GroundOptions, 'observe'> {
  /** Routes beside the service's own. */
  extend?: Extend
  /** Policies for those routes. */
  policies?: Readonly<Record<string, Policy<never>>>
}

/** Adds to the service, before it serves. */
export type Extend = (app: FastifyInstance, parts: Parts) => void | Promise<void>

export interface Parts {
  db: Database
  events: AppEvents
  /** The topics of subscriptions. */
  topics: Bus
  liveAccess: LiveAccess
  authenticate: Authenticate
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

    const accessBus = await openAccessBus(ground, redis)
    ground.onClose(() => accessBus.close())
    const topics = await openTopicBus(ground, redis)
    ground.onClose(() => topics.close())

    const accounts = createAccounts(ground, createAccessChanges({ bus: accessBus, log }))
    const auth = createAuth(ground, accounts)
    const { authenticate } = auth
    const liveAccess = await createLiveAccess({ authenticate, bus: accessBus, clock, log })
    ground.onClose(() => liveAccess.close())
    const cleanup = startCleanup({ db, clock, log, tables: expiringTables })
    ground.onClose(() => cleanup.close())
    const folding = startFolding({ db, log })
    ground.onClose(() => folding.close())
    const events = createEvents<EventMap>({ log })
    const { products } = createProductParts(ground, events)
    const posts = createPosts({
      store: createPostStore({ db, clock, counts: createKeptCounts(db) }),
      onCounted: async () => {},
    })

    const http = await createHttpServer({
      ...config.server,
      log,
      random,
      metrics,
      version: readVersion(),
      authenticate,
      policies: createPolicies({ posts: postPolicy, ...options.policies }),
      checks: {
        database: () => db.get('SELECT 1 AS ok'),
        ...(redis && { redis: () => redis.ping() }),
        'access bus': accessBus.check,
        topics: topics.check,
      },
    })
    ground.onClose(() => http.close())
    auth.addRoutes(http.app, createLimiters(redis?.client))
    addPostRoutes(http.app, { posts })
    await http.app.register(adminRoutes, { prefix: '/api/admin', admin: accounts.admin })
    await http.app.register(productRoutes, {
      prefix: productsPath,
      products,
      corsOrigins: config.cors.origins,
      writePermission: config.products.writePermission,
    })
    await options.extend?.(http.app, { db, events, topics, liveAccess, authenticate })
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
