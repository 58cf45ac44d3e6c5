import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createConcurrencyLimit } from './concurrency-limit.ts'

test('lets a few run at once, the others in their order, and refuses those beyond', async () => {
  const inSlot = createConcurrencyLimit({ atOnce: 2, maxWaiting: 2, refusal: () => new Error('full') })
  const started: number[] = []
  const ends: (() => void)[] = []
  const run = (n: number) =>
    inSlot(() => {
      started.push(n)
      return new Promise<number>((resolve) => {
        ends[n] = () => resolve(n)
      })
    })
  const results = [0, 1, 2, 3].map(run)
  await assert.rejects(run(4), /full/)
  await nextTurn()
  assert.deepEqual(started, [0, 1])
  for (const n of [1, 0, 2, 3]) {
    ends[n]?.()
    assert.equal(await results[n], n)
    await nextTurn()
  }
  assert.deepEqual(started, [0, 1, 2, 3])
})

test('a place is free again after what failed', async () => {
  const inSlot = createConcurrencyLimit({ atOnce: 1, maxWaiting: 1, refusal: () => new Error('full') })
  const failing = inSlot(() => Promise.reject(new Error('broken')))
  const next = inSlot(async () => 'fine')
  await assert.rejects(failing, /broken/)
  assert.equal(await next, 'fine')
  assert.equal(await inSlot(async () => 'again'), 'again')
})
