/** Two buses, so that a topic of the application can never collide with one that nodes use among themselves. */
import type { CoreConfig } from '../config/config.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { withLocalFallback } from '../platform/bus/local-fallback.ts'
import { createMemoryBus } from '../platform/bus/memory.ts'
import type { PostgresBusOptions } from '../platform/bus/postgres.ts'
import { createRedisBus } from '../platform/bus/redis.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log/logger.ts'
import type { Redis } from '../platform/redis/redis.ts'
import type { ProcessParts } from '../platform/threads/process-parts.ts'
import { traceBus } from '../platform/tracing/traced-bus.ts'
import type { Tracing } from '../platform/tracing/tracing.ts'

export interface BusParts {
  config: CoreConfig
  log: Log
  db: Database
  threads: Pick<ProcessParts, 'openChannel'>
  tracing?: Tracing | undefined
}

/** For messages between nodes. It runs over what the nodes already share, so it needs no configuration of its own. */
export async function openNodeBus(parts: BusParts, redis: Redis | undefined): Promise<Bus> {
  const { log, db, threads } = parts
  const openLocal = () => createMemoryBus({ log, threads: threads.openChannel?.('nodes') })
  if (redis) {
    const between = await createRedisBus({ client: redis.client, log, prefix: 'latchkey-access:' })
    return traced(parts, 'redis', withLocalFallback(between, openLocal()))
  }
  if (db.dialect === 'postgres' && canListen(parts)) {
    const between = await openPostgresBus({ url: listenUrlOf(parts.config), log })
    return traced(parts, 'postgresql', withLocalFallback(between, openLocal()))
  }
  return traced(parts, 'in_memory', openLocal())
}

/** For the topics of GraphQL subscriptions. Configuration checks have refused a choice without its server. */
export async function openTopicBus(parts: BusParts, redis: Redis | undefined): Promise<Bus> {
  const { config, log, threads } = parts
  const openLocal = () => createMemoryBus({ log, threads: threads.openChannel?.('topics') })
  if (redis && config.graphql.pubsub === 'redis') {
    return traced(parts, 'redis', withLocalFallback(await createRedisBus({ client: redis.client, log }), openLocal()))
  }
  if (config.graphql.pubsub === 'postgres') {
    if (!canListen(parts)) throw needsListenUrl()
    const between = await openPostgresBus({ url: listenUrlOf(config), log, prefix: 'topic:' })
    return traced(parts, 'postgresql', withLocalFallback(between, openLocal()))
  }
  return traced(parts, 'in_memory', openLocal())
}

/** Loaded only where it is used, because the driver takes memory in every thread. */
async function openPostgresBus(options: PostgresBusOptions): Promise<Bus> {
  const { createPostgresBus } = await import('../platform/bus/postgres.ts')
  return createPostgresBus(options)
}

function traced({ tracing }: BusParts, system: string, bus: Bus): Bus {
  return tracing ? traceBus(bus, tracing, system) : bus
}

/** Logs what takes the place of messages between nodes, if there are none. */
export function warnWithoutListen(parts: BusParts, redis: Redis | undefined): void {
  if (redis || parts.db.dialect !== 'postgres' || canListen(parts)) return
  parts.log.warn(
    'DATABASE_URL is a pooler that shares connections between transactions, so this node cannot LISTEN: a change of ' +
      'access on another node reaches open connections within ten seconds, instead of one, and console pages do not ' +
      'show changes of other nodes by themselves; set DATABASE_LISTEN_URL to the address of PostgreSQL itself',
  )
}

function canListen({ config, db }: BusParts): boolean {
  return config.database.listenUrl !== undefined || !db.isTransactionPooled?.()
}

function listenUrlOf({ database }: CoreConfig): string {
  return database.listenUrl ?? database.url
}

function needsListenUrl(): FatalError {
  const reason = 'the pooler in DATABASE_URL shares connections between transactions, so it cannot LISTEN'
  const advice = 'set DATABASE_LISTEN_URL to the address of PostgreSQL itself'
  return new FatalError(`GQL_PUBSUB=postgres: ${reason}; ${advice}`, exitCodes.configuration)
}
