import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readNumbers } from './exact-numbers.ts'

test('the numbers of an object are found as they are written, whatever stands around them', () => {
  for (const [text, numbers] of [
    ['{}', {}],
    [' { "price" : 1.50e+2 } ', { price: '1.50e+2' }],
    ['{"a":-0,"b":"1","c":[1,{"a":2}],"d":{"a":3,"e":4},"f":5}', { a: '-0', f: '5' }],
    ['{"pri\\u0063e":1,"a\\"b":2,"c\\\\":3,"":4}', { price: '1', 'a"b': '2', 'c\\': '3', '': '4' }],
    ['{"a":1,"a":2,"b":1,"b":"text"}', { a: '2' }],
    ['{"a":"},{\\"b\\":1","c":true,"d":null,"e":\n12345678901234567890\n}', { e: '12345678901234567890' }],
  ] as const) {
    assert.deepEqual(Object.fromEntries(readNumbers(text)), numbers, text)
  }
})

test('they are the numbers that JSON has there', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'), (body, space) => {
      const text = JSON.stringify(body, null, space)
      const parsed = Object.entries(JSON.parse(text)).filter(([, value]) => typeof value === 'number')
      const found = [...readNumbers(text)].map(([name, number]) => [name, Number(number)])
      assert.deepEqual(new Map(found as [string, number][]), new Map(parsed))
    }),
    { numRuns: 1000 },
  )
})
