import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { createSharedReads } from './shared-reads.ts'

interface Trip {
  values: readonly unknown[]
  isShared: boolean
  answer(): void
  fail(): void
}

/** Round trips that are answered by hand. A read returns its parameter. */
async function createReads() {
  const trips: Trip[] = []
  const run = (_sql: string, values: readonly unknown[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<object[]>()
    const isShared = Array.isArray(values[0])
    const ids = (isShared ? values[0] : values) as number[]
    const rows = ids.map((id, i) => (isShared ? { nr: i + 1, id } : { id }))
    trips.push({ values: ids, isShared, answer: () => resolve(rows), fail: () => reject(new Error('lost')) })
    return promise
  }
  const get = createSharedReads({ run, findTypes: async () => ['bigint'] })
  const read = (id: number) => get('SELECT id FROM things WHERE id = ?', [id])
  // The first two that meet find out how the statement can be shared.
  const first = [read(1), read(2)]
  await turn()
  for (const trip of trips.splice(0)) trip.answer()
  await Promise.all(first)
  await turn()
  return { read, trips }
}

test('reads of one turn share a round trip', async () => {
  const { read, trips } = await createReads()
  const rows = Promise.all([read(3), read(4)])
  await turn()
  assert.deepEqual(
    trips.map(({ values, isShared }) => ({ values, isShared })),
    [{ values: [3, 4], isShared: true }],
  )
  trips[0]?.answer()
  assert.deepEqual(await rows, [{ id: 3 }, { id: 4 }])
})

test('reads that are made while a round trip is under way share the next one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { read, trips } = await createReads()
  const first = read(5)
  await turn()
  const second = read(6)
  await turn()
  const third = read(7)
  await turn()
  assert.deepEqual(
    trips.map(({ values }) => values),
    [[5]],
  )
  trips[0]?.answer()
  assert.deepEqual(await first, { id: 5 })
  await turn()
  assert.deepEqual(
    trips.map(({ values }) => values),
    [[5], [6, 7]],
  )
  trips[1]?.answer()
  assert.deepEqual(await Promise.all([second, third]), [{ id: 6 }, { id: 7 }])
})

test('a slow round trip does not hold the others', async () => {
  const { read, trips } = await createReads()
  const slow = read(8)
  await turn()
  const quick = read(9)
  for (let waited = 0; trips.length < 2; waited++) {
    assert.ok(waited < 1000, 'the read was not sent')
    await sleep(5)
  }
  trips[1]?.answer()
  assert.deepEqual(await quick, { id: 9 })
  trips[0]?.answer()
  assert.deepEqual(await slow, { id: 8 })
})

test('if a shared round trip fails, each read is made alone', async () => {
  const { read, trips } = await createReads()
  const rows = Promise.allSettled([read(10), read(11)])
  await turn()
  trips[0]?.fail()
  await turn()
  assert.deepEqual(
    trips.slice(1).map(({ values, isShared }) => ({ values, isShared })),
    [
      { values: [10], isShared: false },
      { values: [11], isShared: false },
    ],
  )
  trips[1]?.answer()
  trips[2]?.fail()
  const [found, failed] = await rows
  assert.deepEqual(found, { status: 'fulfilled', value: { id: 10 } })
  assert.equal(failed?.status, 'rejected')
})

test('what several ask for is read once, and each gets a row of its own', async () => {
  const { read, trips } = await createReads()
  const rows = Promise.all([read(12), read(13), read(12)])
  await turn()
  assert.deepEqual(
    trips.map(({ values }) => values),
    [[12, 13]],
  )
  trips[0]?.answer()
  const [first, second, third] = await rows
  assert.deepEqual([first, second, third], [{ id: 12 }, { id: 13 }, { id: 12 }])
  assert.notEqual(first, third)
})
