/** The keys of OpenTelemetry. Their variables are those of its specification. */
import { key, optional } from './key.ts'
import { baseUrl, choice, fraction, integer, pairs, text } from './readers.ts'

const milliseconds = integer({ min: 1, max: 3_600_000 })
const exporter = choice(['otlp', 'none'])

export const telemetryProtocol = 'http/json'

export const telemetryKeys = {
  endpoint: optional('telemetry.endpoint', baseUrl, 'OTEL_EXPORTER_OTLP_ENDPOINT'),
  protocol: key('telemetry.protocol', text, telemetryProtocol, 'OTEL_EXPORTER_OTLP_PROTOCOL'),
  headers: key('telemetry.headers', pairs, {}, 'OTEL_EXPORTER_OTLP_HEADERS'),
  timeoutMs: key('telemetry.timeout', milliseconds, 10_000, 'OTEL_EXPORTER_OTLP_TIMEOUT'),
  serviceName: optional('telemetry.service_name', text, 'OTEL_SERVICE_NAME'),
  resourceAttributes: key('telemetry.resource_attributes', pairs, {}, 'OTEL_RESOURCE_ATTRIBUTES'),
  traces: key('telemetry.traces', exporter, 'otlp', 'OTEL_TRACES_EXPORTER'),
  sampler: key(
    'telemetry.sampler',
    choice([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ]),
    'parentbased_always_on',
    'OTEL_TRACES_SAMPLER',
  ),
  samplerRatio: key('telemetry.sampler_ratio', fraction, 1, 'OTEL_TRACES_SAMPLER_ARG'),
  spanDelayMs: key('telemetry.span_delay', milliseconds, 5000, 'OTEL_BSP_SCHEDULE_DELAY'),
  metrics: key('telemetry.metrics', exporter, 'otlp', 'OTEL_METRICS_EXPORTER'),
  metricsIntervalMs: key('telemetry.metrics_interval', milliseconds, 60_000, 'OTEL_METRIC_EXPORT_INTERVAL'),
}
