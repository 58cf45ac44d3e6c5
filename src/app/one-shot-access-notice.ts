/**
 * How a command tells the running service whose access it has changed. The bus is opened when there is something to tell
 * and closed right after; where it cannot be reached in time, the command ends all the same.
 */
import { withTimeout } from '../core/timeout.ts'
import { accessTopic, type OnAccessChanged } from '../platform/access/access-changes.ts'
import type { Log } from '../platform/log/logger.ts'
import type { Redis } from '../platform/redis/redis.ts'
import { type BusParts, openNodeBus } from './buses.ts'

/** No request waits for it, only the person at the terminal: long enough for a busy machine to connect and publish. */
const maxMs = 10_000

export function createOneShotAccessNotice(parts: BusParts): OnAccessChanged {
  const { config, log, db } = parts
  return async (userId) => {
    // A SQLite file carries nothing: the service finds out by itself within seconds.
    if (config.redis.url === undefined && db.dialect === 'sqlite') return
    try {
      await withTimeout(announce(parts, userId), maxMs)
    } catch (error) {
      log.warn({ err: error }, 'the running service could not be told; its open connections follow within seconds')
    }
  }
}

async function announce(parts: BusParts, userId: number): Promise<void> {
  const { url } = parts.config.redis
  const redis = url === undefined ? undefined : await reachRedis(url, parts.log)
  try {
    const bus = await openNodeBus(parts, redis)
    try {
      await bus.publish(accessTopic, { userId })
    } finally {
      await bus.close()
    }
  } finally {
    await redis?.close()
  }
}

/** Its client is read when it is needed: most commands have nothing to tell. */
async function reachRedis(url: string, log: Log): Promise<Redis> {
  const { openRedis } = await import('../platform/redis/redis.ts')
  return openRedis(url, log)
}
