/**
 * The metrics of all serving threads. Counters of a thread that has died, or that does not answer in time, keep their last
 * known values: Prometheus takes a smaller value for a restart, and counts everything again.
 */
import { withTimeout } from '../../core/timeout.ts'
import type { MetricObject, Metrics } from '../../platform/metrics/metrics.ts'
import type { ServingThread } from './supervised-thread.ts'

type Collecting = Pick<ServingThread, 'call' | 'isLate'>

export interface ThreadMetricsOptions {
  /** Without those that have ended. */
  threads: { running(): readonly Collecting[] }
  timeoutMs: number
  /** Those of the main thread. */
  own?(): MetricObject[]
}

interface Answer {
  /** Calls are numbered, because an earlier one may be answered later. */
  call: number
  metrics: MetricObject[]
}

export function createThreadMetrics({ threads, timeoutMs, own = () => [] }: ThreadMetricsOptions) {
  const latest = new Map<Collecting, Answer>()
  /** Of all threads that have ended, as one. */
  let ended: MetricObject[] = []
  let calls = 0

  async function ask(thread: Collecting): Promise<Collecting | undefined> {
    calls += 1
    const call = calls
    const answer = thread.call('collectMetrics', undefined).then((metrics) => {
      const known = latest.get(thread)
      // What a thread says after its end has been counted with it.
      if (threads.running().includes(thread) && (known?.call ?? 0) < call) {
        latest.set(thread, { call, metrics })
      }
    })
    try {
      await whileResponding(thread, answer, timeoutMs)
      return thread
    } catch {
      return undefined
    }
  }

  return {
    async merge(): Promise<Pick<Metrics, 'collect' | 'print'>> {
      // Loaded with the first scrape.
      const { mergeMetrics, countersOf, foldCounters } = await import('../../platform/metrics/merge-metrics.ts')
      const answered = new Set(await Promise.all(threads.running().map(ask)))
      const running = new Set(threads.running())
      const gone = [...latest].filter(([thread]) => !running.has(thread))
      if (gone.length > 0) ended = foldCounters([ended, ...gone.map(([, { metrics }]) => metrics)])
      for (const [thread] of gone) latest.delete(thread)
      // In the order of the threads: of some metrics the first value counts.
      const current = [...running].flatMap((thread) => {
        const metrics = latest.get(thread)?.metrics
        if (!metrics) return []
        return [answered.has(thread) ? metrics : countersOf(metrics)]
      })
      return mergeMetrics([...current, ended, own()])
    },
  }
}

const checkMs = 50

/** Rejects as soon as the thread is late, so that a page about the others does not wait for it. */
export async function whileResponding<T>(
  thread: Pick<ServingThread, 'isLate'>,
  answer: Promise<T>,
  timeoutMs: number,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const check = () => {
    if (thread.isLate()) late.reject(new Error('the thread does not respond'))
  }
  const timer = setInterval(check, checkMs)
  check()
  try {
    return await withTimeout(Promise.race([answer, late.promise]), timeoutMs)
  } finally {
    clearInterval(timer)
  }
}
