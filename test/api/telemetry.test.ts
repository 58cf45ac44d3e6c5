/** OpenTelemetry: traces and metrics at a collector, and trace ids in the log. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { type Api, type ApiOptions, type Owner, share, startApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { type Collector, check, type OtlpSpan, startCollector } from '../support/otlp-collector.ts'
import { signIn } from '../support/people.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const callerId = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${callerId}-01`

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }

function variables({ url }: Collector): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '50',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=shop%20one',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=overridden',
    OTEL_SERVICE_NAME: 'shop',
  }
}

/** The first log line of a request to this path. */
async function lineOf(api: Api, path: string): Promise<Record<string, unknown>> {
  const find = () =>
    api.log.map((each) => JSON.parse(each)).find((each) => each.msg === 'request' && each.path === path)
  // The lines of serving threads arrive a little later than their responses.
  await eventually(() => assert.ok(find(), `no log line of ${path}`))
  const line = find()
  return line
}

async function spansOf({ spans }: Collector, isWanted: (span: OtlpSpan) => boolean, count = 1): Promise<OtlpSpan[]> {
  return eventually(() => {
    const found = spans.filter(isWanted)
    assert.ok(found.length >= count, `${found.length} of ${spans.map(({ name }) => name).join(', ')}`)
    return found
  })
}

/** A service and the collector that it reports to. */
async function startTraced(owner: Owner, options: ApiOptions = {}) {
  const collector = await startCollector(owner)
  return { collector, api: await startApi(owner, { ...options, env: variables(collector) }) }
}

onAnyEngine('OpenTelemetry', (engine) => {
  const shared = share((owner) => startTraced(owner, { engine }))

  test('a request is a trace: HTTP, GraphQL, database and bus, continued from the caller', async () => {
    const { collector, api } = await shared()
    const { access } = await signIn(api)
    const headers = { traceparent, tracestate: 'vendor=1', authorization: `Bearer ${access}` }
    const secret = 'a value that nobody else may see'
    await api.request('POST', '/api/v2/products?q=hidden', {
      headers,
      json: { name: 'Lamp', description: secret, price: 1 },
    })
    await api.request('POST', '/graphql', {
      headers,
      json: {
        query: 'mutation Write($t: String!) { createPost(title: $t, body: "b") }',
        variables: { t: secret },
      },
    })
    await api.get('/api/v2/products/1', access)
    await api.get('/nowhere/at/all')

    const isOfTrace = (span: OtlpSpan) => span.traceId === traceId
    const [http] = await spansOf(collector, ({ name }) => name === 'POST /api/v2/products')
    assert.ok(http)
    assert.deepEqual([http.traceId, http.parentSpanId, http.traceState], [traceId, callerId, 'vendor=1'])
    assert.equal(http.kind, kinds.server)
    assert.deepEqual(http.attributes, {
      'http.request.method': 'POST',
      'http.route': '/api/v2/products',
      'http.response.status_code': 201,
      'url.path': '/api/v2/products',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
    })
    assert.ok(BigInt(http.endTimeUnixNano) > BigInt(http.startTimeUnixNano))
    assert.equal(http.resource['service.name'], 'shop')
    assert.equal(http.resource['deployment.environment.name'], 'test')

    const [insert] = await spansOf(
      collector,
      (span) => isOfTrace(span) && span.parentSpanId === http.spanId && /INSERT products/.test(span.name),
    )
    assert.equal(insert?.kind, kinds.client)
    assert.equal(insert?.attributes['db.system.name'], engine === 'sqlite' ? 'sqlite' : 'postgresql')
    assert.equal(insert?.attributes['latchkey.database.method'], 'write')
    const [token] = await spansOf(
      collector,
      (span) => span.parentSpanId === http.spanId && span.attributes['latchkey.database.method'] === 'get',
    )
    assert.ok(token, 'the check of the access token')

    const [graphql] = await spansOf(collector, ({ name }) => name === 'mutation')
    const [graphqlHttp] = await spansOf(collector, ({ name }) => name === 'POST /graphql')
    assert.equal(graphql?.parentSpanId, graphqlHttp?.spanId)
    assert.deepEqual(graphql?.attributes, {
      'graphql.operation.type': 'mutation',
      'graphql.operation.name': 'Write',
    })
    await spansOf(collector, (span) => span.parentSpanId === graphql?.spanId && span.name.includes('INSERT posts'))

    const [publish] = await spansOf(collector, (span) => isOfTrace(span) && span.name.startsWith('publish '))
    assert.equal(publish?.kind, kinds.producer)
    assert.equal(publish?.attributes['messaging.operation.type'], 'send')

    const [read] = await spansOf(collector, ({ name }) => name === 'GET /api/v2/products/:id')
    assert.equal(read?.attributes['http.route'], '/api/v2/products/:id')

    const [unknown] = await spansOf(collector, (span) => span.attributes['http.response.status_code'] === 404)
    assert.equal(unknown?.name, 'GET', 'paths of clients are no names')
    assert.notEqual(unknown?.traceId, traceId)

    assert.deepEqual(collector.problems, [])
    assert.doesNotMatch(JSON.stringify(collector.spans), new RegExp(`${secret}|hidden|${access}`))
    assert.equal(collector.headers['x-tenant'], 'shop one')
    const line = await lineOf(api, '/api/v2/products')
    assert.deepEqual([line.trace_id, line.span_id], [traceId, http.spanId])
  })

  test('metrics are those of /metrics', async () => {
    const { collector, api } = await shared()
    await api.get('/api/posts/1')
    const find = (name: string) => collector.metrics.find((metric) => metric.name === name)
    await eventually(() => {
      const requests = find('http_request_duration_seconds')?.histogram
      const point = requests?.dataPoints.find(({ attributes }) => JSON.stringify(attributes).includes('posts'))
      assert.equal(point?.count, '1')
      const counts = point?.bucketCounts ?? []
      assert.equal(counts.length, (point?.explicitBounds?.length ?? 0) + 1)
      assert.deepEqual(
        counts.filter((count) => count !== '0'),
        ['1'],
        'not cumulative',
      )
    })
    assert.equal(find('auth_locks_total')?.sum?.isMonotonic, true)
    // Threads become ready one after the other.
    await eventually(() => assert.equal(find('service_ready')?.gauge?.dataPoints[0]?.asDouble, 1))
    assert.equal(find('http_request_duration_seconds')?.unit, 's')
    assert.equal(find('process_resident_memory_bytes')?.unit, 'By')
    const page: string = (await api.get('/metrics')).body
    // Some have no sample before something happens, such as those of Node.js and of webhooks.
    const samples = page.split('\n').filter((line) => !line.startsWith('#'))
    const names = [...page.matchAll(/^# TYPE (?!nodejs)(\w+) /gm)]
      .map(([, name]) => name as string)
      .filter((name) => samples.some((line) => line.startsWith(name)))
    assert.ok(names.length > 30, String(names.length))
    // Some are first read later than the page was.
    await eventually(() => {
      const exported = new Set(collector.metrics.map(({ name }) => name))
      assert.deepEqual(
        names.filter((name) => !exported.has(name)),
        [],
      )
    })
    assert.deepEqual(collector.problems, [])
  })
})

let deliver = (): Promise<void> => Promise.resolve()
const delivered: unknown[] = []
const traced = share((owner) =>
  startTraced(owner, {
    async extend(app, { topics }) {
      await topics.subscribe('news', (value) => delivered.push(value))
      deliver = () => topics.publish('news', { n: 1 })
      app.get('/broken', { config: { access: 'public', docs: false } }, () => Promise.reject(new Error('no')))
    },
  }),
)

test('values that a subscription delivers are spans', async () => {
  const { collector } = await traced()
  await deliver()
  assert.deepEqual(delivered, [{ n: 1 }])
  const [delivery] = await spansOf(collector, ({ name }) => name === 'deliver news')
  const [published] = await spansOf(collector, ({ name }) => name === 'publish news')
  assert.equal(delivery?.kind, kinds.consumer)
  assert.equal(delivery?.parentSpanId, published?.spanId)
  assert.deepEqual(delivery?.attributes, {
    'messaging.system': 'in_memory',
    'messaging.operation.name': 'deliver',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'news',
  })
})

test('parallel requests keep their spans apart, whatever they share', async () => {
  const { collector, api } = await traced()
  const ids = Array.from({ length: 20 }, (_, i) => (i + 1).toString(16).padStart(32, 'a'))
  await Promise.all(
    ids.map((id) =>
      api.request('POST', '/graphql', {
        headers: { traceparent: `00-${id}-${callerId}-01` },
        json: { query: '{ posts { id } }' },
      }),
    ),
  )
  for (const id of ids) {
    const spans = await spansOf(collector, (span) => span.traceId === id, 3)
    assert.deepEqual(spans.map(({ name }) => name).sort(), ['POST /graphql', 'SELECT posts', 'query'])
  }
})

test('a failing request is a failed span; probes and scrapes are none', async () => {
  const { collector, api } = await traced()
  await api.get('/health/ready')
  await api.get('/metrics')
  assert.equal((await api.get('/%ff')).status, 404)
  await api.get('/broken')
  const [broken] = await spansOf(collector, ({ name }) => name === 'GET /broken')
  assert.equal(broken?.status?.code, 2)
  assert.equal(broken?.attributes['error.type'], '500')
  const read = collector.spans.filter(({ attributes }) => attributes['http.request.method'] === 'GET')
  assert.deepEqual(
    read.map(({ name }) => name),
    ['GET', 'GET /broken'],
  )
})

test('the sampler decides: none, or what the caller says', async (t) => {
  const collector = await startCollector(t)
  const api = await startApi(t, { env: { ...variables(collector), OTEL_TRACES_SAMPLER: 'parentbased_always_off' } })
  await api.get('/api/v2/products')
  await api.request('GET', '/api/v2/products/1', { headers: { traceparent: `00-${traceId}-${callerId}-00` } })
  await api.request('GET', '/api/v2/products/2', { headers: { traceparent } })
  const [sampled] = await spansOf(collector, (span) => span.attributes['url.path'] === '/api/v2/products/2')
  assert.equal(sampled?.traceId, traceId)
  assert.deepEqual(
    collector.spans.filter(({ kind, spanId }) => kind === kinds.server && spanId !== sampled?.spanId),
    [],
  )
  assert.equal((await lineOf(api, '/api/v2/products/1')).trace_id, traceId, 'logged all the same')
})

test('a collector that is away, slow or refuses does not delay requests, and does not hold the stop', async (t) => {
  const collector = await startCollector(t)
  collector.answer = { status: 0 }
  const api = await startApi(t, { env: variables(collector) })
  for (let i = 0; i < 20; i++) assert.equal((await api.get('/api/v2/products')).status, 200)
  await eventually(() => assert.ok(collector.requests > 0))
  await api.close()
})

test('after a refusal that may pass, spans are sent again; the log says it once', async (t) => {
  const collector = await startCollector(t)
  // Without a wait, all attempts may be over before the test gets to end the refusals.
  collector.answer = { status: 503, headers: { 'retry-after': '0' }, until: 2 }
  const api = await startApi(t, { env: { ...variables(collector), OTEL_METRICS_EXPORTER: 'none' } })
  await api.get('/api/v2/products')
  await spansOf(collector, ({ name }) => name === 'GET /api/v2/products')
  assert.ok(collector.requests > 2)
  await eventually(() => assert.ok(api.log.some((line) => line.includes('accepts data again'))))
  assert.equal(api.log.filter((line) => line.includes('does not accept data')).length, 1)
})

test('what was recorded before the stop is sent at the stop', async (t) => {
  const collector = await startCollector(t)
  const env = { ...variables(collector), OTEL_BSP_SCHEDULE_DELAY: '600000', OTEL_METRIC_EXPORT_INTERVAL: '600000' }
  const api = await startApi(t, { env })
  await api.get('/api/v2/products')
  assert.equal(collector.requests, 0)
  await api.close()
  assert.ok(collector.spans.some(({ name }) => name === 'GET /api/v2/products'))
  const ready = collector.metrics.find(({ name }) => name === 'service_ready')
  assert.equal(ready?.gauge?.dataPoints[0]?.asDouble, 1, 'as it was before the stop')
})

test('without OpenTelemetry, a valid traceparent is logged with each line of its request, and an invalid one is not', async (t) => {
  const api = await startApi(t)
  await api.request('GET', '/api/v2/products/1', { headers: { traceparent } })
  await api.request('GET', '/api/v2/products/2', { headers: { traceparent: 'nonsense' } })
  const line = await lineOf(api, '/api/v2/products/1')
  assert.deepEqual([line.trace_id, line.span_id], [traceId, undefined])
  assert.equal('trace_id' in (await lineOf(api, '/api/v2/products/2')), false)
})

test('the collector of these tests finds violations', () => {
  const problems: string[] = []
  check(
    'TracesData',
    { resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: 'x', kind: 9, odd: 1 }] }] }] },
    '',
    problems,
  )
  assert.equal(problems.length, 3)
})

test('nothing of it is loaded unless it is configured', () => {
  const src = join(root, 'src')
  const importing = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('tracing/otlp/'))
    .flatMap((path) =>
      readFileSync(join(src, path), 'utf8')
        .split('\n')
        .filter((line) => line.includes('tracing/otlp/') && !line.startsWith('import type '))
        .map((line) => `${path}: ${line.trim()}`),
    )
  const loading = "const { openTelemetry } = await import('../platform/tracing/otlp/telemetry.ts')"
  assert.deepEqual(importing, [`app/open-service.ts: ${loading}`])
})
