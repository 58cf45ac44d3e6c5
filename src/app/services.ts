/** All that requests are answered with, by whatever way they come in. */
import { keepHeapSteady } from '../core/steady-heap.ts'
import { createPolicies, type Policy } from '../features/access/policies.ts'
import { counterTopic } from '../features/posts/posts.graphql.ts'
import { postPolicy } from '../features/posts/posts.policy.ts'
import { createPosts } from '../features/posts/posts.service.ts'
import { createPostStore } from '../features/posts/posts.store.ts'
import { startUserKeys } from '../features/users/user-keys.ts'
import { startFormerEntries } from '../platform/audit/former-entries.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { startCleanup } from '../platform/database/cleanup.ts'
import type { Database } from '../platform/database/database.ts'
import { createKeptCounts, startFolding } from '../platform/database/kept-counts.ts'
import { createEvents } from '../platform/events/events.ts'
import type { Element } from '../platform/graphql/elements.ts'
import { createAccessChanges } from '../platform/http/access-changes.ts'
import { createLiveAccess } from '../platform/http/live-access.ts'
import { createReadiness } from '../platform/http/readiness.ts'
import { createLimiters } from '../platform/limiter/limiter.ts'
import { openRedis, type Redis } from '../platform/redis/redis.ts'
import { createAccounts } from './accounts.ts'
import { createAuth } from './auth.ts'
import { createAnnounce, openAccessBus, openTopicBus } from './buses.ts'
import type { AppEvents, EventMap } from './events.ts'
import { expiringTables } from './expiring-tables.ts'
import { createGraphQL } from './graphql.ts'
import type { Ground } from './ground.ts'
import { createProductParts } from './products.ts'

export interface Additions {
  /** Policies for routes and elements beside the service's own. */
  policies?: Readonly<Record<string, Policy<never>>>
  /** Elements of the GraphQL schema beside the service's own. */
  elements?: readonly Element[] | Elements
}

/** Elements made of what they need. `topics` publishes to those who subscribe. */
export type Elements = (parts: { db: Database; events: AppEvents; topics: Bus }) => readonly Element[]

export async function createServices(ground: Ground, additions: Additions = {}) {
  keepHeapSteady()
  const { elements = [] } = additions
  const { config, log, clock, db } = ground
  const redis = config.redis.url === undefined ? undefined : await openRedis(config.redis.url, log)
  if (redis) ground.onClose(() => redis.close())
  const accessBus = await openAccessBus(ground, redis)
  ground.onClose(() => accessBus.close())
  const topics = await openTopicBus(ground, redis)
  ground.onClose(() => topics.close())

  const accounts = createAccounts(ground, createAccessChanges({ bus: accessBus, log }))
  const auth = await createAuth(ground, accounts)
  const { authenticate } = auth
  const liveAccess = await createLiveAccess({ authenticate, bus: accessBus, clock, log })
  ground.onClose(() => liveAccess.close())
  const cleanup = startCleanup({ db, clock, log, tables: expiringTables(config) })
  ground.onClose(() => cleanup.close())
  const formerEntries = startFormerEntries({ db, log })
  ground.onClose(() => formerEntries.close())
  const userKeys = await startUserKeys({ db, log })
  ground.onClose(() => userKeys.close())
  const folding = startFolding({ db, log })
  ground.onClose(() => folding.close())

  const announce = createAnnounce(topics, log)
  const events = createEvents<EventMap>({ log })
  const { products, lists: productLists } = createProductParts(ground, { events, bus: accessBus })
  const posts = createPosts({
    store: createPostStore({ db, clock, counts: createKeptCounts(db) }),
    onCounted: (count) => announce(counterTopic, { count }),
  })
  const policies = createPolicies({ posts: postPolicy, ...additions.policies })
  const createLimiter = createLimiters(redis)
  const graphql = createGraphQL(ground, {
    posts,
    products,
    policies,
    events,
    topics,
    ownBus: accessBus,
    announce,
    authenticate,
    liveAccess,
    createLimiter,
    elements: typeof elements === 'function' ? elements({ db, events, topics }) : elements,
  })

  return {
    accounts,
    auth,
    liveAccess,
    events,
    topics,
    products,
    productLists,
    posts,
    policies,
    createLimiter,
    graphql,
    readiness: createReadiness({
      log,
      checkDatabase: () => db.checkWritable(),
      neighbours: {
        ...neighboursOf(db, redis, [accessBus, topics]),
        database: () => !db.hasFaults(),
      },
    }),
  }
}

/** What carries values between nodes is one with what it runs on: operators look after Redis, not after our connections. */
function neighboursOf(db: Database, redis: Redis | undefined, buses: Bus[]): Record<string, () => boolean> {
  const areUp = () => buses.every((bus) => bus.isUp())
  if (redis) return { redis: () => redis.isUp() && areUp() }
  return db.dialect === 'postgres' ? { notifications: areUp } : {}
}

export type Services = Awaited<ReturnType<typeof createServices>>
