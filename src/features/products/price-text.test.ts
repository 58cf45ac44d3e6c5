import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainPrice, unclearPrice } from './price-text.ts'

const read = {
  '5': '5',
  '12,50': '12.50',
  '12.50': '12.50',
  '12,5': '12.5',
  '1234,50': '1234.50',
  '1.234,50': '1234.50',
  '1,234.50': '1234.50',
  ' $1,234,567.5 ': '1234567.5',
  '1.234.567,5': '1234567.5',
  '1,234,567': '1234567',
  '1.234.567': '1234567',
  '$1,234': '1234',
  '$ 12': '12',
  '0,125': '0.125',
  '0.125': '0.125',
  '1234.567': '1234.567',
  '\t1.\n': '1.',
}

for (const [typed, number] of Object.entries(read)) {
  test(`${JSON.stringify(typed)} means ${number}`, () => {
    assert.equal(plainPrice(typed), number)
    assert.equal(unclearPrice(typed), undefined)
    assert.equal(plainPrice(number), number, 'what was read is read again as the same')
  })
}

const unclear = {
  '1.234': '“1.234” is unclear: type 1234.00 or 1.23',
  '1,234': '“1,234” is unclear: type 1234.00 or 1.23',
  ' 999,999': '“999,999” is unclear: type 999999.00 or 1000.00',
  '$1.235': '“1.235” is unclear: type 1235.00 or 1.24',
}

for (const [typed, message] of Object.entries(unclear)) {
  test(`${JSON.stringify(typed)} may be either of two prices`, () => {
    assert.equal(plainPrice(typed), typed)
    assert.equal(unclearPrice(typed), message)
  })
}

test('what is no price is left as it was typed', () => {
  const others = ['', ' ', '$', ',', '.', '.5', ',5', '1,', '1,2345', '1234,567', '1,,234', '1.2.3', '1,234.5,6']
  for (const typed of [
    ...others,
    '12.34,56',
    '1,23,456',
    '$$1',
    '1$',
    '1 2',
    '-1',
    '1e5',
    '１',
    `1${' '.repeat(64)}`,
  ]) {
    assert.equal(plainPrice(typed), typed)
    assert.equal(unclearPrice(typed), undefined)
  }
  assert.equal(unclearPrice(undefined), undefined)
})
