/** Metrics for Prometheus. */
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { createHistogram, type Series } from './histogram.ts'
import { createRecentRequests, type RecentRequests } from './recent-requests.ts'

export interface Metrics {
  requestSeries(labels: { method: string; route: string; status: string }): Series
  databaseSeries(labels: { operation: 'read' | 'write' }): Series
  /** The requests of the last hour, for the console. */
  recent: RecentRequests
  /** A gauge that is read on each scrape, and left out if that fails. */
  addGauge(gauge: GaugeOptions | LabelledGaugeOptions): void
  /** A constant 1 whose labels say something about the process. */
  addInfo(info: { name: string; help: string; labels: Readonly<Record<string, string>> }): void
  /** Returns a function that increments the counter, for a value of its label if it has one. */
  addCounter(counter: CounterOptions): (value?: string) => void
  contentType: string
  /** All metrics with their values, as prom-client lists them. */
  collect(): Promise<MetricObject[]>
  /** The page for Prometheus. */
  print(): Promise<string>
}

/** Samples of a histogram have names of their own, which the type declarations leave out. */
export type MetricObject = MetricObjectWithValues<MetricValue<string> & { metricName?: string }>

/** How the values of several threads become one. */
export type Aggregator = 'sum' | 'first' | 'min' | 'max' | 'average'

export interface GaugeOptions {
  name: string
  help: string
  /** Default `sum`. */
  aggregator?: Aggregator
  read(): number | Promise<number>
}

/** By the values of one label. */
export interface LabelledGaugeOptions extends Omit<GaugeOptions, 'read'> {
  label: string
  read(): Figures | Promise<Figures>
}

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
  threadMetrics ??= createThreadMetrics()
  for (const metric of threadMetrics) register.registerMetric(metric)
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
    recent: createRecentRequests(),
    addGauge({ name, help, aggregator = 'sum', ...gauge }) {
      new Gauge({
        name,
        help,
        aggregator,
        labelNames: 'label' in gauge ? [gauge.label] : [],
        registers: [register],
        async collect() {
          try {
            if (!('label' in gauge)) return this.set(await gauge.read())
            const figures = Object.entries(await gauge.read())
            // Without those that are no longer there.
            this.reset()
            for (const [value, figure] of figures) this.set({ [gauge.label]: value }, figure)
          } catch {
            // Without a database, some have no value. The others matter all the more then.
            if ('label' in gauge) this.reset()
            else this.remove()
          }
        },
      })
    },
    addInfo({ name, help, labels }) {
      const labelNames = Object.keys(labels)
      new Gauge({ name, help, aggregator: 'first', labelNames, registers: [register] }).set(labels, 1)
    },
    addCounter({ name, help, label }) {
      const counter = new Counter({ name, help, labelNames: label ? [label.name] : [], registers: [register] })
      for (const value of label?.values ?? []) counter.inc({ [label?.name ?? '']: value }, 0)
      return label ? (value = '') => counter.inc({ [label.name]: value }) : () => counter.inc()
    },
    contentType: register.contentType,
    // The type declarations of prom-client leave out the values.
    collect: () => register.getMetricsAsJSON() as Promise<MetricObject[]>,
    print: () => register.metrics(),
  }
}

/**
 * Of this thread, and so of all services in it, of which tests start many: prom-client observes garbage collection and the
 * event loop for ever, and keeps whatever is in the same registry.
 */
let threadMetrics: Metric[] | undefined

/** CPU, memory, file handles, garbage collection and event loop lag. */
function createThreadMetrics(): Metric[] {
  const register = new Registry()
  collectDefaultMetrics({ register })
  // Gauges named like counters, which promtool rejects. The gauges that they sum up remain.
  for (const kind of ['handles', 'requests', 'resources']) register.removeSingleMetric(`nodejs_active_${kind}_total`)
  const metrics = register.getMetricsAsArray()
  for (const metric of metrics) {
    // Each thread reads these of the whole process.
    if (metric.name.startsWith('process_')) Object.assign(metric, { aggregator: 'first' satisfies Aggregator })
    // A mean over threads would hide one that is stuck.
    if (metric.name.startsWith('nodejs_eventloop_lag_')) {
      Object.assign(metric, { aggregator: (metric.name.includes('_min_') ? 'min' : 'max') satisfies Aggregator })
    }
    const readTime = cpuTimes[metric.name]
    if (readTime) Object.assign(metric, { aggregator: 'max' satisfies Aggregator, collect: countUpTo(readTime) })
  }
  // The type declarations take them for descriptions.
  return metrics as unknown as Metric[]
}

/** Processor time of the process in microseconds. */
const cpuTimes: Readonly<Record<string, (usage: NodeJS.CpuUsage) => number>> = {
  process_cpu_user_seconds_total: ({ user }) => user,
  process_cpu_system_seconds_total: ({ system }) => system,
  process_cpu_seconds_total: ({ user, system }) => user + system,
}

/** prom-client counts from when it is loaded, so a thread that replaces another would begin at 0. */
function countUpTo(readTime: (usage: NodeJS.CpuUsage) => number) {
  return function collect(this: Counter): void {
    this.reset()
    this.inc(readTime(process.cpuUsage()) / 1e6)
  }
}
