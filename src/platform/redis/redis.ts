/** The connection to Redis that everything but subscriptions shares. */
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
  /** False while Redis is away: it cannot be reached, or takes commands and does not answer. */
  isUp(): boolean
  close(): Promise<void>
}

/** So many may wait for their answers; those beyond fail at once. A frozen Redis must not fill the memory. */
const maxPendingCommands = 10_000

export async function openRedis(url: string, log: Log, connectTimeoutMs = 5000): Promise<Redis> {
  // Its client is 600 files, which most services do without.
  const { createClient } = await import('redis')
  const client = createClient({
    url,
    // Asked while the connection is away, a command fails at once instead of waiting in a queue that only grows.
    disableOfflineQueue: true,
    commandsQueueMaxLength: maxPendingCommands,
    // A timer for each command, which only holds until the command is written.
    commandOptions: { timeout: 0 },
    // The client's own reconnecting waits for ever for a server that takes connections and says nothing.
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
  }) as RedisClient // Without modules, scripts or functions of our own the client's type is the plain one.
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
  // Without a listener an error would end the process.
  client.on('error', connection.lose)
  return connection
}
