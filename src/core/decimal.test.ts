import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareDecimals, isIntegerDecimal, roundDecimal } from './decimal.ts'

test('halves are rounded up, of the number as it is written', () => {
  for (const [written, cents] of [
    ['1.005', 101],
    ['1.115', 112],
    ['2.675', 268],
    ['1.00499999999999999999', 100],
    ['0.01499999999999999999999', 1],
    ['19.99', 1999],
    ['19.9', 1990],
    ['19', 1900],
    ['0.01', 1],
    ['0.005', 1],
    ['0.0049', 0],
    ['0.05', 5],
    ['1e2', 10_000],
    ['1.5e-2', 2],
    ['1.4e-2', 1],
    ['5e-3', 1],
    ['5e-4', 0],
    ['1E+3', 100_000],
    ['99999999.985', 9_999_999_999],
    ['99999999.99', 9_999_999_999],
    ['+2.5', 250],
    ['-1.5', -150],
  ] as const) {
    assert.equal(roundDecimal(written, 2), cents, written)
  }
})

test('what has two decimals stays as it is', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9_999_999_999 }), (cents) => {
      assert.equal(roundDecimal(String(cents / 100), 2), cents)
      assert.equal(roundDecimal((cents / 100).toFixed(2), 2), cents)
    }),
  )
})

test('decimals are compared and told from integers by all of their digits', () => {
  for (const [a, b, sign] of [
    ['0.00999999999999999999999999', '0.01', -1],
    ['0.0100', '1e-2', 0],
    ['99999999.990000000000000000001', '99999999.99', 1],
    ['1e3', '999.9', 1],
    ['-1', '0', -1],
    ['+5', '5', 0],
  ] as const) {
    assert.equal(compareDecimals(a, b), sign, `${a} and ${b}`)
  }
  assert.deepEqual(
    ['1.00000000000000000000001', '0.99999999999999999999', '1.000', '15e-1', '150e-1', '1e20', '0'].map(
      isIntegerDecimal,
    ),
    [false, false, true, false, true, true, true],
  )
})
