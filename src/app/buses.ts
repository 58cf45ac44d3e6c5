/** What carries values between nodes. Two buses: no topic of the application can be mistaken for one of our own. */
import type { Bus } from '../platform/bus/bus.ts'
import { createMemoryBus } from '../platform/bus/memory.ts'
import { createPostgresBus } from '../platform/bus/postgres.ts'
import { createRedisBus } from '../platform/bus/redis.ts'
import type { Log } from '../platform/log/logger.ts'
import type { Redis } from '../platform/redis/redis.ts'
import type { Infrastructure } from './infrastructure.ts'

type BusInfrastructure = Pick<Infrastructure, 'config' | 'log' | 'db'>

/** For what nodes tell each other: whose access has changed, which products have. Needs no configuration of its own: what nodes share anyway carries it. */
export async function openAccessBus({ config, log, db }: BusInfrastructure, redis: Redis | undefined): Promise<Bus> {
  if (redis) return createRedisBus({ client: redis.client, log, prefix: 'latchkey-access:' })
  if (db.dialect === 'postgres') return createPostgresBus({ url: config.database.url, log })
  return createMemoryBus({ log })
}

/** The topics of GraphQL's subscriptions. */
export async function openTopicBus({ config, log }: BusInfrastructure, redis: Redis | undefined): Promise<Bus> {
  // The configuration is refused where it asks for Redis and names none.
  if (redis && config.graphql.pubsub === 'redis') return createRedisBus({ client: redis.client, log })
  return createMemoryBus({ log })
}

/** Tells whoever subscribes. Never rejects: what is told of has happened, whether or not anybody can be told. */
export type Announce = (topic: string, value: unknown) => Promise<void>

export function createAnnounce(topics: Bus, log: Log): Announce {
  return (topic, value) =>
    topics.publish(topic, value).catch((error: unknown) => {
      // That the bus is away has a line of its own, which need not be repeated for every value.
      if (topics.isUp()) log.error({ err: error, topic }, 'a value was not published')
    })
}
