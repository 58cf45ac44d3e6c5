import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextAttemptAt } from './retry-schedule.ts'

test('attempts come later and later, and end after three days', () => {
  const waits: number[] = []
  let now = 0
  for (let failures = 1; ; failures++) {
    const next = nextAttemptAt({ failures, failingSince: 0, now })
    if (next === undefined) break
    waits.push((next - now) / 1000)
    now = next
  }
  assert.deepEqual(waits.slice(0, 7), [5, 30, 120, 600, 3600, 10_800, 10_800])
  assert.ok(waits.slice(5, -1).every((seconds) => seconds === 10_800))
  assert.equal(now, 3 * 86_400_000)
})
