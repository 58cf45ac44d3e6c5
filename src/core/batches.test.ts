import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBatches } from './batches.ts'

function record(limits: { maxItems: number; maxSize: number }) {
  const batches: number[][] = []
  const add = createBatches<number, string>({
    async run(items) {
      batches.push([...items])
      await nextTurn()
      if (items.includes(13)) throw new Error('unlucky')
      return items.map((item) => `result ${item}`)
    },
    sizeOf: (item) => item,
    ...limits,
  })
  return { batches, add }
}

test('what comes while a batch runs goes together as the next one, and everybody gets the own result', async () => {
  const { batches, add } = record({ maxItems: 100, maxSize: 1000 })
  assert.deepEqual(await Promise.all([1, 2, 3].map(add)), ['result 1', 'result 2', 'result 3'])
  assert.deepEqual(await Promise.all([4, 5].map(add)), ['result 4', 'result 5'])
  assert.deepEqual(batches, [[1], [2, 3], [4], [5]])
})

test('a batch has no more items, and no larger ones, than it may', async () => {
  const { batches, add } = record({ maxItems: 3, maxSize: 10 })
  await Promise.all([1, 2, 2, 2, 2, 9, 9, 50, 1].map(add))
  assert.deepEqual(batches, [[1], [2, 2, 2], [2], [9], [9], [50], [1]])
})

test('a batch that fails fails for its own items, and the next ones go on', async () => {
  const { batches, add } = record({ maxItems: 2, maxSize: 1000 })
  const outcomes = await Promise.allSettled([1, 13, 2, 3].map(add))
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.equal(await add(4), 'result 4')
  assert.equal(batches.length, 4)
})
