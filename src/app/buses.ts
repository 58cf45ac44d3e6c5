/** Two buses, so that a topic of the application can never collide with one that nodes use among themselves. */
import type { CoreConfig } from '../config/config.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { createMemoryBus } from '../platform/bus/memory.ts'
import { createPostgresBus } from '../platform/bus/postgres.ts'
import { createRedisBus } from '../platform/bus/redis.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log/logger.ts'
import type { Redis } from '../platform/redis/redis.ts'
import type { ProcessParts } from '../platform/threads/process-parts.ts'

export interface BusParts {
  config: CoreConfig
  log: Log
  db: Database
  threads: Pick<ProcessParts, 'openChannel'>
}

/** For messages between nodes. It runs over what the nodes already share, so it needs no configuration of its own. */
export async function openNodeBus({ config, log, db, threads }: BusParts, redis: Redis | undefined): Promise<Bus> {
  if (redis) return createRedisBus({ client: redis.client, log, prefix: 'latchkey-access:' })
  if (db.dialect === 'postgres') return createPostgresBus({ url: config.database.url, log })
  return createMemoryBus({ log, ...threads.openChannel?.('nodes') })
}

/** For the topics of GraphQL subscriptions. */
export async function openTopicBus({ config, log, threads }: BusParts, redis: Redis | undefined): Promise<Bus> {
  // Configuration checks have refused `redis` without a redis.url.
  if (redis && config.graphql.pubsub === 'redis') return createRedisBus({ client: redis.client, log })
  return createMemoryBus({ log, ...threads.openChannel?.('topics') })
}
