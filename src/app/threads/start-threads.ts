/**
 * The service on several threads. The main thread serves no requests: it owns what the serving threads share, replaces
 * those that die, and ends them in order.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { Feature, TerminalLink } from '../../platform/feature.ts'
import { type Log, writeLine } from '../../platform/log/logger.ts'
import { type MetricObject, mergeMetrics } from '../../platform/metrics/metrics.ts'
import { createHub } from '../../platform/threads/hub.ts'
import { createSharedSlotsMemory, releaseShare } from '../../platform/threads/shared-slots.ts'
import type { App, ListenAt, Listening } from '../create-app.ts'
import type { Config } from '../load-config.ts'
import { requireFreePort } from './free-port.ts'
import { openProcessDatabase } from './process-database.ts'
import { type ServingThread, startServingThread, type Workers } from './supervised-thread.ts'
import type { ThreadData } from './thread-methods.ts'

export interface ThreadedOptions extends Pick<ThreadData, 'directory' | 'environment'> {
  config: Config
  log: Log
  extensions: readonly Feature[]
  /** At least two. */
  threads: number
  clock?: { memory: SharedArrayBuffer; clock: Clock }
  workers?: Workers
}

/** A thread that dies sooner than this after its start is replaced after a pause. */
const shortLifeMs = 10_000
const pauseMs = 1000
const metricsTimeoutMs = 5000

export async function createThreadedApp(options: ThreadedOptions): Promise<App> {
  const { config, log, threads: count } = options
  const slots = createSharedSlotsMemory(count)
  const serviceId = systemRandom.id()
  const database = await openProcessDatabase({ ...options, clock: options.clock?.clock ?? systemClock })
  const hub = createHub({
    connectScanner: database.connectScanner,
    mergeMetrics: async () => mergeMetrics(await collectMetrics()),
    log(lines) {
      for (const line of lines) writeLine(log, line)
    },
  })
  const threads: (ServingThread | undefined)[] = []
  let at: ListenAt | undefined
  let isClosing = false
  /** Replacements under way. */
  const replacing = new Set<Promise<void>>()

  function start(index: number): ServingThread {
    const poolSize = Math.max(1, Math.floor(config.database.poolSize / count))
    const share = { index, serviceId, poolSize, slots, sqlite: database.share() }
    const { directory, environment, clock } = options
    const thread = startServingThread(
      { share, directory, environment, clock: clock?.memory },
      hub.methods(),
      options.workers,
    )
    threads[index] = thread
    return thread
  }

  async function open(index: number): Promise<void> {
    const thread = start(index)
    const startedAt = performance.now()
    thread.onDeath((error) => {
      threads[index] = undefined
      releaseShare(slots, index)
      // While the service starts, the failed call below ends it.
      if (isClosing || !at) return
      log.error({ err: error, thread: index }, 'a serving thread died; another one takes its place')
      const isShort = performance.now() - startedAt < shortLifeMs
      const work = replace(index, isShort ? pauseMs : 0).finally(() => replacing.delete(work))
      replacing.add(work)
    })
    await thread.open()
  }

  async function replace(index: number, pause: number): Promise<void> {
    await sleep(pause, undefined, { ref: false })
    if (isClosing) return
    try {
      await open(index)
      await threads[index]?.call('listen', at as ListenAt)
    } catch (error) {
      // If it died, its death starts the next attempt.
      const failed = threads[index]
      if (!failed || isClosing) return
      log.error({ err: error, thread: index }, 'a serving thread could not be replaced; it is tried again')
      threads[index] = undefined
      await failed.terminate()
      releaseShare(slots, index)
      await replace(index, pauseMs)
    }
  }

  const running = () => threads.filter((thread) => thread !== undefined)

  function tellAll(name: 'drain' | 'cutOff'): void {
    for (const thread of running()) thread.tell(name, undefined)
  }

  async function collectMetrics(): Promise<MetricObject[][]> {
    const collected = await Promise.all(
      running().map((thread) =>
        // A thread that is stuck or dying is left out.
        withTimeout(thread.call('collectMetrics', undefined), metricsTimeoutMs).catch(() => undefined),
      ),
    )
    return collected.filter((each) => each !== undefined)
  }

  async function close(): Promise<void> {
    isClosing = true
    await Promise.all(replacing)
    await Promise.all(running().map((thread) => thread.close()))
    await hub.close()
    await database.close()
  }

  try {
    await Promise.all(Array.from({ length: count }, (_, index) => open(index)))
  } catch (error) {
    await Promise.all(running().map((thread) => thread.terminate()))
    await close()
    throw error
  }

  return {
    async listen(): Promise<Listening> {
      const { host, port } = config.server
      const { wsHost, wsPort } = config.graphql
      await requireFreePort({ host: wsHost, port: wsPort })
      await requireFreePort({ host, port })
      const [first, ...others] = running()
      if (!first) throw new Error('no serving thread is running')
      const { url, wsUrl, address } = await first.call('listen', { port, wsPort, isShared: true })
      at = { port: portOf(url), wsPort: portOf(wsUrl), isShared: true }
      await Promise.all(others.map((thread) => thread.call('listen', at as ListenAt)))
      const links = first.call('links', undefined).catch((): readonly TerminalLink[] => [])
      return { url, wsUrl, address, links }
    },
    drain: () => tellAll('drain'),
    close,
    cutOff: () => tellAll('cutOff'),
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
