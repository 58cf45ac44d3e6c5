/**
 * Lets a command notify the running service that a user's access has changed. The bus is opened for one message and closed
 * again. If it cannot be reached in time, the command still succeeds.
 */
import { withTimeout } from '../core/timeout.ts'
import { accessTopic, type OnAccessChanged } from '../platform/access/access-changes.ts'
import type { Log } from '../platform/log/logger.ts'
import type { Redis } from '../platform/redis/redis.ts'
import { type BusParts, openNodeBus } from './buses.ts'

/** No request waits for this, so it is long enough to connect and publish on a busy machine. */
const maxMs = 10_000

export function createOneShotAccessNotice(parts: BusParts): OnAccessChanged {
  const { config, log, db } = parts
  return async (userId) => {
    // SQLite has no notifications; the service re-checks open connections every few seconds anyway.
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

/** Imported lazily: most commands never publish. */
async function reachRedis(url: string, log: Log): Promise<Redis> {
  const { openRedis } = await import('../platform/redis/redis.ts')
  return openRedis(url, log)
}
