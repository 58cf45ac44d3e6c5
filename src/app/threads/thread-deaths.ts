/** What the main thread adds to the metrics of its serving threads. */
import type { MetricObject } from '../../platform/metrics/metrics.ts'
import { threadDeaths, threadUnresponsive } from '../gauges.ts'
import type { ServingThread } from './supervised-thread.ts'
import { UnresponsiveError } from './thread-watch.ts'

export function createDeathCounts() {
  const counts = new Map<string, number>()
  return {
    count(error: Error): void {
      const cause = causeOf(error)
      counts.set(cause, (counts.get(cause) ?? 0) + 1)
    },
    collect: () => [metric('counter', threadDeaths, counts)],
  }
}

/** The others say that they are not. */
export function lateThreads(threads: readonly ServingThread[]): MetricObject[] {
  const late = threads.filter((thread) => thread.isLate()).map(({ label }) => [label, 1] as const)
  return [metric('gauge', threadUnresponsive, late)]
}

function causeOf(error: Error): (typeof threadDeaths.label.values)[number] {
  if (error instanceof UnresponsiveError) return 'unresponsive'
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'error'
}

/** As prom-client lists it, which the main thread does not load before the first scrape. */
function metric(
  type: 'counter' | 'gauge',
  { name, help, label }: { name: string; help: string; label: { name: string } },
  figures: Iterable<readonly [string, number]>,
): MetricObject {
  const values = [...figures].map(([value, figure]) => ({ labels: { [label.name]: value }, value: figure }))
  // The types of prom-client name kinds and aggregators by enums; at run time they are these words.
  return { name, help, type, aggregator: type === 'gauge' ? 'max' : 'sum', values } as unknown as MetricObject
}
