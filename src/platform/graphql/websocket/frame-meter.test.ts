import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameMeter } from './frame-meter.ts'

interface Frame {
  length: number
  opcode: number
  isLast: boolean
}

function encode({ length, opcode, isLast }: Frame): Buffer {
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = (isLast ? 0x80 : 0) | opcode
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, Buffer.alloc(4 + length, 0xff)])
}

const length = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constantFrom(125, 126, 65_535, 65_536, 70_000))
/** A message of one or more frames, with pings between them. */
const message = fc
  .array(fc.record({ length, isPinged: fc.boolean() }), { minLength: 1, maxLength: 4 })
  .map((parts) =>
    parts.flatMap(({ length, isPinged }, i): Frame[] => [
      { length, opcode: i === 0 ? 1 : 0, isLast: i === parts.length - 1 },
      ...(isPinged ? [{ length: 5, opcode: 9, isLast: true }] : []),
    ]),
  )
const sizes = fc.array(fc.integer({ min: 1, max: 80_000 }), { minLength: 1, maxLength: 20 })

test('for any chunking, incomplete messages are counted in full and complete ones not at all', () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), sizes, fc.nat(), (messages, sizes, cut) => {
      const bytes = Buffer.concat(messages.flat().map(encode))
      const last = messages.at(-1) as Frame[]
      const lastBytes = Buffer.concat(last.map(encode)).length
      const meter = new FrameMeter()
      const read = (from: number, to: number) => {
        for (let at = from, i = 0; at < to; i++) {
          const next = Math.min(to, at + (sizes[i % sizes.length] as number))
          assert.ok(meter.read(bytes.subarray(at, next), 1_000_000))
          at = next
        }
      }
      // Within the last message, before its last data frame is complete.
      const pingsBehind = last.length > 0 && last.at(-1)?.opcode === 9 ? encode(last.at(-1) as Frame).length : 0
      const stop = bytes.length - lastBytes + 1 + (cut % Math.max(1, lastBytes - pingsBehind - 1))
      read(0, stop)
      assert.ok(meter.isIncomplete)
      assert.ok(meter.heldBytes >= stop - (bytes.length - lastBytes))
      read(stop, bytes.length)
      assert.equal(meter.isIncomplete, false)
      assert.equal(meter.heldBytes, 0)
    }),
  )
})

test('a message that is too long is detected by the header of the frame that exceeds the limit', () => {
  const one = encode({ length: 70_000, opcode: 1, isLast: true })
  assert.equal(new FrameMeter().read(one.subarray(0, 9), 69_999), true, 'the head is not complete')
  assert.equal(new FrameMeter().read(one.subarray(0, 10), 69_999), false)
  assert.equal(new FrameMeter().read(one.subarray(0, 10), 70_000), true)
  const meter = new FrameMeter()
  for (let i = 0; i < 3; i++) {
    assert.ok(meter.read(encode({ length: 100, opcode: i === 0 ? 1 : 0, isLast: false }), 300))
    assert.ok(meter.read(encode({ length: 100, opcode: 9, isLast: true }), 300), 'pings are no part of it')
  }
  assert.equal(meter.read(encode({ length: 1, opcode: 0, isLast: true }), 300), false)
})
