/**
 * Requests of OTLP in its JSON encoding, which is Protobuf's with three differences: ids are hexadecimal, enums are numbers,
 * and 64-bit integers are strings. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
import type { MetricObject } from '../../metrics/metrics.ts'
import type { Attributes, SpanKind } from '../tracing.ts'
import type { EndedSpan } from './tracer.ts'

export interface Origin {
  /** Who sends: service.name and others. */
  resource: Attributes
  /** Of the service. */
  version: string
}

const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }
const errorStatus = 2
const cumulative = 2
/** Flags of a span: the lower bits are those of W3C, of which 1 is "sampled". */
const sampledFlag = 1

export function encodeSpans(spans: readonly EndedSpan[], origin: Origin): string {
  const encoded = spans.map((span) => ({
    traceId: span.context.traceId,
    spanId: span.context.spanId,
    ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
    ...(span.context.state !== undefined && { traceState: span.context.state }),
    flags: sampledFlag,
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: encodeAttributes(span.attributes),
    ...(span.hasFailed && { status: { code: errorStatus } }),
  }))
  return JSON.stringify({
    resourceSpans: [{ resource: resourceOf(origin), scopeSpans: [{ scope: scopeOf(origin), spans: encoded }] }],
  })
}

export interface Times {
  /** When counting began, in milliseconds since 1970. */
  startedAt: number
  now: number
}

/** Metrics as prom-client lists them. */
export function encodeMetrics(metrics: readonly MetricObject[], times: Times, origin: Origin): string {
  const encoded = metrics
    .filter(({ values }) => values.length > 0)
    .map((metric) => ({
      name: metric.name,
      description: metric.help,
      unit: unitOf(metric.name),
      ...encodeData(metric, times),
    }))
  return JSON.stringify({
    resourceMetrics: [{ resource: resourceOf(origin), scopeMetrics: [{ scope: scopeOf(origin), metrics: encoded }] }],
  })
}

function encodeData({ type, values }: MetricObject, { startedAt, now }: Times): object {
  const times = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(now) }
  // The types of prom-client name kinds by an enum; at run time they are these words.
  const kind = type as unknown as 'counter' | 'gauge' | 'histogram'
  if (kind === 'histogram') {
    return { histogram: { dataPoints: encodeBuckets(values, times), aggregationTemporality: cumulative } }
  }
  const dataPoints = values
    // JSON has no NaN, which a figure without a sample is.
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({
      attributes: encodeAttributes(labels as Attributes),
      ...times,
      asDouble: value,
    }))
  return kind === 'counter'
    ? { sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } }
    : { gauge: { dataPoints } }
}

/** One point for each combination of labels, from the samples `_bucket`, `_sum` and `_count`. */
function encodeBuckets(values: MetricObject['values'], times: object): object[] {
  const series = Map.groupBy(values, ({ labels: { le: _le, ...labels } }) => JSON.stringify(labels))
  return [...series].map(([labels, samples]) => {
    const sampleOf = (suffix: string) => samples.find(({ metricName }) => metricName?.endsWith(suffix))?.value ?? 0
    const buckets = samples.filter(({ metricName }) => metricName?.endsWith('_bucket'))
    const bounds = buckets.map(({ labels: { le } }) => Number(String(le).replace('+Inf', 'Infinity')))
    return {
      attributes: encodeAttributes(JSON.parse(labels) as Attributes),
      ...times,
      count: String(sampleOf('_count')),
      sum: sampleOf('_sum'),
      // Prometheus counts everything up to a bound; OTLP only what lies between two.
      bucketCounts: buckets.map(({ value }, i) => String(value - (buckets[i - 1]?.value ?? 0))),
      explicitBounds: bounds.filter((bound) => Number.isFinite(bound)),
    }
  })
}

function unitOf(name: string): string {
  if (name.includes('_seconds')) return 's'
  return name.includes('_bytes') ? 'By' : ''
}

function resourceOf({ resource }: Origin): object {
  return { attributes: encodeAttributes(resource) }
}

function scopeOf({ version }: Origin): object {
  return { name: 'latchkey', version }
}

function encodeAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }))
}

function encodeValue(value: string | number | boolean): object {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'string') return { stringValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** Nanoseconds since 1970 exceed what a number holds exactly. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n)
}
