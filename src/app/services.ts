/** All that requests are answered with, by whatever way they come in. */

import { counterTopic } from '../features/posts/posts.graphql.ts'
import { postPolicy } from '../features/posts/posts.policy.ts'
import { createPosts } from '../features/posts/posts.service.ts'
import { createPostStore } from '../features/posts/posts.store.ts'
import { startUserKeys } from '../features/users/user-keys.ts'
import { createAccessChanges } from '../platform/access/access-changes.ts'
import { createLiveAccess } from '../platform/access/live-access.ts'
import { createPolicies, type Policy } from '../platform/access/policies.ts'
import { startFormerEntries } from '../platform/audit/former-entries.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { startCleanup } from '../platform/database/cleanup.ts'
import type { Database } from '../platform/database/database.ts'
import { createMaintainedCounts, startFolding } from '../platform/database/maintained-counts.ts'
import { createEvents } from '../platform/events/events.ts'
import type { Element } from '../platform/graphql/schema/elements.ts'
import { createReadiness } from '../platform/http/readiness.ts'
import { createLimiters } from '../platform/limiter/limiter.ts'
import { keepHeapSteady } from '../platform/process/steady-heap.ts'
import { openRedis, type Redis } from '../platform/redis/redis.ts'
import { createAccounts } from './accounts.ts'
import { createAuth } from './auth.ts'
import { createAnnounce, openAccessBus, openTopicBus } from './buses.ts'
import type { AppEvents, EventMap } from './events.ts'
import { expiringTables } from './expiring-tables.ts'
import { createGraphQL } from './graphql.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createProductParts } from './products.ts'

export interface Additions {
  /** Policies for routes and elements beside the service's own. */
  policies?: Readonly<Record<string, Policy<never>>>
  /** Elements of the GraphQL schema beside the service's own. */
  elements?: readonly Element[] | Elements
}

/** Elements made of what they need. `topics` publishes to those who subscribe. */
export type Elements = (parts: { db: Database; events: AppEvents; topics: Bus }) => readonly Element[]

export async function createServices(infrastructure: Infrastructure, additions: Additions = {}) {
  keepHeapSteady()
  const { elements = [] } = additions
  const { config, log, clock, db } = infrastructure
  const redis = config.redis.url === undefined ? undefined : await openRedis(config.redis.url, log)
  if (redis) infrastructure.onClose(() => redis.close())
  const accessBus = await openAccessBus(infrastructure, redis)
  infrastructure.onClose(() => accessBus.close())
  const topics = await openTopicBus(infrastructure, redis)
  infrastructure.onClose(() => topics.close())

  const accounts = createAccounts(infrastructure, createAccessChanges({ bus: accessBus, log }))
  const auth = await createAuth(infrastructure, accounts)
  const { authenticate } = auth
  const liveAccess = await createLiveAccess({ authenticate, bus: accessBus, clock, log })
  infrastructure.onClose(() => liveAccess.close())
  const cleanup = startCleanup({ db, clock, log, tables: expiringTables(config) })
  infrastructure.onClose(() => cleanup.close())
  const formerEntries = startFormerEntries({ db, log })
  infrastructure.onClose(() => formerEntries.close())
  const userKeys = await startUserKeys({ db, log })
  infrastructure.onClose(() => userKeys.close())
  const folding = startFolding({ db, log })
  infrastructure.onClose(() => folding.close())

  const announce = createAnnounce(topics, log)
  const events = createEvents<EventMap>({ log })
  const { products, lists: productLists } = createProductParts(infrastructure, { events, bus: accessBus })
  const posts = createPosts({
    store: createPostStore({ db, clock, counts: createMaintainedCounts(db) }),
    onCounted: (count) => announce(counterTopic, { count }),
  })
  const policies = createPolicies({ posts: postPolicy, ...additions.policies })
  const createLimiter = createLimiters(redis)
  const graphql = createGraphQL(infrastructure, {
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
