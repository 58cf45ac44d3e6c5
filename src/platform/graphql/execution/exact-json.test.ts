import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactNumbersOf } from '../../validation/body-validation.ts'
import { withExactNumbers } from './exact-json.ts'

const long = '0.0099999999999999999999'

test('keys removed by the parser stay removed, whether or not a number is long', () => {
  const text = `{"a":{"constructor":{"prototype":{"x":1}},"__proto__":{"y":2},"price":${long}}}`
  const filtered = { a: { price: Number(long) } }
  const exact = withExactNumbers(filtered, text)
  assert.deepEqual(Object.keys(exact.a), ['price'])
  assert.equal(exactNumbersOf(exact.a)?.get('price'), long)
})

test('keys kept by the parser stay, with the numbers inside', () => {
  const text = `[{"constructor":{"prototype":{"n":${long}}},"__proto__":{"n":${long}}},{"n":1}]`
  const parsed = JSON.parse(text)
  const exact = withExactNumbers(parsed, text)
  assert.equal(JSON.stringify(exact), JSON.stringify(JSON.parse(text)))
  const [first] = exact
  const [ofConstructor, ofPrototype] = Object.values<{ prototype: object }>(first)
  assert.equal(exactNumbersOf(ofConstructor?.prototype ?? {})?.get('n'), long)
  assert.equal(exactNumbersOf(ofPrototype ?? {})?.get('n'), long)
  assert.equal(Object.getPrototypeOf(first), Object.prototype)
})
