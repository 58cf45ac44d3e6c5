/** What carries values between nodes. Two buses: no topic of the application can be mistaken for one of our own. */
import type { CoreConfig } from '../config/config.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { createMemoryBus } from '../platform/bus/memory.ts'
import { createPostgresBus } from '../platform/bus/postgres.ts'
import { createRedisBus } from '../platform/bus/redis.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log/logger.ts'
import type { Redis } from '../platform/redis/redis.ts'

export interface BusParts {
  config: CoreConfig
  log: Log
  db: Database
}

/** For what nodes tell each other. Needs no configuration of its own: what nodes share anyway carries it. */
export async function openNodeBus({ config, log, db }: BusParts, redis: Redis | undefined): Promise<Bus> {
  if (redis) return createRedisBus({ client: redis.client, log, prefix: 'latchkey-access:' })
  if (db.dialect === 'postgres') return createPostgresBus({ url: config.database.url, log })
  return createMemoryBus({ log })
}

/** The topics of GraphQL's subscriptions. */
export async function openTopicBus({ config, log }: BusParts, redis: Redis | undefined): Promise<Bus> {
  // The configuration is refused where it asks for Redis and names none.
  if (redis && config.graphql.pubsub === 'redis') return createRedisBus({ client: redis.client, log })
  return createMemoryBus({ log })
}
