/**
 * The service on several threads. The main thread serves no requests: it owns what the serving threads share, replaces
 * those that die, and ends them in order.
 */
import { type Clock, systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { dialectOf } from '../../platform/database/open.ts'
import type { Feature, TerminalLink } from '../../platform/feature.ts'
import { type Log, writeLine } from '../../platform/log/logger.ts'
import type { RecentFigures } from '../../platform/metrics/recent-requests.ts'
import { killProcess } from '../../platform/process/kill-process.ts'
import { createHub } from '../../platform/threads/hub.ts'
import { claimBytes } from '../../platform/threads/process-parts.ts'
import { createPulse } from '../../platform/threads/pulse.ts'
import { createSharedSlotsMemory, releaseShare } from '../../platform/threads/shared-slots.ts'
import type { App, ListenAt } from '../create-app.ts'
import type { Config } from '../load-config.ts'
import { openSecrets } from '../open-secrets.ts'
import { connectionsPerThread, warnOfSmallPool } from './count.ts'
import { requireFreePort } from './free-port.ts'
import { openProcessDatabase, type ProcessDatabaseOptions } from './process-database.ts'
import { startServingThread, type Workers } from './supervised-thread.ts'
import { createDeathCounts, lateThreads } from './thread-deaths.ts'
import type { ThreadData } from './thread-methods.ts'
import { createThreadMetrics, whileResponding } from './thread-metrics.ts'
import { createThreadSet, type ThreadSet } from './thread-set.ts'

export interface ThreadedOptions
  extends Pick<ThreadData, 'directory' | 'environment'>,
    Pick<ProcessDatabaseOptions, 'onWriterDeath'> {
  config: Config
  /** The lines of the serving threads go there too. */
  log: Log
  extensions: readonly Feature[]
  /** At least two. */
  threads: number
  clock?: { memory: SharedArrayBuffer; clock: Clock }
  workers?: Workers
  /** For a process that has nothing else to do. Off by default. */
  compactsHeap?: boolean
  /** The service listens as soon as one thread does. Off by default: until then, that thread gets all connections. */
  isStaged?: boolean
}

const metricsTimeoutMs = 5000

const sharedCount = () => new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))

export async function createThreadedApp(options: ThreadedOptions): Promise<App> {
  const { config, log, threads: count, directory, environment, clock, compactsHeap = false } = options
  const createSlots = () => createSharedSlotsMemory(count, systemRandom)
  const slots = { many: createSlots(), single: createSlots() }
  const claims = new SharedArrayBuffer(claimBytes)
  const deaths = createDeathCounts()
  const sent = { nodes: sharedCount(), topics: sharedCount() }
  const serviceId = systemRandom.id()
  const poolSize = connectionsPerThread(config.database.poolSize, count)
  const database = await openProcessDatabase({ ...options, clock: clock?.clock ?? systemClock })
  if (dialectOf(config.database.url) === 'postgres') warnOfSmallPool(poolSize, count, log)
  // Before the threads, of which only one would say so.
  openSecrets({ config, log, random: systemRandom, isServing: true })
  const hub = createHub({
    connectScanner: database.connectScanner,
    mergeMetrics: () => metrics.merge(),
    readRecentRequests: () => readRecentRequestsOf(threads),
    log(lines) {
      for (const line of lines) writeLine(log, line)
    },
  })
  const threads = createThreadSet({
    count,
    log,
    start(index) {
      const pulse = createPulse()
      const share = { index, serviceId, poolSize, slots, claims, pulse, sent, sqlite: database.share() }
      const data = { share, directory, environment, clock: clock?.memory, compactsHeap }
      return startServingThread(data, hub.methods(), options.workers)
    },
    isStaged: options.isStaged ?? false,
    onEnd(index, error) {
      for (const memory of Object.values(slots)) releaseShare(memory, index)
      if (error) deaths.count(error)
    },
    unresponsiveSeconds: config.server.unresponsiveSeconds,
    endProcess() {
      log.flush()
      killProcess()
    },
  })
  const metrics = createThreadMetrics({
    threads,
    timeoutMs: metricsTimeoutMs,
    own: () => [...deaths.collect(), ...lateThreads(threads.running())],
  })

  async function close(): Promise<void> {
    await threads.close()
    await hub.close()
    await database.close()
  }

  try {
    await threads.open()
  } catch (error) {
    await close()
    throw error
  }

  return {
    async listen() {
      return listen(threads, config)
    },
    announce: () => announce(threads),
    drain: () => threads.tell('drain'),
    close,
    cutOff: () => threads.tell('cutOff'),
  }
}

async function listen(threads: ThreadSet, { server, graphql }: Config): ReturnType<App['listen']> {
  const { host, port } = server
  const { wsHost, wsPort } = graphql
  await requireFreePort({ host: wsHost, port: wsPort })
  await requireFreePort({ host, port })
  const first = threads.first()
  if (!first) throw new Error('no serving thread is running')
  // The first one finds the port, if any will do.
  const { url, wsUrl, address } = await first.listen({ port, wsPort, isShared: true })
  const at: ListenAt = { port: portOf(url), wsPort: portOf(wsUrl), isShared: true }
  // Those that are opened later listen by themselves.
  const others = threads.running().filter((thread) => thread !== first)
  threads.replaceDead(at)
  await Promise.all(others.map((thread) => thread.listen(at)))
  return { url, wsUrl, address, links: announce(threads) }
}

/** By the thread that does the background work. Its log lines come after what the caller logs at once. */
async function announce(threads: ThreadSet): Promise<readonly TerminalLink[]> {
  const links = await threads
    .first()
    ?.call('announce', undefined)
    .catch(() => undefined)
  return links ?? []
}

/** A thread that is stuck or dying is left out. */
async function readRecentRequestsOf(threads: ThreadSet): Promise<readonly RecentFigures[]> {
  const read = threads
    .running()
    .map((thread) =>
      whileResponding(thread, thread.call('readRecentRequests', undefined), metricsTimeoutMs).catch(() => undefined),
    )
  return (await Promise.all(read)).filter((each) => each !== undefined)
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
