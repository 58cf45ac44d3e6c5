import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRecentRequests, mergeRecent, percentileOf, recentMinutes } from './recent-requests.ts'

const minuteMs = 60_000

function createStillClock() {
  const clock = { timeOrigin: 1000 * minuteMs, time: 0, now: () => clock.time }
  return clock
}

test('requests are counted by minute and by route for an hour, then no longer', () => {
  const clock = createStillClock()
  const recent = createRecentRequests(clock)
  const list = recent.route({ method: 'GET', route: '/list' })
  const other = recent.route({ method: 'POST', route: '/list' })
  list.observe(clock.time, 1, false)
  list.observe(clock.time, 1, true)
  clock.time = 2 * minuteMs
  other.observe(clock.time, 1, false)

  const figures = recent.read()
  assert.equal(figures.minute, 1002)
  assert.deepEqual(figures.minutes.slice(-3), [
    { requests: 2, errors: 1 },
    { requests: 0, errors: 0 },
    { requests: 1, errors: 0 },
  ])
  assert.deepEqual(
    figures.routes.map(({ method, route, errors }) => [method, route, errors]),
    [
      ['GET', '/list', 1],
      ['POST', '/list', 0],
    ],
  )

  clock.time = recentMinutes * minuteMs
  assert.deepEqual(
    recent.read().routes.map(({ method }) => method),
    ['POST'],
  )
  clock.time = 1000 * minuteMs
  list.observe(clock.time, 1, false)
  const later = recent.read()
  assert.equal(later.minutes.length, recentMinutes)
  assert.deepEqual(later.minutes.at(-1), { requests: 1, errors: 0 })
  assert.equal(
    later.minutes.reduce((sum, { requests }) => sum + requests, 0),
    1,
  )
})

test('the same route is one, whoever looks it up', () => {
  const clock = createStillClock()
  const recent = createRecentRequests(clock)
  for (let i = 0; i < 3; i++) recent.route({ method: 'GET', route: '/a' }).observe(clock.time, 1, false)
  assert.equal(recent.read().routes.length, 1)
  assert.equal(recent.read().minutes.at(-1)?.requests, 3)
})

test('threads are merged by minute and by route, also where one is a minute ahead', () => {
  const clock = createStillClock()
  const [a, b] = [createRecentRequests(clock), createRecentRequests(clock)]
  for (const each of [a, b]) each.route({ method: 'GET', route: '/a' }).observe(clock.time, 1, false)
  b.route({ method: 'GET', route: '/b' }).observe(clock.time, 1, true)
  const early = a.read()
  clock.time = minuteMs
  const merged = mergeRecent([early, b.read()])
  assert.deepEqual(merged.minutes.slice(-2), [
    { requests: 3, errors: 1 },
    { requests: 0, errors: 0 },
  ])
  assert.deepEqual(
    merged.routes.map(({ route, counts }) => [route, counts.reduce((sum, each) => sum + each, 0)]),
    [
      ['/a', 2],
      ['/b', 1],
    ],
  )
})

test('percentiles lie within the bucket of their request', () => {
  const clock = createStillClock()
  const recent = createRecentRequests(clock)
  const route = recent.route({ method: 'GET', route: '/a' })
  for (let i = 0; i < 98; i++) route.observe(clock.time, 5, false)
  for (let i = 0; i < 2; i++) route.observe(clock.time, 700, false)
  const [{ counts = [] } = {}] = recent.read().routes
  const [median = 0, p99 = 0] = [percentileOf(counts, 0.5), percentileOf(counts, 0.99)]
  assert.ok(median > 4 && median <= 6, String(median))
  assert.ok(p99 > 512 && p99 <= 768, String(p99))
  assert.equal(percentileOf([], 0.5), undefined)
  route.observe(clock.time, 100_000, false)
  assert.equal(percentileOf(recent.read().routes[0]?.counts ?? [], 1), 30_000)
})
