/** The Redis connection shared by everything except subscriptions. */
import type { createClient } from 'redis'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import {
  type SupervisedConnection,
  type SupervisedConnectionOptions,
  superviseConnection,
} from '../../core/supervised-connection.ts'
import type { Log } from '../log/logger.ts'

export type RedisClient = ReturnType<typeof createClient>

export interface Redis {
  client: RedisClient
  /** False while Redis cannot be reached or does not respond. */
  isUp(): boolean
  close(): Promise<void>
}

/** Further commands fail immediately: a Redis that hangs must not fill the memory. */
const maxPendingCommands = 10_000

export async function openRedis(url: string, log: Log, connectTimeoutMs = 5000): Promise<Redis> {
  // Loaded on demand: the client has 600 files, and most installations have no Redis.
  const { createClient } = await import('redis')
  const client = createClient({
    url,
    // While disconnected, commands fail immediately instead of waiting in a growing queue.
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxPendingCommands,
    // No timer per command: it would only cover the time until the command is written.
    commandOptions: { timeout: 0 },
    // The client's own reconnect waits for ever for a server that accepts connections and then hangs.
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
  }) as RedisClient // Without custom modules, scripts or functions, this is the client's plain type.
  const connection = superviseRedis(client, {
    onBack: () => log.info('Redis is back'),
    onLost: (error) => log.warn({ err: error }, 'Redis is away: rate limits go on for each node by itself'),
  })
  try {
    await connection.start(connectTimeoutMs)
  } catch (error) {
    const { host } = new URL(url)
    throw new FatalError(`cannot reach Redis at ${host}: ${errorMessage(error)}`, exitCodes.unavailable, {
      cause: error,
    })
  }
  return { client, isUp: connection.isUp, close: connection.close }
}

/** Supervises a client that does not reconnect by itself. */
export function superviseRedis(
  client: RedisClient,
  hooks: Pick<SupervisedConnectionOptions, 'onLost' | 'onBack'>,
): SupervisedConnection {
  const connection = superviseConnection({
    connect: () => client.connect(),
    ping: () => client.ping(),
    drop: () => client.destroy(),
    ...hooks,
  })
  // Without a listener the event would end the process.
  client.on('error', connection.lose)
  return connection
}
