/** What /metrics says about load, readiness and dependencies. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { AggregatorRegistry, type Registry } from 'prom-client'
import { root } from '../../src/config/root.ts'
import { openConnections } from '../../src/platform/database/postgres/connections.ts'
import { mergeMetrics } from '../../src/platform/metrics/merge-metrics.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import { type Api, shareApi, startApi } from '../support/api.ts'
import { createDatabaseUrl, engines, onAnyEngine, testServer } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startProxy } from '../support/proxy.ts'

/** The value of a series, such as `name{label="value"}`. */
async function figure(api: Api, series: string): Promise<number> {
  const page: string = (await api.get('/metrics')).body
  const line = page.split('\n').find((each) => each.startsWith(`${series} `))
  assert.ok(line, `${series} is missing`)
  return Number(line.slice(series.length))
}

onAnyEngine('metrics of load', (engine) => {
  const shared = shareApi({ engine })

  test('versions, readiness, buses, heaps and queues are there from the start', async () => {
    const api = await shared()
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    assert.equal(await figure(api, `latchkey_build_info{version="${version}",node_version="${process.version}"}`), 1)
    assert.equal(await figure(api, 'service_ready'), 1)
    for (const bus of ['nodes', 'topics']) assert.equal(await figure(api, `bus_up{bus="${bus}"}`), 1)
    const { body } = await api.get('/metrics')
    const [, thread] = /^thread_heap_used_bytes\{thread="(main|worker-\d+)"\}/m.exec(body) ?? []
    const used = await figure(api, `thread_heap_used_bytes{thread="${thread}"}`)
    const limit = await figure(api, `thread_heap_limit_bytes{thread="${thread}"}`)
    assert.ok(used > 1_000_000 && used < limit)
    for (const state of ['running', 'waiting']) assert.equal(await figure(api, `password_hashes{state="${state}"}`), 0)
    assert.equal(await figure(api, 'rate_limit_fallbacks_total'), 0)
  })

  test('requests are in flight until they are answered, or their client is gone', async (t) => {
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const api = await startApi(t, {
      engine,
      extend: (app) =>
        void app.get('/held', { config: { access: 'public', docs: false } }, async () => {
          await held
          return 'done'
        }),
    })
    // The scrape itself is one.
    assert.equal(await figure(api, 'http_requests_in_flight'), 1)
    const waiting = Promise.all([api.get('/held'), api.get('/held')])
    await eventually(async () => assert.equal(await figure(api, 'http_requests_in_flight'), 3))
    release()
    await waiting
    assert.equal(await figure(api, 'http_requests_in_flight'), 1)

    const { port } = new URL(api.url)
    const client = connect(Number(port), '127.0.0.1')
    t.after(() => client.destroy())
    client.write(
      'POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
    )
    await eventually(async () => assert.equal(await figure(api, 'http_requests_in_flight'), 2))
    client.destroy()
    await eventually(async () => assert.equal(await figure(api, 'http_requests_in_flight'), 1))

    await api.get('/nowhere')
    await api.get('/%ff')
    await api.request('OPTIONS', '/nowhere')
    await api.post('/api/auth/login', {})
    assert.equal(await figure(api, 'http_requests_in_flight'), 1, 'refused ones do not count for ever')
  })

  test('a route is named by its pattern, without the regular expression of its parameter', async () => {
    const api = await shared()
    await api.get('/api/v2/products/1')
    const labels = 'method="GET",route="/api/v2/products/:id",status="404"'
    assert.equal(await figure(api, `http_request_duration_seconds_count{${labels}}`), 1)
  })

  test('unfinished operations of the database are counted by queue', async (t) => {
    let database: { load(): { waiting: Readonly<Record<string, number>> } } | undefined
    let scan = (): Promise<unknown> => Promise.resolve()
    let write = (): Promise<unknown> => Promise.resolve()
    const api = await startApi(t, {
      engine,
      extend: (_app, { db }) => {
        database = db
        scan = () => db.scan('SELECT 1 AS one')
        write = () => db.write({ sql: 'UPDATE users SET name = name' })
      },
    })
    const waiting = () => Object.values(database?.load().waiting ?? {}).reduce((sum, each) => sum + each, 0)
    const work = Promise.all([
      ...Array.from({ length: 40 }, () => scan()),
      ...Array.from({ length: 40 }, () => write()),
    ])
    assert.ok(waiting() >= 40, String(waiting()))
    await work
    assert.equal(waiting(), 0)
    const queues = engine === 'sqlite' ? ['writer', 'scanner'] : ['connection', 'scan']
    for (const queue of queues) await figure(api, `database_operations_waiting{queue="${queue}"}`)
    if (engine === 'postgres') {
      await eventually(async () => assert.ok((await figure(api, 'database_connections{state="idle"}')) > 0))
      await figure(api, 'database_connections{state="in_use"}')
    }
  })
})

test('a database that does not take writes: not ready', async (t) => {
  let close = (): Promise<void> => Promise.resolve()
  const api = await startApi(t, {
    extend: (_app, { db }) => {
      close = () => db.close()
    },
  })
  await close()
  await eventually(async () => assert.equal(await figure(api, 'service_ready'), 0))
})

test('gauges of several threads become one as each declares', async () => {
  const registries = [1, 2].map((thread) => {
    const metrics = createMetrics()
    metrics.addGauge({ name: 'added', help: 'x', read: () => thread })
    metrics.addGauge({ name: 'least', help: 'x', aggregator: 'min', read: () => thread })
    metrics.addGauge({ name: 'labelled', help: 'x', label: 'which', aggregator: 'max', read: () => ({ a: thread }) })
    metrics.addInfo({ name: 'info', help: 'x', labels: { version: '1' } })
    return metrics
  })
  const lists = await Promise.all(registries.map((metrics) => metrics.collect()))
  const merged: Registry = AggregatorRegistry.aggregate(lists)
  const page = await merged.metrics()
  assert.match(page, /^added 3$/m)
  assert.match(page, /^least 1$/m)
  assert.match(page, /^labelled\{which="a"\} 2$/m)
  assert.match(page, /^info\{version="1"\} 1$/m)
  const resident = Number(/^process_resident_memory_bytes (\d+)/m.exec(page)?.[1])
  assert.ok(resident < process.memoryUsage.rss() * 1.5, 'of the process, not added up')
})

test('one thread that lags is not hidden by others that do not', async () => {
  const lists = await Promise.all([1, 2, 3].map(() => createMetrics().collect()))
  const lags = [0.01, 1.5, Number.NaN]
  for (const [i, list] of lists.entries()) {
    for (const metric of list.filter(({ name }) => name.startsWith('nodejs_eventloop_lag_'))) {
      metric.values = [{ labels: {}, value: lags[i] as number }]
    }
  }
  const page = await mergeMetrics(lists).print()
  for (const kind of ['', 'max_', 'mean_', 'stddev_', 'p50_', 'p90_', 'p99_']) {
    assert.match(page, new RegExp(`^nodejs_eventloop_lag_${kind}seconds 1\\.5$`, 'm'))
  }
  assert.match(page, /^nodejs_eventloop_lag_min_seconds 0\.01$/m)
})

if (engines.includes('postgres')) {
  test('connections in use and idle ones are all that are open, also when one has only just been borrowed', async (t) => {
    const connections = await openConnections({
      url: await createDatabaseUrl(t, 'postgres'),
      poolSize: 3,
      statementTimeoutSeconds: 30,
      onConnectionLost() {},
    })
    t.after(() => connections.end())
    const ask = () => connections.use(1, (borrowed) => borrowed.ask('SELECT 1'))
    await Promise.all([ask(), ask(), ask()])
    await eventually(() => assert.deepEqual(connections.load(), { in_use: 0, idle: 3, waiting: 0 }))
    const asked = ask()
    assert.deepEqual(connections.load(), { in_use: 1, idle: 2, waiting: 0 })
    await asked
    assert.deepEqual(connections.load(), { in_use: 0, idle: 3, waiting: 0 })
  })

  test('without Redis, the bus is down and rate limits fall back, and both are counted', async (t) => {
    const proxy = await startProxy(t, testServer('TEST_REDIS_URL'))
    const api = await startApi(t, { env: { REDIS_URL: proxy.url } })
    // Redis may answer late on a busy machine.
    await eventually(async () => assert.equal(await figure(api, 'bus_up{bus="nodes"}'), 1))
    await api.post('/api/auth/login', { email: 'a@example.com', password: 'x' })
    assert.equal(await figure(api, 'rate_limit_fallbacks_total'), 0)
    proxy.refuse()
    for (const connection of proxy.open()) connection.end()
    await eventually(async () => assert.equal(await figure(api, 'bus_up{bus="nodes"}'), 0))
    await api.post('/api/auth/login', { email: 'a@example.com', password: 'x' })
    assert.ok((await figure(api, 'rate_limit_fallbacks_total')) > 0)
  })
}
