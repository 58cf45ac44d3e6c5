import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createSharedLists } from './shared-lists.ts'

interface Trip {
  asked: readonly unknown[]
  answer(rows: object[]): void
  fail(error: Error): void
}

/** Queries that are answered by hand. */
function createLists() {
  const trips: Trip[] = []
  const { all } = createSharedLists((sql, values) => {
    const { promise, resolve, reject } = Promise.withResolvers<object[]>()
    trips.push({ asked: [sql, ...values], answer: resolve, fail: reject })
    return promise
  })
  return { all, trips, asked: () => trips.map((trip) => trip.asked) }
}

test('the same list, asked for in one turn, is read once, and each gets rows of its own', async () => {
  const { all, trips, asked } = createLists()
  const lists = Promise.all([all('page', [1]), all('page', [1]), all('page', [2]), all('page', ['1'])])
  await turn()
  assert.deepEqual(asked(), [
    ['page', 1],
    ['page', 2],
    ['page', '1'],
  ])
  for (const [i, trip] of trips.entries()) trip.answer([{ trip: i }])
  const [first, second, third, fourth] = await lists
  assert.deepEqual([first, second, third, fourth], [[{ trip: 0 }], [{ trip: 0 }], [{ trip: 1 }], [{ trip: 2 }]])
  assert.notEqual(first?.[0], second?.[0])
})

test('a list that is asked for while the same one is under way is read anew', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { all, trips, asked } = createLists()
  const before = all('page', [1])
  await turn()
  const after = Promise.all([all('page', [1]), all('page', [1])])
  await turn()
  assert.deepEqual(asked(), [['page', 1]])
  trips[0]?.answer([{ version: 1 }])
  assert.deepEqual(await before, [{ version: 1 }])
  await turn()
  await turn()
  assert.equal(trips.length, 2)
  trips[1]?.answer([{ version: 2 }])
  assert.deepEqual(await after, [[{ version: 2 }], [{ version: 2 }]])
})

test('a failure reaches all who asked, and the next one asks again', async () => {
  const { all, trips } = createLists()
  const lists = Promise.allSettled([all('page', []), all('page', [])])
  await turn()
  trips[0]?.fail(new Error('lost'))
  assert.deepEqual(
    (await lists).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  const next = all('page', [])
  await turn()
  trips[1]?.answer([])
  assert.deepEqual(await next, [])
})
