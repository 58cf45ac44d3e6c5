/** What both twins of the rate limiter promise. */
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

const log = createLogger({ level: 'silent', isTerminal: false })
const twins = engines.includes('postgres') ? (['memory', 'redis'] as const) : (['memory'] as const)

async function create(t: TestContext, twin: 'memory' | 'redis') {
  if (twin === 'memory') return createLimiters(undefined)
  const redis = await openRedis(testServer('TEST_REDIS_URL'), log)
  t.after(() => redis.close())
  return createLimiters(redis.client)
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
  test(`${twin}: lets through what is allowed, then 429 with Retry-After, each address by itself`, async (t) => {
    const limiter = (await create(t, twin))(name(), { requests: 3, seconds: 60 })
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => outcome(limiter, '203.0.113.1')))
    assert.equal(outcomes.filter((status) => status === 200).length, 3)
    assert.equal(outcomes.filter((status) => status === 429).length, 7)
    assert.equal(await outcome(limiter, '203.0.113.2'), 200)
  })

  test(`${twin}: the share comes back when its time is over`, async (t) => {
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

  test(`${twin}: whoever asks for the same name twice gets one share, not two`, async (t) => {
    const make = await create(t, twin)
    const rate = { requests: 1, seconds: 60 }
    const shared = name()
    assert.equal(await outcome(make(shared, rate), '203.0.113.1'), 200)
    assert.equal(await outcome(make(shared, rate), '203.0.113.1'), 429)
  })
}

if (twins.length > 1) {
  test('redis: two nodes count together, over HTTP', async (t) => {
    const env = { REDIS_URL: testServer('TEST_REDIS_URL'), RATE_LIMIT_REFRESH: '5/60', TRUSTED_PROXIES: 'loopback' }
    const nodes = [await startApi(t, { env }), await startApi(t, { env })]
    const headers = { 'x-forwarded-for': `2001:db8:${(process.pid % 65_535).toString(16)}::1` }
    const statuses: number[] = []
    for (let i = 0; i < 8; i++)
      statuses.push((await nodes[i % 2]?.request('POST', '/api/auth/refresh', { json: {}, headers }))?.status ?? 0)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
  })
}
