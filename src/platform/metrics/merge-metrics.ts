/** Makes one page of what several threads have collected. Each metric says how its values are merged; most are added up. */
import { AggregatorRegistry } from 'prom-client'
import type { MetricObject, Metrics } from './metrics.ts'

export function mergeMetrics(collected: readonly MetricObject[][]): Pick<Metrics, 'collect' | 'print'> {
  const merged = AggregatorRegistry.aggregate(collected.map((metrics) => metrics.map(withoutNaN)))
  return { collect: () => merged.getMetricsAsJSON() as Promise<MetricObject[]>, print: () => merged.metrics() }
}

/** What only grows: the values that must not vanish with their thread, because Prometheus takes that for a restart. */
export function countersOf(collected: readonly MetricObject[]): MetricObject[] {
  // The types of prom-client name kinds by an enum; at run time they are these words.
  return collected.filter(({ type }) => ['counter', 'histogram'].includes(type as unknown as string))
}

/** Counters of several threads as those of one. */
export function foldCounters(collected: readonly MetricObject[][]): MetricObject[] {
  const merged = AggregatorRegistry.aggregate(collected.map(countersOf))
  // They have their values, unlike what the type declarations say.
  return merged.getMetricsAsArray() as unknown as MetricObject[]
}

/** Such as the mean delay of an event loop that has just been asked: it would be that of all threads. */
function withoutNaN(metric: MetricObject): MetricObject {
  const { values } = metric
  if (!values.some(({ value }) => Number.isNaN(value))) return metric
  return { ...metric, values: values.filter(({ value }) => !Number.isNaN(value)) }
}
