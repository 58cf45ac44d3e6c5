/** The contract of both rate limiters. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../src/core/app-error.ts'
import { systemRandom } from '../../src/core/random.ts'
import { createLimiters, type Limiter } from '../../src/platform/limiter/limiter.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { openRedis } from '../../src/platform/redis/redis.ts'
import { startApi } from '../support/api.ts'
import { engines, testServer } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startPrivateRedis } from '../support/private-servers.ts'

const log = createLogger({ level: 'silent', isTerminal: false })
const twins = engines.includes('postgres') ? (['memory', 'redis'] as const) : (['memory'] as const)

async function create(t: TestContext, twin: 'memory' | 'redis') {
  if (twin === 'memory') return createLimiters(undefined)
  const redis = await openRedis(testServer('TEST_REDIS_URL'), log)
  t.after(() => redis.close())
  return createLimiters(redis)
}

const name = () => systemRandom.id()

async function outcome(limiter: Limiter, address: string): Promise<number> {
  try {
    await limiter.take(address)
    return 200
  } catch (error) {
    assert.ok(error instanceof AppError)
    assert.ok(Number(error.headers?.['retry-after']) >= 1)
    return error.status
  }
}

for (const twin of twins) {
  test(`${twin}: allows the limit, then 429 with Retry-After, per address`, async (t) => {
    const limiter = (await create(t, twin))(name(), { requests: 3, seconds: 60 })
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => outcome(limiter, '203.0.113.1')))
    assert.equal(outcomes.filter((status) => status === 200).length, 3)
    assert.equal(outcomes.filter((status) => status === 429).length, 7)
    assert.equal(await outcome(limiter, '203.0.113.2'), 200)
  })

  test(`${twin}: the limit resets after its period`, async (t) => {
    const limiter = (await create(t, twin))(name(), { requests: 1, seconds: 5 })
    assert.equal(await outcome(limiter, '203.0.113.1'), 200)
    assert.equal(await outcome(limiter, '203.0.113.1'), 429)
    await eventually(async () => assert.equal(await outcome(limiter, '203.0.113.1'), 200))
  })

  test(`${twin}: limiters of different names do not count each other`, async (t) => {
    const make = await create(t, twin)
    const [one, two] = [make(name(), { requests: 1, seconds: 60 }), make(name(), { requests: 1, seconds: 60 })]
    assert.equal(await outcome(one, '203.0.113.1'), 200)
    assert.equal(await outcome(two, '203.0.113.1'), 200)
  })

  test(`${twin}: two limiters of the same name share one limit`, async (t) => {
    const make = await create(t, twin)
    const rate = { requests: 1, seconds: 60 }
    const shared = name()
    assert.equal(await outcome(make(shared, rate), '203.0.113.1'), 200)
    assert.equal(await outcome(make(shared, rate), '203.0.113.1'), 429)
  })
}

if (twins.length > 1) {
  test('redis: two nodes share a limit, over HTTP', async (t) => {
    const env = { REDIS_URL: testServer('TEST_REDIS_URL'), RATE_LIMIT_REFRESH: '5/600', TRUSTED_PROXIES: 'loopback' }
    const nodes = [await startApi(t, { env }), await startApi(t, { env })]
    const headers = { 'x-forwarded-for': `2001:db8:${(process.pid % 65_535).toString(16)}::1` }
    const statuses: number[] = []
    for (let i = 0; i < 8; i++)
      statuses.push((await nodes[i % 2]?.request('POST', '/api/auth/refresh', { json: {}, headers }))?.status ?? 0)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
  })
}

if (twins.length > 1) {
  const budget = 20
  const rate = { requests: budget, seconds: 120 }

  /** Simulates several nodes, each with its own connection. */
  async function createNodes(t: TestContext, count: number, url = testServer('TEST_REDIS_URL')) {
    const shared = name()
    const nodes = await Promise.all(
      Array.from({ length: count }, async () => {
        const redis = await openRedis(url, log)
        t.after(() => redis.close())
        return { redis, limiter: createLimiters(redis)(shared, rate) }
      }),
    )
    return nodes
  }

  /** Nothing else of this process goes on meanwhile. */
  const stall = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

  test('redis: nodes that are short of CPU share one limit, not one each', async (t) => {
    const nodes = await createNodes(t, 4)
    let isBusy = true
    const starve = () => {
      stall(1200)
      if (isBusy) setImmediate(starve)
    }
    setImmediate(starve)
    const takes = nodes.flatMap(({ limiter }) => Array.from({ length: 30 }, () => outcome(limiter, '203.0.113.1')))
    const outcomes = await Promise.all(takes)
    isBusy = false
    assert.equal(outcomes.filter((status) => status === 200).length, budget)
  })

  test('redis: while it is unavailable a node continues from the shared count, and gets no second budget when it is back', async (t) => {
    const server = await startPrivateRedis(t)
    const [one, two] = await createNodes(t, 2, server.url)
    assert.ok(one && two)
    for (let i = 0; i < 6; i++) assert.equal(await outcome(one.limiter, '203.0.113.1'), 200)
    for (let i = 0; i < 6; i++) assert.equal(await outcome(two.limiter, '203.0.113.1'), 200)

    server.freeze()
    // Some notice by waiting, others after the outage is known.
    const early = await Promise.all([one, one, two].map(({ limiter }) => outcome(limiter, '203.0.113.1')))
    assert.deepEqual(early, [200, 200, 200])
    await eventually(() => assert.deepEqual([one.redis.isUp(), two.redis.isUp()], [false, false]))
    const ofOne = await Promise.all(Array.from({ length: 40 }, () => outcome(one.limiter, '203.0.113.1')))
    const ofTwo = await Promise.all(Array.from({ length: 40 }, () => outcome(two.limiter, '203.0.113.1')))
    // Six were known from before to the first node, twelve to the second, which asked last.
    assert.equal(ofOne.filter((status) => status === 200).length, budget - 6 - 2)
    assert.equal(ofTwo.filter((status) => status === 200).length, budget - 12 - 1)

    server.thaw()
    await eventually(() => assert.deepEqual([one.redis.isUp(), two.redis.isUp()], [true, true]))
    for (const { limiter } of [one, two]) assert.equal(await outcome(limiter, '203.0.113.1'), 429)
  })
}
