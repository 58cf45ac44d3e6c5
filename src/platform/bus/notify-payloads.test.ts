import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPayloadReader, maxPayloadBytes, toPayloads } from './notify-payloads.ts'

test('a text of any length and any characters is put together again from payloads that the server accepts', () => {
  const reader = createPayloadReader()
  const long = fc
    .tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.integer({ min: 1, max: 30_000 }))
    .map(([text, length]) => JSON.stringify(text.repeat(Math.ceil(length / text.length))))
  fc.assert(
    fc.property(long, fc.nat(), (text, number) => {
      const payloads = toPayloads(text, number)
      for (const payload of payloads) assert.ok(Buffer.byteLength(payload) <= maxPayloadBytes)
      const read = payloads.map((payload) => reader.read('one', payload))
      assert.deepEqual(read, [...payloads.slice(1).map(() => undefined), text])
    }),
  )
})

test('a text within the limit is sent as it is; parts of different senders do not mix', () => {
  const short = JSON.stringify('x'.repeat(maxPayloadBytes - 2))
  assert.deepEqual(toPayloads(short, 1), [short])
  const [first = '', second = ''] = toPayloads(JSON.stringify('a'.repeat(9000)), 1)
  const [other = '', rest = ''] = toPayloads(JSON.stringify('b'.repeat(9000)), 1)
  const reader = createPayloadReader()
  assert.equal(reader.read('one', first), undefined)
  assert.equal(reader.read('two', other), undefined)
  assert.equal(JSON.parse(reader.read('one', second) ?? ''), 'a'.repeat(9000))
  assert.equal(JSON.parse(reader.read('two', rest) ?? ''), 'b'.repeat(9000))
})

test('a text whose first part was missed is left out, and the next one is read', () => {
  const reader = createPayloadReader()
  const [first = '', second = ''] = toPayloads(JSON.stringify('a'.repeat(9000)), 1)
  assert.equal(reader.read('one', second), undefined)
  reader.read('one', first)
  reader.clear()
  assert.equal(reader.read('one', second), undefined)
  for (const [i, payload] of toPayloads(JSON.stringify('b'.repeat(9000)), 2).entries()) {
    assert.equal(reader.read('one', payload)?.length, i === 0 ? undefined : 9002)
  }
})
