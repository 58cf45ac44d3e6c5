/** The bus over Redis. A subscribing connection accepts few other commands, so the bus has its own. */
import { serviceUnavailable } from '../../core/app-error.ts'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { replyTimeoutMs } from '../../core/supervised-connection.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'
import { type RedisClient, superviseRedis } from '../redis/redis.ts'
import { type Bus, encode } from './bus.ts'
import { createTopics } from './topics.ts'

export interface RedisBusOptions {
  /** Used for publishing. Its owner closes it after the bus. */
  client: RedisClient
  log: Log
  /** Separates buses on the same Redis. */
  prefix?: string
}

const connectTimeoutMs = 5000

export async function createRedisBus({ client, log, prefix = 'latchkey:' }: RedisBusOptions): Promise<Bus> {
  const subscriber = client.duplicate()
  const onMessage = (text: string, channel: string) => topics.deliver(channel.slice(prefix.length), text)
  const topics = createTopics({
    carrier: {
      listen: (topic) => connection.settle(subscriber.subscribe(prefix + topic, onMessage)),
      unlisten: (topic) => connection.settle(subscriber.unsubscribe(prefix + topic)),
      isUp: () => connection.isUp(),
    },
    log,
  })
  let isClosed = false
  const connection = superviseRedis(subscriber, {
    onLost: (error) => log.warn({ err: error }, 'the Redis connection of the bus is lost'),
    // The client has restored its subscriptions by now; those that were to end in the meantime end here.
    onBack() {
      log.info('the Redis connection of the bus is back')
      topics.settleAll().catch((error: unknown) => log.warn({ err: error }, 'a topic could not be settled'))
      topics.notifyGap()
    },
  })
  try {
    await connection.start(connectTimeoutMs)
  } catch (error) {
    const message = `cannot subscribe to Redis: ${errorMessage(error)}`
    throw new FatalError(message, exitCodes.unavailable, { cause: error })
  }

  return {
    async publish(topic, value) {
      if (isClosed) throw serviceUnavailable(new Error('the bus is closed'))
      const text = encode(topic, value)
      try {
        await withTimeout(client.publish(prefix + topic, text), replyTimeoutMs)
      } catch (error) {
        throw serviceUnavailable(error)
      }
    },
    subscribe: topics.subscribe,
    onGap: topics.onGap,
    isUp: () => connection.isUp() && client.isReady,
    async close() {
      isClosed = true
      topics.close()
      await connection.close()
    },
  }
}
