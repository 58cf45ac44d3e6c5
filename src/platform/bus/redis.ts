/** The bus over Redis. A connection that subscribes can do little else, so the bus has one of its own for that. */
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { reasonOf } from '../../core/reason.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'
import type { RedisClient } from '../redis/redis.ts'
import { type Bus, busUnavailable, encode } from './bus.ts'
import { createTopics } from './topics.ts'

export interface RedisBusOptions {
  /** Publishes; its owner closes it, after the bus. */
  client: RedisClient
  log: Log
  /** Channels of another prefix are another bus. */
  prefix?: string
}

const connectTimeoutMs = 5000
/** A connection that fell silent is found out by these: it is asked every so often, and given up without an answer. */
const pingMs = 1500
const maxSilenceMs = 5000

export async function createRedisBus({ client, log, prefix = 'latchkey:' }: RedisBusOptions): Promise<Bus> {
  const subscriber = client.duplicate({
    pingInterval: pingMs,
    socket: { ...client.options?.socket, socketTimeout: maxSilenceMs } as RedisSocket,
  })
  const onMessage = (text: string, channel: string) => topics.deliver(channel.slice(prefix.length), text)
  const topics = createTopics({
    wire: {
      listen: (topic) => subscriber.subscribe(prefix + topic, onMessage),
      unlisten: (topic) => subscriber.unsubscribe(prefix + topic),
      isUp: () => subscriber.isReady,
    },
    log,
  })
  let isUp = false
  let isClosed = false
  // Without a listener an error would end the process. The connection is made anew by the client itself.
  subscriber.on('error', (error: Error) => {
    if (isUp) log.warn({ err: error }, 'the Redis connection of the bus is lost')
    isUp = false
  })
  // By then the client has subscribed anew to all that it was subscribed to. What was to end meanwhile ends now.
  subscriber.on('ready', () => {
    isUp = true
    topics.settleAll().catch((error: unknown) => log.warn({ err: error }, 'a topic could not be settled'))
    topics.tellGap()
  })
  try {
    await withTimeout(subscriber.connect(), connectTimeoutMs)
  } catch (error) {
    subscriber.destroy()
    const message = `cannot subscribe to Redis: ${reasonOf(error)}`
    throw new FatalError(message, exitCodes.unavailable, { cause: error })
  }

  return {
    async publish(topic, value) {
      if (isClosed) throw busUnavailable(new Error('the bus is closed'))
      const text = encode(topic, value)
      try {
        await client.publish(prefix + topic, text)
      } catch (error) {
        throw busUnavailable(error)
      }
    },
    subscribe: topics.subscribe,
    onGap: topics.onGap,
    async check() {
      if (isClosed) throw busUnavailable(new Error('the bus is closed'))
      await subscriber.ping()
    },
    async close() {
      isClosed = true
      topics.close()
      subscriber.destroy()
    },
  }
}

type RedisSocket = NonNullable<NonNullable<RedisClient['options']>['socket']>
