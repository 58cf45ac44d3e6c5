import type { Metrics } from '../../platform/metrics/metrics.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Attempt } from './webhook.ts'
import type { WebhookStore } from './webhooks.store.ts'

/** Returns what counts an attempt. */
export function addAttemptCounter(metrics: Metrics | undefined): (status: Attempt['status']) => void {
  const count = metrics?.addCounter({
    name: 'webhook_attempts_total',
    help: 'Attempts to deliver a message to a webhook. What fails is repeated.',
    label: { name: 'status', values: ['delivered', 'failed'] satisfies Attempt['status'][] },
  })
  return (status) => count?.(status)
}

export function addWebhookGauges(metrics: Metrics, dispatcher: Dispatcher, store: WebhookStore): void {
  metrics.addGauge({
    name: 'webhook_lag_seconds',
    help: 'The age of the oldest change that a webhook has not been told of, on the node that delivers.',
    label: 'webhook',
    aggregator: 'max',
    read: dispatcher.lagSeconds,
  })
  metrics.addGauge({
    name: 'webhooks',
    help: 'Webhooks by their state: on, failing (still tried), or off.',
    label: 'state',
    aggregator: 'max',
    read: store.countByState,
  })
}
