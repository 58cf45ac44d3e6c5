/** A collector of OpenTelemetry over HTTP that refuses what the OTLP specification does not allow. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { code: number }
  attributes: Record<string, string | number | boolean>
  resource: Record<string, string | number | boolean>
}

export interface OtlpMetric {
  name: string
  unit: string
  gauge?: { dataPoints: OtlpPoint[] }
  sum?: { dataPoints: OtlpPoint[]; isMonotonic: boolean; aggregationTemporality: number }
  histogram?: { dataPoints: OtlpPoint[]; aggregationTemporality: number }
}

interface OtlpPoint {
  attributes: KeyValue[]
  asDouble?: number
  count?: string
  sum?: number
  bucketCounts?: string[]
  explicitBounds?: number[]
}

export interface Collector {
  url: string
  spans: OtlpSpan[]
  /** Of the latest export. */
  metrics: OtlpMetric[]
  /** Of the latest export of metrics. */
  metricsResource: Record<string, string | number | boolean>
  /** Violations of the specification. */
  problems: string[]
  /** Of the latest request. */
  headers: IncomingHttpHeaders
  requests: number
  /** Answers with this status, until there were `until` requests; 0 leaves requests without an answer. */
  answer: { status: number; headers?: Record<string, string>; until?: number }
}

export async function startCollector(t: Pick<TestContext, 'after'>): Promise<Collector> {
  const collector: Collector = {
    url: '',
    spans: [],
    metrics: [],
    metricsResource: {},
    problems: [],
    headers: {},
    requests: 0,
    answer: { status: 200 },
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    collector.requests += 1
    collector.headers = request.headers
    const { status, headers } = collector.answer
    if (collector.requests === collector.answer.until) collector.answer = { status: 200 }
    if (status === 0) return
    if (status === 200) receive(collector, request.url ?? '', text)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return collector
}

function receive(collector: Collector, path: string, text: string): void {
  const body = JSON.parse(text)
  if (path === '/v1/traces') {
    check('TracesData', body, path, collector.problems)
    for (const { resource, scopeSpans } of body.resourceSpans) {
      for (const span of scopeSpans.flatMap((scope: { spans: unknown[] }) => scope.spans)) {
        collector.spans.push({ ...span, attributes: read(span.attributes), resource: read(resource.attributes) })
      }
    }
  } else if (path === '/v1/metrics') {
    check('MetricsData', body, path, collector.problems)
    collector.metricsResource = read(body.resourceMetrics[0].resource.attributes)
    collector.metrics = body.resourceMetrics.flatMap((each: { scopeMetrics: { metrics: OtlpMetric[] }[] }) =>
      each.scopeMetrics.flatMap(({ metrics }) => metrics),
    )
  } else collector.problems.push(`no such path: ${path}`)
}

interface KeyValue {
  key: string
  value: { stringValue?: string; intValue?: string; doubleValue?: number; boolValue?: boolean }
}

export function read(attributes: KeyValue[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue ?? '',
    ]),
  )
}

/** The messages of opentelemetry-proto by the names and types that their JSON encoding has. `[]` is a list. */
const messages: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  TracesData: { resourceSpans: 'ResourceSpans[]' },
  ResourceSpans: { resource: 'Resource', scopeSpans: 'ScopeSpans[]', schemaUrl: 'string' },
  ScopeSpans: { scope: 'Scope', spans: 'Span[]', schemaUrl: 'string' },
  Span: {
    traceId: 'id16',
    spanId: 'id8',
    traceState: 'string',
    parentSpanId: 'id8',
    flags: 'uint32',
    name: 'string',
    kind: 'enum5',
    startTimeUnixNano: 'fixed64',
    endTimeUnixNano: 'fixed64',
    attributes: 'KeyValue[]',
    droppedAttributesCount: 'uint32',
    status: 'Status',
  },
  Status: { message: 'string', code: 'enum2' },
  MetricsData: { resourceMetrics: 'ResourceMetrics[]' },
  ResourceMetrics: { resource: 'Resource', scopeMetrics: 'ScopeMetrics[]', schemaUrl: 'string' },
  ScopeMetrics: { scope: 'Scope', metrics: 'Metric[]', schemaUrl: 'string' },
  Metric: { name: 'string', description: 'string', unit: 'string', gauge: 'Gauge', sum: 'Sum', histogram: 'Histogram' },
  Gauge: { dataPoints: 'NumberDataPoint[]' },
  Sum: { dataPoints: 'NumberDataPoint[]', aggregationTemporality: 'enum2', isMonotonic: 'boolean' },
  Histogram: { dataPoints: 'HistogramDataPoint[]', aggregationTemporality: 'enum2' },
  NumberDataPoint: {
    attributes: 'KeyValue[]',
    startTimeUnixNano: 'fixed64',
    timeUnixNano: 'fixed64',
    asDouble: 'double',
    asInt: 'fixed64',
  },
  HistogramDataPoint: {
    attributes: 'KeyValue[]',
    startTimeUnixNano: 'fixed64',
    timeUnixNano: 'fixed64',
    count: 'fixed64',
    sum: 'double',
    bucketCounts: 'fixed64[]',
    explicitBounds: 'double[]',
  },
  Resource: { attributes: 'KeyValue[]', droppedAttributesCount: 'uint32' },
  Scope: { name: 'string', version: 'string', attributes: 'KeyValue[]' },
  KeyValue: { key: 'string', value: 'AnyValue' },
  AnyValue: { stringValue: 'string', boolValue: 'boolean', intValue: 'fixed64', doubleValue: 'double' },
}

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  double: (value) => typeof value === 'number',
  uint32: (value) => Number.isInteger(value),
  fixed64: (value) => typeof value === 'string' && /^-?\d{1,20}$/.test(value),
  id16: (value) => typeof value === 'string' && /^[0-9a-f]{32}$/.test(value),
  id8: (value) => typeof value === 'string' && /^[0-9a-f]{16}$/.test(value),
  enum5: (value) => [1, 2, 3, 4, 5].includes(value as number),
  enum2: (value) => [1, 2].includes(value as number),
}

export function check(type: string, value: unknown, place: string, problems: string[]): void {
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) problems.push(`${place} is no list`)
    else for (const [i, each] of value.entries()) check(type.slice(0, -2), each, `${place}[${i}]`, problems)
    return
  }
  const scalar = scalars[type]
  if (scalar) {
    if (!scalar(value)) problems.push(`${place} is no ${type}: ${JSON.stringify(value)}`)
    return
  }
  const fields = messages[type] as Readonly<Record<string, string>>
  for (const [name, inner] of Object.entries(value as object)) {
    const field = fields[name]
    if (field === undefined) problems.push(`${place} has no field ${name}`)
    else check(field, inner, `${place}.${name}`, problems)
  }
}
