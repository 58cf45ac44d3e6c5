import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainNumber } from './plain-number.ts'

const read = {
  '5': '5',
  ' $1,234,567.5 ': '1234567.5',
  '$ 12': '12',
  '\t1.\n': '1.',
  '1234.50': '1234.50',
  '12,345': '12345',
}

for (const [typed, number] of Object.entries(read)) {
  test(`${JSON.stringify(typed)} means ${number}`, () => assert.equal(plainNumber(typed), number))
}

test('what may mean something else is left as it was typed', () => {
  const others = ['', ' ', '$', ',', '.', '.5', '12,50', '1.234,50', '1,23', '1,2345', '1234,567', ',123', '1,,234']
  for (const typed of [...others, '$$1', '1$', '1 2', '-1', '1.2.3', '1,234.5,6', '1e5', '１']) {
    assert.equal(plainNumber(typed), typed)
  }
})

test('what is longer than any number is not looked at', () => {
  const typed = ` ${'1'.repeat(64)}`
  assert.equal(plainNumber(typed), typed)
})
