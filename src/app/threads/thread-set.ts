/** The serving threads of a process. One that dies is replaced. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../platform/log/logger.ts'
import type { ListenAt } from '../create-app.ts'
import type { ServingThread } from './supervised-thread.ts'
import { type ThreadWatch, watchThreads } from './thread-watch.ts'

export interface ThreadSetOptions {
  count: number
  log: Log
  /** Only the first one is opened at first. */
  isStaged: boolean
  start(index: number): ServingThread
  /** Called when a thread has ended, before another one takes its place. */
  onEnd(index: number, error?: Error): void
  /** See ThreadWatchOptions. */
  unresponsiveSeconds: number
  endProcess(): void
}

type Order = 'drain' | 'cutOff'

export interface ThreadSet {
  /** Opens all of them, or the first one. If one fails, they are all ended. */
  open(): Promise<void>
  running(): readonly ServingThread[]
  /** Does the background work. */
  first(): ServingThread | undefined
  /** From now on, a thread that dies is replaced by one that listens there. Opens those that are missing. */
  replaceDead(at: ListenAt): void
  tell(name: Order): void
  close(): Promise<void>
}

/** A thread that dies sooner than this after its start is replaced after a pause. */
const shortLifeMs = 10_000
const pauseMs = 1000

export function createThreadSet(options: ThreadSetOptions): ThreadSet {
  const { count, log, start, onEnd, isStaged } = options
  const threads = new Map<number, ServingThread>()
  /** Replacements under way, by index. */
  const replacing = new Map<number, Promise<void>>()
  /** Those that can be told something. */
  const opened = new Set<ServingThread>()
  /** What they were told, for those that are opened later. */
  const told: Order[] = []
  let at: ListenAt | undefined
  let isClosing = false
  let watch: ThreadWatch | undefined

  async function open(index: number): Promise<ServingThread> {
    const thread = start(index)
    threads.set(index, thread)
    const startedAt = performance.now()
    thread.onDeath((error) => {
      threads.delete(index)
      opened.delete(thread)
      onEnd(index, error)
      // Before they listen, the failed call below ends the start.
      if (isClosing || !at) return
      log.error({ err: error, thread: index }, 'a serving thread died; another one takes its place')
      keepReplacing(index, performance.now() - startedAt < shortLifeMs ? pauseMs : 0)
    })
    await thread.open()
    opened.add(thread)
    for (const order of told) thread.tell(order, undefined)
    return thread
  }

  function keepReplacing(index: number, pause: number): void {
    const work = replace(index, pause).finally(() => {
      if (replacing.get(index) === work) replacing.delete(index)
    })
    replacing.set(index, work)
  }

  async function replace(index: number, pause: number): Promise<void> {
    if (pause > 0) await sleep(pause)
    if (isClosing) return
    try {
      const thread = await open(index)
      await thread.listen(at as ListenAt)
    } catch (error) {
      // If it died, its death has started the next attempt.
      const failed = threads.get(index)
      if (!failed || isClosing) return
      log.error({ err: error, thread: index }, 'a serving thread could not be started; it is tried again')
      threads.delete(index)
      opened.delete(failed)
      await failed.terminate()
      onEnd(index)
      keepReplacing(index, pauseMs)
    }
  }

  /** All requests are answered, and the last metrics of all threads read, before the first thread closes anything. */
  async function finish(): Promise<void> {
    await Promise.all([...opened].map((thread) => thread.call('stopServing', undefined).catch(ignore)))
    const first = threads.get(0)
    if (first && opened.has(first)) await first.call('exportLastMetrics', undefined).catch(ignore)
  }

  return {
    async open() {
      try {
        await Promise.all(Array.from({ length: isStaged ? 1 : count }, (_, index) => open(index)))
      } catch (error) {
        isClosing = true
        await Promise.all([...threads.values()].map((thread) => thread.terminate()))
        threads.clear()
        opened.clear()
        throw error
      }
    },
    running: () => [...threads.values()],
    first: () => threads.get(0),
    replaceDead(place) {
      at = place
      watch ??= watchThreads({ ...options, threads: () => threads })
      for (let index = 1; isStaged && index < count; index++) keepReplacing(index, 0)
    },
    tell(name) {
      told.push(name)
      for (const thread of opened) thread.tell(name, undefined)
    },
    async close() {
      isClosing = true
      watch?.stop()
      await finish()
      const close = (among: (index: number) => boolean) =>
        [...threads].filter(([index]) => among(index)).map(([, thread]) => thread.close())
      // The others do not wait for one that is only starting.
      await Promise.all([...close((index) => !replacing.has(index)), ...replacing.values()])
      await Promise.all(close(() => true))
    },
  }
}

/** A thread that dies is not waited for. */
const ignore = () => {}
