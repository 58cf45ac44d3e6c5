/** Watches the serving threads: one that does not respond is relieved of new connections, looked into, and replaced. */
import { url as debuggerUrl } from 'node:inspector'
import { hasOwner, offer, own } from '../../platform/http/handed-over.ts'
import type { Log } from '../../platform/log/logger.ts'
import { lateMs, startTicking } from '../../platform/threads/pulse.ts'
import type { Sample } from '../../platform/threads/stack-sample.ts'
import type { ServingThread } from './supervised-thread.ts'
import { type Takeover, takeOver } from './takeover.ts'
import type { HandedConnection } from './thread-methods.ts'

export interface ThreadWatchOptions {
  log: Log
  /** By index, those that are running. */
  threads(): Iterable<readonly [number, ServingThread]>
  /** 0 replaces none. */
  unresponsiveSeconds: number
  /** For a thread that cannot be terminated. */
  endProcess(): void
}

export interface ThreadWatch {
  stop(): void
}

/** A thread that is blocked in a system call does not end before that returns. */
const endWithinMs = 30_000
/** Without a replacement, when to log what the thread is doing. */
const reportAfterMs = 5000

export class UnresponsiveError extends Error {
  override readonly name = 'UnresponsiveError'
}

interface Stall {
  hasReported: boolean
  killedAtMs?: number
}

export function watchThreads({ log, threads, unresponsiveSeconds, endProcess }: ThreadWatchOptions): ThreadWatch {
  const limitMs = unresponsiveSeconds * 1000
  const reportMs = limitMs === 0 ? reportAfterMs : limitMs / 2
  const stalls = new Map<ServingThread, Stall>()
  const takeovers = new Map<number, Takeover & { thread: ServingThread }>()
  /** Connections that a thread may not have taken yet. */
  let handed: (HandedConnection & { to: ServingThread })[] = []
  let turn = 0

  /** The threads that respond take turns. While none does, as on a machine under heavy load, one that is merely slow. */
  function findTaker(): ServingThread | undefined {
    const listening = [...threads()].map(([, thread]) => thread).filter((thread) => thread.descriptors())
    const responding = listening.filter((thread) => !thread.isLate())
    turn += 1
    return responding[turn % responding.length] ?? listening.find((each) => each.stalledMs() < lateMs)
  }

  function handOn(connection: Omit<HandedConnection, 'ownership'>): boolean {
    const to = findTaker()
    if (!to) return false
    const ownership = offer()
    to.tell('adopt', { ...connection, ownership })
    handed.push({ ...connection, ownership, to })
    return true
  }

  /** What a thread has not taken when it dies or stalls goes to another one, as soon as there is one. */
  function followUp(): void {
    const running = new Set([...threads()].map(([, thread]) => thread))
    handed = handed.filter(({ ownership }) => !hasOwner(ownership))
    for (const { server, descriptor, ownership, to } of handed) {
      const isLost = !running.has(to) || to.isLate()
      const other = isLost ? findTaker() : undefined
      if (other && other !== to && own(ownership)) handOn({ server, descriptor })
    }
  }

  function onResponding(index: number, thread: ServingThread): void {
    const takeover = takeovers.get(index)
    takeover?.end(takeover.thread !== thread)
    takeovers.delete(index)
    if (stalls.get(thread)?.hasReported) log.info({ thread: thread.label }, 'the serving thread responds again')
    stalls.delete(thread)
  }

  function onLate(index: number, thread: ServingThread, stalledMs: number): void {
    const descriptors = thread.descriptors()
    if (descriptors && !takeovers.has(index)) {
      takeovers.set(index, { thread, ...takeOver({ descriptors, handOn, log }) })
    }
    const stall = stalls.get(thread) ?? { hasReported: false }
    stalls.set(thread, stall)
    if (stalledMs >= reportMs && !stall.hasReported) {
      stall.hasReported = true
      void thread.sample().then((sample) => {
        log.warn(describe(thread, stalledMs, sample), 'a serving thread does not respond')
      })
    }
    // A developer may be looking at a breakpoint.
    if (limitMs === 0 || stalledMs < limitMs || debuggerUrl() !== undefined) return
    if (stall.killedAtMs === undefined) {
      stall.killedAtMs = stalledMs
      void replace(thread, stall)
    } else if (stalledMs >= stall.killedAtMs + endWithinMs) {
      log.fatal({ thread: thread.label }, 'a serving thread that does not respond cannot be terminated, stopping')
      endProcess()
    }
  }

  async function replace(thread: ServingThread, stall: Stall): Promise<void> {
    const sample = await thread.sample()
    // It has recovered, or ended, meanwhile.
    if (stalls.get(thread) !== stall) return
    log.error(describe(thread, thread.stalledMs(), sample), 'a serving thread does not respond; it is terminated')
    thread.kill(new UnresponsiveError(`the thread has not responded for ${unresponsiveSeconds} seconds`))
  }

  const ticking = startTicking((elapsedMs) => {
    followUp()
    for (const [index, thread] of threads()) {
      thread.measure(elapsedMs)
      if (thread.isLate()) onLate(index, thread, thread.stalledMs())
      // A successor that does not listen yet leaves the takeover as it is.
      else if (thread.descriptors()) onResponding(index, thread)
    }
  })

  return {
    stop() {
      ticking.stop()
      for (const takeover of takeovers.values()) takeover.end(false)
      takeovers.clear()
    },
  }
}

function describe({ label }: ServingThread, stalledMs: number, sample: Sample | undefined): object {
  return {
    thread: label,
    unresponsiveMs: Math.round(stalledMs),
    // Without a sample, it is blocked in a system call, such as a synchronous one of the file system.
    ...(sample ?? { stack: 'blocked outside of JavaScript' }),
  }
}
