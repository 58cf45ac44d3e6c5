/** Two buses, so that a topic of the application can never collide with one that nodes use among themselves. */
import type { CoreConfig } from '../config/config.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { createMemoryBus } from '../platform/bus/memory.ts'
import { createPostgresBus } from '../platform/bus/postgres.ts'
import { createRedisBus } from '../platform/bus/redis.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log/logger.ts'
import type { Redis } from '../platform/redis/redis.ts'
import { traceBus } from '../platform/tracing/traced-bus.ts'
import type { Tracing } from '../platform/tracing/tracing.ts'

export interface BusParts {
  config: CoreConfig
  log: Log
  db: Database
  tracing?: Tracing | undefined
}

/** For messages between nodes. It runs over what the nodes already share, so it needs no configuration of its own. */
export async function openNodeBus({ config, log, db, tracing }: BusParts, redis: Redis | undefined): Promise<Bus> {
  const traced = (bus: Bus, system: string) => (tracing ? traceBus(bus, tracing, system) : bus)
  if (redis) {
    return traced(await createRedisBus({ client: redis.client, log, prefix: 'latchkey-access:' }), 'redis')
  }
  if (db.dialect === 'postgres') {
    return traced(await createPostgresBus({ url: config.database.url, log }), 'postgresql')
  }
  return traced(createMemoryBus({ log }), 'in_memory')
}

/** For the topics of GraphQL subscriptions. */
export async function openTopicBus({ config, log, tracing }: BusParts, redis: Redis | undefined): Promise<Bus> {
  const traced = (bus: Bus, system: string) => (tracing ? traceBus(bus, tracing, system) : bus)
  // Configuration checks have refused `redis` without a redis.url.
  if (redis && config.graphql.pubsub === 'redis') {
    return traced(await createRedisBus({ client: redis.client, log }), 'redis')
  }
  return traced(createMemoryBus({ log }), 'in_memory')
}
