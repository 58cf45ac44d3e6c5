/** Two serving threads in one process behave like one. */
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemRandom } from '../../src/core/random.ts'
import { createLimitsPerAddress } from '../../src/platform/limiter/connections-per-address.ts'
import { createSharedSlotsMemory, openSharedSlots, releaseShare } from '../../src/platform/threads/shared-slots.ts'
import { type Owner, share, startApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import probe from '../support/extensions/probe.ts'
import { startCollector } from '../support/otlp-collector.ts'
import { send } from '../support/own-connection.ts'
import { lamp } from '../support/products.ts'
import { openSocket } from '../support/sockets.ts'
import { amount } from '../support/tiers.ts'

const probePath = join(import.meta.dirname, '..', 'support', 'extensions', 'probe.ts')

const start = (t: Owner, engine: 'sqlite' | 'postgres', env: Record<string, string> = {}) =>
  startApi(t, { engine, threads: 2, env: { LATCHKEY_EXTENSIONS: probePath, ...env } })

/** The threads that answer. */
async function threadsOf(url: string, headers: Record<string, string> = {}): Promise<Set<number>> {
  const answers = await Promise.all(Array.from({ length: 40 }, () => send(`${url}/probe/thread`, { headers })))
  return new Set(answers.map(({ body }) => JSON.parse(body).thread as number))
}

/** How many requests of a route /metrics has counted. */
async function countOf(url: string, route: string): Promise<number> {
  return countIn((await send(`${url}/metrics`)).body, route)
}

function countIn(metrics: string, route: string): number {
  const counts = metrics.matchAll(/^http_request_duration_seconds_count\{([^}]*)\} (\d+)$/gm)
  return [...counts].reduce(
    (sum, [, labels, count]) => sum + (labels?.includes(`route="${route}"`) ? Number(count) : 0),
    0,
  )
}

/** How many requests of a route have begun, if there are no others. */
async function countBegun(url: string, route: string): Promise<number> {
  const { body } = await send(`${url}/metrics`)
  const [, inFlight] = body.match(/^http_requests_in_flight (\d+)$/m) ?? []
  // Without this one.
  return countIn(body, route) + Number(inFlight) - 1
}

onAnyEngine('two threads', (engine) => {
  const [mostResets, mostSockets] = [7, 12]
  const limits = { RATE_LIMIT_RESET: `${mostResets}/60`, GQL_WS_MAX_PER_ADDRESS: `${mostSockets}` }
  const shared = share((owner) => start(owner, engine, limits))

  test('both serve one port, and one page of metrics counts for both', async () => {
    const api = await shared()
    assert.equal((await threadsOf(api.url)).size, 2)
    const { body: metrics } = await send(`${api.url}/metrics`)
    assert.match(metrics, /http_request_duration_seconds_count\{[^}]*route="\/probe\/thread"[^}]*\} 40\n/)
    assert.equal(metrics.match(/^process_resident_memory_bytes /gm)?.length, 1)
    assert.equal(metrics.match(/^process_start_time_seconds /gm)?.length, 1)
  })

  test('the log has a line for each request, whichever thread served it', async () => {
    const api = await shared()
    const requests = () => api.log.filter((line) => JSON.parse(line).path === '/probe/thread').length
    // Those of the test before.
    await eventually(() => assert.equal(requests(), 40))
    assert.equal((await threadsOf(api.url)).size, 2)
    await eventually(() => assert.equal(requests(), 80))
  })

  test('forwarding headers of an untrusted peer are warned of once, whichever thread gets them', async () => {
    const api = await shared()
    const requests = () => api.log.filter((line) => JSON.parse(line).path === '/probe/thread').length
    const before = requests()
    assert.equal((await threadsOf(api.url, { 'x-forwarded-for': '203.0.113.9' })).size, 2)
    // The warning of a thread precedes the line of its request.
    await eventually(() => assert.ok(requests() >= before + 40))
    assert.equal(api.log.filter((line) => line.includes('untrusted peer')).length, 1)
  })

  test('an SQL text that is not constant is reported once, by one of them, and only in development', async (t) => {
    const lists = async (url: string) => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => send(`${url}/probe/lists`)))
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      return new Set(answers.map(({ body }) => JSON.parse(body).thread as number)).size
    }
    const reports = (log: readonly string[]) => log.filter((line) => line.includes('is not constant'))
    const api = await shared()
    assert.equal((await send(`${api.url}/probe/lists?constant=1`)).status, 200)
    assert.deepEqual(reports(api.log), [])
    assert.equal(await lists(api.url), 2)
    await eventually(() => assert.equal(reports(api.log).length, 1))
    const { level, msg } = JSON.parse(reports(api.log)[0] ?? '')
    assert.equal(level, 'warn')
    assert.match(
      msg,
      /^the SQL text "SELECT id FROM users WHERE id IN \(\$1, \$2, .*" is not constant.*docs\/extensions\.md/,
    )
    const production = await startApi(t, { engine, extensions: [probe], env: { NODE_ENV: 'production' } })
    await lists(production.url)
    // Whatever was logged arrives with later lines.
    await eventually(() => assert.equal(production.log.filter((line) => line.includes('/probe/lists')).length, 40))
    assert.deepEqual(reports(production.log), [])
  })

  test('a rate limit is exact over both', async () => {
    const api = await shared()
    const json = { email: 'nobody@example.com' }
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => send(`${api.url}/api/auth/password/forgot`, { method: 'POST', json })),
    )
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 429).length, 30 - mostResets, statuses.join())
  })

  test('whoever has written reads it on every connection, and a revoked token is refused on every one', async () => {
    const api = await shared()
    const token = await api.signIn()
    for (let i = 0; i < amount({ full: 20, otherwise: 8 }); i++) {
      const made = await send(`${api.url}/api/v2/products`, { method: 'POST', json: lamp, token })
      assert.equal(made.status, 201, made.body)
      const path = `${api.url}/api/v2/products/${JSON.parse(made.body).data.id}`
      const found = await Promise.all(Array.from({ length: 4 }, () => send(path, { token })))
      assert.deepEqual(
        found.map(({ status }) => status),
        [200, 200, 200, 200],
      )
    }
    assert.ok((await send(`${api.url}/api/auth/logout`, { method: 'POST', token })).status < 300)
    const after = await Promise.all(Array.from({ length: 20 }, () => send(`${api.url}/api/auth/me`, { token })))
    assert.deepEqual(new Set(after.map(({ status }) => status)), new Set([401]))
  })

  test('every subscriber hears everything in order, whichever thread published it', async (t) => {
    const api = await shared()
    const token = await api.signIn()
    const url = `${api.url.replace('http', 'ws')}/graphql`
    const sockets = await Promise.all(
      Array.from({ length: mostSockets }, async () => {
        const socket = await openSocket(t, url, { protocol: 'graphql-transport-ws', token })
        socket.send({ type: 'connection_init' })
        assert.equal((await socket.next()).type, 'connection_ack')
        socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { counter { count } }' } })
        // Answered after the subscription.
        socket.send({ type: 'ping' })
        assert.equal((await socket.next()).type, 'pong')
        return socket
      }),
    )
    await eventually(async () => {
      const { body } = await send(`${api.url}/metrics`)
      assert.ok(body.includes(`graphql_subscriptions{kind="subscribers"} ${mostSockets}\n`))
    })
    const create = async (title: number) => {
      const json = { query: `mutation { createPost(title: "${title}", body: "x") }` }
      assert.equal((await send(`${api.url}/graphql`, { method: 'POST', json, token })).status, 200)
    }
    const hear = (values: number) =>
      Promise.all(
        sockets.map(async ({ next }) => {
          const heard: number[] = []
          for (let i = 0; i < values; i++) heard.push((await next()).payload.data.counter.count)
          return heard
        }),
      )
    const counts = Array.from({ length: 10 }, (_, i) => i + 1)
    for (const count of counts) await create(count)
    for (const heard of await hear(counts.length)) assert.deepEqual(heard, counts)

    // Of those made at the same time, no order is right, but all hear the same one.
    const more = Array.from({ length: 40 }, (_, i) => counts.length + i + 1)
    await Promise.all(more.map(create))
    const [first = [], ...others] = await hear(more.length)
    assert.deepEqual(
      first.toSorted((one, other) => one - other),
      more,
    )
    for (const heard of others) assert.deepEqual(heard, first)
  })

  test('a thread that dies is replaced; the service goes on, and what it held is free again', async (t) => {
    const api = await shared()
    const url = `${api.url.replace('http', 'ws')}/graphql`
    const requests = () => api.log.filter((line) => JSON.parse(line).path === '/probe/thread').length
    const counted = requests() + 40
    const before = await threadsOf(api.url)
    await eventually(() => assert.equal(requests(), counted))
    const opened: PromiseSettledResult<Awaited<ReturnType<typeof openSocket>>>[] = []
    // Those of the test before may still be closing.
    await eventually(async () => {
      opened.push(...(await Promise.allSettled(Array.from({ length: 20 }, () => openSocket(t, url)))))
      assert.equal(opened.filter(({ status }) => status === 'fulfilled').length, mostSockets)
    })
    const dying = new Set<number>()
    // A thread that a busy machine delays is left out of a page of metrics.
    await eventually(async () => assert.equal(await countOf(api.url, '/probe/thread'), counted))
    await eventually(async () => {
      // Its answer is lost with the thread.
      await send(`${api.url}/probe/die`).catch(() => {})
      assert.ok(api.log.some((line) => line.includes('a serving thread died')))
    })
    await eventually(async () => {
      assert.equal(await countOf(api.url, '/probe/thread'), counted, 'counters keep what the dead thread had counted')
    })
    await eventually(async () => {
      const now = await threadsOf(api.url)
      for (const thread of now) if (!before.has(thread)) dying.add(thread)
      assert.ok(dying.size > 0 && now.size === 2)
    })
    assert.match(api.log.join(''), /died on demand/)
    for (const each of opened) if (each.status === 'fulfilled') each.value.ws.terminate()
    await eventually(async () => {
      const again = await Promise.allSettled(Array.from({ length: mostSockets }, () => openSocket(t, url)))
      for (const each of again) if (each.status === 'fulfilled') each.value.ws.terminate()
      assert.equal(again.filter(({ status }) => status === 'fulfilled').length, mostSockets)
    })
  })

  // The last one, because all share the service.
  test('closing lets requests in flight end, on both', async () => {
    const api = await shared()
    const slow = Array.from({ length: 10 }, () => send(`${api.url}/probe/slow`))
    await eventually(async () => assert.equal(await countBegun(api.url, '/probe/slow'), slow.length))
    await api.app.close()
    const answers = await Promise.all(slow)
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    await assert.rejects(new Promise((resolve, reject) => get(api.url, resolve).once('error', reject)))
  })
})

test('for OpenTelemetry, spans and metrics of both are of one instance', async (t) => {
  const collector = await startCollector(t)
  const api = await start(t, 'sqlite', {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '50',
  })
  assert.equal((await threadsOf(api.url)).size, 2)
  await eventually(() => {
    assert.equal(collector.spans.filter(({ name }) => name === 'GET /probe/thread').length, 40)
    assert.ok(collector.metricsResource['service.instance.id'])
  })
  const resources = [...collector.spans.map(({ resource }) => resource), collector.metricsResource]
  assert.equal(new Set(resources.map((each) => each['service.instance.id'])).size, 1)
})

test('a port that is taken is refused, although threads share theirs', async (t) => {
  const holder = createServer()
  t.after(() => holder.close())
  // As the threads of another service do.
  await new Promise<void>((resolve) => holder.listen({ port: 0, host: '127.0.0.1', reusePort: true }, resolve))
  const PORT = String((holder.address() as AddressInfo).port)
  await assert.rejects(start(t, 'sqlite', { PORT }), /port \d+: the port is taken/)
})

test('slots that threads share: never more than the limit, and those of a dead thread are free again', () => {
  const memory = createSharedSlotsMemory(2, systemRandom)
  const [one, two] = [0, 1].map((thread) => {
    const slots = openSharedSlots(memory, thread)
    return createLimitsPerAddress({ many: slots, single: slots })('sockets', 3)
  })
  const entered = [one, two, one, two, one].map((limit) => limit?.enter('203.0.113.1'))
  assert.deepEqual(
    entered.map((leave) => leave !== undefined),
    [true, true, true, false, false],
  )
  assert.ok(two?.enter('203.0.113.2'))
  releaseShare(memory, 0)
  assert.ok(two?.enter('203.0.113.1'))
  assert.ok(two?.enter('203.0.113.1'))
  assert.equal(two?.enter('203.0.113.1'), undefined)
  entered[1]?.()
  entered[1]?.()
  assert.ok(two?.enter('203.0.113.1'))
  assert.equal(two?.enter('203.0.113.1'), undefined)
})

test('however many connections there are, nobody is taken for another where one is allowed', () => {
  const [many, single] = [0, 1].map(() => openSharedSlots(createSharedSlotsMemory(1, systemRandom), 0))
  assert.ok(many && single)
  const limits = createLimitsPerAddress({ many, single })
  const [sockets, uploads] = [limits('sockets', 100), limits('uploads', 1)]
  for (let i = 0; i < 20_000; i++) sockets.enter(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  const refused = Array.from({ length: 500 }, (_, i) => `user ${i}`).filter((user) => {
    const leave = uploads.enter(user)
    leave?.()
    return !leave
  })
  assert.deepEqual(refused, [])
  const leave = uploads.enter('user 1')
  assert.ok(uploads.isFull('user 1'))
  leave?.()
  assert.ok(!uploads.isFull('user 1'))
})
