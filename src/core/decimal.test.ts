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

/** A random decimal string, and its exact value as units × 10^exponent. */
const written = fc
  .record({
    sign: fc.constantFrom('', '-', '+'),
    zeros: fc.integer({ min: 0, max: 3 }),
    whole: fc.bigInt({ min: 0n, max: 10n ** 30n }),
    fraction: fc.option(fc.stringMatching(/^[0-9]{1,30}$/), { nil: undefined }),
    exponent: fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
    e: fc.constantFrom('e', 'E', 'e+'),
  })
  .map(({ sign, zeros, whole, fraction = '', exponent, e }) => {
    const power = exponent === undefined ? '' : `${exponent < 0 ? e.charAt(0) : e}${exponent}`
    const units = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n)
    return {
      text: `${sign}${'0'.repeat(zeros)}${whole}${fraction === '' ? '' : `.${fraction}`}${power}`,
      // With eighty places all values are integers.
      scaled: units * 10n ** BigInt(80 + (exponent ?? 0) - fraction.length),
    }
  })

test('decimals are compared, rounded and told from integers as exact arithmetic does it', () => {
  const one = 10n ** 80n
  fc.assert(
    fc.property(written, written, (a, b) => {
      const expected = a.scaled < b.scaled ? -1 : a.scaled > b.scaled ? 1 : 0
      assert.equal(Math.sign(compareDecimals(a.text, b.text)), expected, `${a.text} and ${b.text}`)
      assert.equal(isIntegerDecimal(a.text), a.scaled % one === 0n, a.text)
      const cent = one / 100n
      const magnitude = a.scaled < 0n ? -a.scaled : a.scaled
      const rounded = (magnitude + cent / 2n) / cent
      const cents = rounded === 0n ? 0 : Number(a.scaled < 0n ? -rounded : rounded)
      // The limit of a float's precision.
      if (rounded < 2n ** 53n) assert.equal(roundDecimal(a.text, 2), cents, a.text)
    }),
    { numRuns: 3000 },
  )
})

test('neither many digits nor a huge exponent takes time or memory', () => {
  const digits = 65_536
  const huge = `1e${'9'.repeat(digits)}`
  const tiny = `1e-${'9'.repeat(digits)}`
  const long = `0.${'9'.repeat(digits)}`
  for (let i = 0; i < 100; i++) {
    assert.equal(Math.sign(compareDecimals(huge, '99999999.99')), 1)
    assert.equal(Math.sign(compareDecimals(`-${huge}`, '0')), -1)
    assert.equal(Math.sign(compareDecimals(tiny, '0.01')), -1)
    assert.equal(Math.sign(compareDecimals(long, '1')), -1)
    assert.equal(Math.sign(compareDecimals(`0.${'0'.repeat(digits)}1`, '0')), 1)
    assert.deepEqual([isIntegerDecimal(huge), isIntegerDecimal(tiny), isIntegerDecimal(long)], [true, false, false])
    assert.deepEqual(
      [roundDecimal(huge, 2), roundDecimal(`-${huge}`, 2), roundDecimal(tiny, 2), roundDecimal(long, 2)],
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 100],
    )
    assert.equal(roundDecimal('1e999999999', 2), Number.POSITIVE_INFINITY)
  }
  assert.ok(Object.is(roundDecimal('-0', 2), 0))
  assert.ok(Object.is(roundDecimal('-0.001', 2), 0))
  assert.equal(compareDecimals('-0', '0'), 0)
})
