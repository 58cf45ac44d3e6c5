/** A node with a bus of either kind, and functions to inspect and cut its connection. */
import type { TestContext } from 'node:test'
import { AppError } from '../../src/core/app-error.ts'
import { systemRandom } from '../../src/core/random.ts'
import type { Bus } from '../../src/platform/bus/bus.ts'
import { createMemoryBus } from '../../src/platform/bus/memory.ts'
import { channelOf, createPostgresBus } from '../../src/platform/bus/postgres.ts'
import { createRedisBus } from '../../src/platform/bus/redis.ts'
import { createLogger, type Log } from '../../src/platform/log/logger.ts'
import { openRedis, type RedisClient } from '../../src/platform/redis/redis.ts'
import { runOnServer } from '../../src/testing/databases.ts'
import { engines, testServer } from './databases.ts'
import { eventually } from './eventually.ts'
import { type ServerProxy, startProxy } from './proxy.ts'

export type BusTwin = 'memory' | 'redis' | 'postgres'

export const busTwins: readonly BusTwin[] = engines.includes('postgres') ? ['memory', 'redis', 'postgres'] : ['memory']

export interface Node {
  bus: Bus
  log: string[]
  /** The number of subscriptions of the topic on the server. */
  countOnWire(topic: string): Promise<number>
  /** Makes the server end the subscribing connection, and keeps the node from reconnecting. */
  cut(): Promise<void>
  /** Silently drops the data in both directions. */
  silence(): void
  restore(): void
  redis?: RedisClient
}

/** As that of the topics of GraphQL. */
const topicPrefix = 'topic:'

const noWire = { cut: async () => {}, silence: () => {}, restore: () => {} }

type Bare = Omit<Node, 'log'>

export const newTopic = () => `topic ${systemRandom.id()} "; DROP`

export async function listenTo(node: Pick<Node, 'bus'>, topic: string) {
  const heard: unknown[] = []
  const unsubscribe = await node.bus.subscribe(topic, (value) => heard.push(value))
  return { heard, unsubscribe }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.status === 503
}

/** `prefix` separates buses over PostgreSQL. */
export async function createNode(t: TestContext, twin: BusTwin, prefix = topicPrefix): Promise<Node> {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const node = await twins[twin](t, createLogger({ level: 'debug', isTerminal: false, destination }), prefix)
  t.after(() => node.bus.close())
  return { ...node, log: lines }
}

const twins: Record<BusTwin, (t: TestContext, log: Log, prefix: string) => Promise<Bare>> = {
  async memory(_t, log) {
    return { bus: createMemoryBus({ log }), countOnWire: async () => 0, ...noWire }
  },

  async redis(t, log) {
    const proxy = await startProxy(t, testServer('TEST_REDIS_URL'))
    const redis = await openRedis(proxy.url, log)
    t.after(() => redis.close())
    const { client } = redis
    const bus = await createRedisBus({ client, log })
    const kill = () => client.sendCommand(['CLIENT', 'KILL', 'ADDR', `127.0.0.1:${proxy.latest().port()}`])
    return {
      bus,
      redis: client,
      countOnWire: async (topic) => Number((await client.pubSubNumSub(`latchkey:${topic}`))[`latchkey:${topic}`]),
      cut: () => cut(bus, proxy, kill),
      silence: () => proxy.latest().silence(),
      restore: () => proxy.admit(),
    }
  },

  async postgres(t, log, prefix) {
    const server = testServer('TEST_DATABASE_URL')
    const proxy = await startProxy(t, server)
    const bus = await createPostgresBus({ url: proxy.url, log, prefix })
    const terminate = () => {
      const port = proxy.latest().port()
      return runOnServer(server, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_port = ${port}`)
    }
    return {
      bus,
      // The server shows the channels of a connection only to that connection.
      async countOnWire(topic) {
        if (proxy.latest().isClosed()) return 0
        const statements = [
          ...proxy
            .latest()
            .sent()
            .matchAll(/(UN)?LISTEN (\w+)/g),
        ]
        const mine = statements.filter(([, , channel]) => channel === channelOf(prefix + topic))
        return mine.reduce((count, [, isEnd]) => count + (isEnd ? -1 : 1), 0)
      },
      cut: () => cut(bus, proxy, terminate),
      silence: () => proxy.latest().silence(),
      restore: () => proxy.admit(),
    }
  },
}

/** Resolves when the node has noticed. */
async function cut(bus: Bus, proxy: ServerProxy, kill: () => Promise<unknown>): Promise<void> {
  proxy.refuse()
  await kill()
  await eventually(() => {
    if (bus.isUp()) throw new Error('the node has not noticed')
  })
}
