/** Metrics for Prometheus. */
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { createHistogram, type Series } from './histogram.ts'

export interface Metrics {
  requestSeries(labels: { method: string; route: string; status: string }): Series
  databaseSeries(labels: { operation: 'read' | 'write' }): Series
  /** A gauge that is read on each scrape, by the values of one label. */
  addGauge(gauge: { name: string; help: string; label: string; read(): Figures | Promise<Figures> }): void
  /** Returns a function that increments the counter, for a value of its label if it has one. */
  addCounter(counter: CounterOptions): (value?: string) => void
  contentType: string
  /** For `mergeMetrics`. */
  collect(): Promise<Collected>
  /** The page for Prometheus. */
  print(): Promise<string>
}

/** Plain data, which can be sent to another thread. */
export type Collected = MetricObjectWithValues<MetricValue<string>>[]

/** By the value of the label. */
type Figures = Readonly<Record<string, number>>
export interface CounterOptions {
  /** Ends in `_total`. */
  name: string
  help: string
  /** All possible values, which start at 0. */
  label?: { name: string; values: readonly string[] }
}

export function createMetrics(): Metrics {
  const register = new Registry()
  // CPU, memory, file handles, garbage collection and event loop lag.
  collectDefaultMetrics({ register })
  // Gauges named like counters, which promtool rejects. The gauges that they sum up remain.
  for (const kind of ['handles', 'requests', 'resources']) register.removeSingleMetric(`nodejs_active_${kind}_total`)
  for (const { name } of register.getMetricsAsArray()) {
    // Threads of a process report the same figures.
    if (name.startsWith('process_')) Object.assign(register.getSingleMetric(name) as Metric, { aggregator: 'first' })
  }
  const requests = createHistogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its answer.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  const database = createHistogram({
    name: 'database_operation_duration_seconds',
    help: 'Time of a database operation, waiting included.',
    buckets: [0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  })
  for (const { metric } of [requests, database]) {
    // The registry only needs a name and get(), but its types require one of its own classes.
    register.registerMetric(metric as unknown as Metric)
  }
  return {
    requestSeries: requests.series,
    databaseSeries: database.series,
    addGauge({ name, help, label, read }) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [register],
        async collect() {
          for (const [value, figure] of Object.entries(await read())) this.set({ [label]: value }, figure)
        },
      })
    },
    addCounter({ name, help, label }) {
      const counter = new Counter({ name, help, labelNames: label ? [label.name] : [], registers: [register] })
      for (const value of label?.values ?? []) counter.inc({ [label?.name ?? '']: value }, 0)
      return label ? (value = '') => counter.inc({ [label.name]: value }) : () => counter.inc()
    },
    contentType: register.contentType,
    collect: () => register.getMetricsAsJSON(),
    print: () => register.metrics(),
  }
}

/** The page for Prometheus of several threads. Each metric says how its values are merged; most are added up. */
export async function mergeMetrics(collected: readonly Collected[]): Promise<string> {
  return AggregatorRegistry.aggregate([...collected]).metrics()
}
