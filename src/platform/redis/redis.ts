/** The connection to Redis, where one is configured. It is made anew whenever it is lost. */
import type { createClient } from 'redis'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { reasonOf } from '../../core/reason.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'

export type RedisClient = ReturnType<typeof createClient>

export interface Redis {
  client: RedisClient
  /** Throws where Redis does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}

export async function openRedis(url: string, log: Log, connectTimeoutMs = 5000): Promise<Redis> {
  // Its client is 600 files, which most services do without.
  const { createClient } = await import('redis')
  let isUp = false
  const client = createClient({
    url,
    // Asked while the connection is away, a command fails at once instead of waiting in a queue that only grows.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: connectTimeoutMs,
      // The first connection must succeed; a lost one is tried again for ever, at most every two seconds.
      reconnectStrategy: (retries, cause) => (isUp ? Math.min(50 * 2 ** retries, 2000) : cause),
    },
  })
  // Without a listener an error would end the process.
  client.on('error', (error: Error) => isUp && log.warn({ err: error }, 'Redis connection lost'))
  try {
    // Its own time limit covers the connection, not a server that takes it and says nothing.
    await withTimeout(client.connect(), connectTimeoutMs)
  } catch (error) {
    client.destroy()
    const { host } = new URL(url)
    throw new FatalError(`cannot reach Redis at ${host}: ${reasonOf(error)}`, exitCodes.unavailable, { cause: error })
  }
  isUp = true
  return {
    // Without modules, scripts or functions of our own the client's type is the plain one.
    client: client as RedisClient,
    async ping() {
      await client.ping()
    },
    close: async () => client.destroy(),
  }
}
