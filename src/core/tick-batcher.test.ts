import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTickBatcher } from './tick-batcher.ts'

function createScheduler() {
  const scheduled: (() => void)[] = []
  return { schedule: (run: () => void) => void scheduled.push(run), scheduled }
}

test('work runs in its order, all of it in one go', () => {
  const { schedule, scheduled } = createScheduler()
  const together = createTickBatcher(schedule)
  const done: string[] = []
  together(() => done.push('a'))
  together(() => {
    done.push('b')
    together(() => done.push('d'))
  })
  together(() => done.push('c'))
  assert.deepEqual([done, scheduled.length], [[], 1])
  scheduled.shift()?.()
  assert.deepEqual([done, scheduled.length], [['a', 'b', 'c'], 1])
  scheduled.shift()?.()
  assert.deepEqual([done, scheduled.length], [['a', 'b', 'c', 'd'], 0])
})

test('what one throws is thrown, and the others run all the same', () => {
  const { schedule, scheduled } = createScheduler()
  const together = createTickBatcher(schedule)
  const done: string[] = []
  together(() => done.push('a'))
  together(() => {
    together(() => done.push('c'))
    throw new Error('broken')
  })
  together(() => done.push('b'))
  assert.throws(() => scheduled.shift()?.(), /broken/)
  while (scheduled.length > 0) scheduled.shift()?.()
  assert.deepEqual(done, ['a', 'b', 'c'])
})
