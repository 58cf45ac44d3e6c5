import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPrice, priceAfter } from './bulk-changes.ts'

const prices: [cents: number, hundredths: number, after: number][] = [
  [1000, 1000, 1100],
  [1000, -1250, 875],
  [999, 1000, 1099],
  [5, 1000, 6],
  [4, 1000, 4],
  [15, -5000, 8],
  [1, -9999, 0],
  [9_999_999_999, 100_000, 109_999_999_989],
]

for (const [cents, hundredths, after] of prices) {
  test(`${cents} cents and ${hundredths / 100} percent are ${after} cents`, () =>
    assert.equal(priceAfter(cents, hundredths), after))
}

test('a price is at least a cent and at most 99,999,999.99', () => {
  assert.deepEqual([0, 1, 9_999_999_999, 10_000_000_000].map(isPrice), [false, true, true, false])
})
