/** Figures for Prometheus. */
import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { createHistogram, type Series } from './histogram.ts'

export interface Metrics {
  requestSeries(labels: { method: string; route: string; status: string }): Series
  databaseSeries(labels: { operation: 'read' | 'write' }): Series
  /** A figure that is asked for when somebody reads it, by the values of one label. */
  addGauge(gauge: { name: string; help: string; label: string; read(): Readonly<Record<string, number>> }): void
  /** The same for what only grows. Its name ends in `_total`. */
  addCounter(counter: { name: string; help: string; label: string; read(): Readonly<Record<string, number>> }): void
  contentType: string
  /** The page that Prometheus reads. */
  print(): Promise<string>
}

export function createMetrics(): Metrics {
  const register = new Registry()
  // The process: CPU, memory, file handles, garbage collection and the event loop's delay.
  collectDefaultMetrics({ register })
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
    // The registry asks for no more than a name and get(); its types ask for one of its own classes.
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
        collect() {
          for (const [value, figure] of Object.entries(read())) this.set({ [label]: value }, figure)
        },
      })
    },
    addCounter({ name, help, label, read }) {
      new Counter({
        name,
        help,
        labelNames: [label],
        registers: [register],
        collect() {
          this.reset()
          for (const [value, figure] of Object.entries(read())) this.inc({ [label]: value }, figure)
        },
      })
    },
    contentType: register.contentType,
    print: () => register.metrics(),
  }
}
