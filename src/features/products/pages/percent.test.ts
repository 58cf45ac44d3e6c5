import assert from 'node:assert/strict'
import { test } from 'node:test'
import { percentProblem, readPercent } from './percent.ts'

test('a percentage may have a sign, a comma or a point, and a percent sign', () => {
  const read = { '10': 1000, ' +10 % ': 1000, '-12,5': -1250, '\u221212.5%': -1250, '0.25': 25, '1000': 100_000 }
  for (const [typed, hundredths] of Object.entries(read)) assert.equal(readPercent(typed), hundredths, typed)
  for (const typed of ['', '%', 'ten', '1.234', '1,2,3', '--1', '1e3', '10%%', '99999', '.5']) {
    assert.equal(readPercent(typed), undefined, typed)
  }
})

test('prices are changed by more than -100 and at most 1000 percent', () => {
  for (const fine of [1, -1, -9999, 100_000]) assert.equal(percentProblem(fine), undefined)
  for (const wrong of [undefined, 0, -10_000, 100_001]) assert.notEqual(percentProblem(wrong), undefined)
})
