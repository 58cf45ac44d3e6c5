/** The gauges of the service itself. Features add those of their own. */

import { getHeapStatistics } from 'node:v8'
import { threadId } from 'node:worker_threads'
import { readVersion } from '../config/version.ts'
import type { Service } from './open-service.ts'

/** For every process that serves, with or without HTTP. */
export function addServiceGauges({ infrastructure, metrics, readiness, graphql }: Service): void {
  const { db, nodeBus, topics, changes } = infrastructure
  metrics.addInfo({
    name: 'latchkey_build_info',
    help: 'Versions, as labels of a constant 1.',
    labels: { version: readVersion(), node_version: process.version },
  })
  metrics.addGauge({
    name: 'service_ready',
    help: 'Whether the database takes writes: 1, or 0. As in /health/ready, but still 1 while the service stops.',
    aggregator: 'min',
    // A stop is no fault: alerts would fire at every deployment.
    read: async () => Number(await readiness.acceptsWrites()),
  })
  metrics.addGauge({
    name: 'dependency_up',
    help: 'Whether what the service depends on works: 1, or 0.',
    label: 'dependency',
    aggregator: 'min',
    read: readiness.gauges,
  })
  metrics.addGauge({
    name: 'bus_up',
    help: 'Whether values can be published and received: 1, or 0.',
    label: 'bus',
    aggregator: 'min',
    read: () => ({ nodes: Number(nodeBus.isUp()), topics: Number(topics.isUp()) }),
  })
  metrics.addGauge({
    name: 'database_operations_waiting',
    help: 'Unfinished operations, by the thread or the kind of connection that they wait for.',
    label: 'queue',
    read: () => db.load().waiting,
  })
  if (db.load().connections) {
    metrics.addGauge({
      name: 'database_connections',
      help: 'Connections of the pool, by what they do.',
      label: 'state',
      read: () => ({ ...db.load().connections }),
    })
  }
  metrics.addGauge({
    name: 'graphql_subscriptions',
    help: 'Open subscriptions, and sources that they share.',
    label: 'kind',
    read: graphql.counts,
  })
  metrics.addGauge({
    name: 'change_log_readers',
    help: 'Requests, streams, subscriptions and durable listeners that wait for a change.',
    read: changes.waiting,
  })
  metrics.addGauge({
    name: 'change_log_held_back_seconds',
    help: 'How long committed changes have been waiting for an older transaction to end. 0 if none do.',
    aggregator: 'max',
    read: changes.heldBackSeconds,
  })
  addHeapGauges(metrics)
  const { name, help, label } = threadUnresponsive
  // Whether it is, the main thread says: see app/threads/.
  metrics.addGauge({ name, help, label: label.name, aggregator: 'max', read: () => ({ [labelOf(threadId)]: 0 }) })
  metrics.addCounter(threadDeaths)
}

export const threadUnresponsive = {
  name: 'thread_unresponsive',
  help: 'Whether the event loop of a serving thread stands still: 1, or 0.',
  label: { name: 'thread' },
} as const

export const threadDeaths = {
  name: 'thread_deaths_total',
  help: 'Serving threads that died and were replaced, by cause.',
  label: { name: 'cause', values: ['unresponsive', 'memory', 'error'] },
} as const

/** Of the main thread, the id is 0. */
export function labelOf(id: number): string {
  return id === 0 ? 'main' : `worker-${id}`
}

/** Each thread has a heap of its own, so the label keeps them apart when the values of threads are added. */
function addHeapGauges(metrics: Service['metrics']): void {
  const thread = labelOf(threadId)
  metrics.addGauge({
    name: 'thread_heap_used_bytes',
    help: 'Used JavaScript heap, by thread.',
    label: 'thread',
    read: () => ({ [thread]: getHeapStatistics().used_heap_size }),
  })
  metrics.addGauge({
    name: 'thread_heap_limit_bytes',
    help: 'Size at which the JavaScript heap is full and the thread ends, by thread.',
    label: 'thread',
    read: () => ({ [thread]: getHeapStatistics().heap_size_limit }),
  })
}
