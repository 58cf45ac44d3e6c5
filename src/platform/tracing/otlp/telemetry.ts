/** Traces and metrics for OpenTelemetry. Loaded only if a collector is configured. */
import { hostname } from 'node:os'
import { startPeriodicTask } from '../../../core/periodic-task.ts'
import type { Random } from '../../../core/random.ts'
import { withTimeout } from '../../../core/timeout.ts'
import type { Log } from '../../log/logger.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Tracing } from '../tracing.ts'
import { encodeMetrics, encodeSpans, type Origin } from './otlp-json.ts'
import { createSampler, type SamplerName } from './sampler.ts'
import { createSender } from './sender.ts'
import { createSpanQueue } from './span-queue.ts'
import { createTracer } from './tracer.ts'

export interface TelemetrySettings {
  /** Without the path of a signal. */
  endpoint: string
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  serviceName: string | undefined
  resourceAttributes: Readonly<Record<string, string>>
  traces: 'otlp' | 'none'
  sampler: SamplerName
  samplerRatio: number
  spanDelayMs: number
  metrics: 'otlp' | 'none'
  metricsIntervalMs: number
}

export interface TelemetryOptions {
  settings: TelemetrySettings
  metrics: Pick<Metrics, 'collect'>
  /** Of the service. */
  version: string
  /** Of the process: all its threads are one instance. */
  instanceId: string
  random: Random
  log: Log
}

export interface Telemetry {
  /** Undefined if only metrics are exported. */
  readonly tracing: Tracing | undefined
  /**
   * Call before anything is closed that the metrics are read from. Resolves when they are read; sending them goes on. Later
   * calls do nothing more.
   */
  exportLastMetrics(): Promise<void>
  /** Sends what is left. Together with `exportLastMetrics`, it takes two seconds at most. */
  close(): Promise<void>
}

const maxCloseMs = 2000
const maxLastReadMs = 1000
const attempts = 5

export function openTelemetry(options: TelemetryOptions): Telemetry {
  const { settings, metrics, version, random, log } = options
  const origin: Origin = { version, resource: describeResource(options) }
  const sender = { ...settings, log, random: random.fraction }
  // The next export has everything that a failed one had, so metrics are sent once.
  const metricsSender = createSender({ ...sender, url: `${settings.endpoint}/v1/metrics`, attempts: 1 })
  const spanSender = createSender({ ...sender, url: `${settings.endpoint}/v1/traces`, attempts })
  const startedAt = performance.timeOrigin

  async function readMetrics(): Promise<string> {
    const collected = await metrics.collect()
    const now = performance.timeOrigin + performance.now()
    return encodeMetrics(collected, { startedAt, now }, origin)
  }

  async function exportMetrics(): Promise<void> {
    const body = await readMetrics()
    // A read that outlasts the last one may have found things closed.
    if (!lastRead) await metricsSender.send(body)
  }

  async function exportLast(): Promise<void> {
    exportsEnd = exports?.close()
    const start = performance.now()
    try {
      lastExport = metricsSender.send(await withTimeout(readMetrics(), maxLastReadMs))
    } catch (error) {
      onError(error)
    }
    closeMs -= performance.now() - start
  }

  const onError = (error: unknown) => log.error({ err: error }, 'metrics were not exported')
  const spans = createSpanQueue({
    everyMs: settings.spanDelayMs,
    log,
    send: (batch) => spanSender.send(encodeSpans(batch, origin)),
  })
  const exports =
    settings.metrics === 'otlp'
      ? startPeriodicTask({ everyMs: settings.metricsIntervalMs, work: exportMetrics, onError })
      : undefined
  let lastRead: Promise<void> | undefined
  let lastExport: Promise<void> | undefined
  let exportsEnd: Promise<void> | undefined
  let closeMs = maxCloseMs

  return {
    tracing:
      settings.traces === 'otlp'
        ? createTracer({
            random,
            sample: createSampler(settings.sampler, settings.samplerRatio),
            onEnd: spans.add,
          })
        : undefined,
    async exportLastMetrics() {
      if (exports) lastRead ??= exportLast()
      await lastRead
    },
    async close() {
      for (const each of [metricsSender, spanSender]) each.endWithin(closeMs)
      await Promise.all([exportsEnd ?? exports?.close(), lastExport, spans.close()])
    },
  }
}

/** By the semantic conventions for resources. What the operator sets wins. */
function describeResource({ settings, version, instanceId }: TelemetryOptions): Record<string, string> {
  return {
    'service.name': 'latchkey',
    'service.version': version,
    'service.instance.id': instanceId,
    'host.name': hostname(),
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    ...settings.resourceAttributes,
    ...(settings.serviceName !== undefined && { 'service.name': settings.serviceName }),
  }
}
