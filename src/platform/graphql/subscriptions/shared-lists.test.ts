import assert from 'node:assert/strict'
import { test } from 'node:test'
import { concatUnpooled, unpooledBytes, unpooledParts } from '../../../core/unpooled-bytes.ts'
import { createTransportProtocol } from '../websocket/graphql-transport-ws.ts'
import { createPlainJson } from '../websocket/plain-json.ts'
import { createSharedLists } from './shared-lists.ts'

const texts = ['{"data":1}', '{"data":"ä"}']

test('bytes that are kept hold no memory but their own', () => {
  const parts = unpooledParts(texts)
  assert.deepEqual(parts.map(String), texts)
  for (const bytes of [unpooledBytes(texts.join()), concatUnpooled(parts.map((part) => Buffer.from(part))), ...parts]) {
    assert.ok(bytes.buffer.byteLength <= Buffer.byteLength(texts.join()))
  }
})

test('frames that subscribers share are no slices of a pool', () => {
  for (const protocol of [createPlainJson(), createTransportProtocol()]) {
    for (const prefix of ['', '{"id":1,']) {
      const sent: Buffer[] = []
      const writer = {
        sendFrame: (frame: Buffer) => sent.push(frame),
        sendShared: (_prefix: string, rests: readonly Buffer[]) => sent.push(...rests),
      }
      protocol.sendValues(writer as never, { prefix } as never, texts)
      assert.ok(sent.length > 0)
      for (const bytes of sent) assert.ok(bytes.buffer.byteLength < 100, 'the slab of a pool is kept')
    }
  }
})

test('however many lists and selections there are, what is kept is bounded, and what failed is not kept', async () => {
  const lists = createSharedLists()
  for (let i = 0; i < 20_000; i++) await lists.find({}, `selection ${i}`, async () => [''])
  assert.ok(lists.keptBytes() > 1_000_000)
  assert.ok(lists.keptBytes() <= 4 * 1024 * 1024)
  const list = {}
  await assert.rejects(lists.find(list, 'x', async () => Promise.reject(new Error('failed'))))
  assert.deepEqual(await lists.find(list, 'x', async () => ['{}']), [['{}']])
})

test('a list that is slow while others make room is counted once, and given up like any other', async () => {
  const lists = createSharedLists()
  const large = 'x'.repeat(300_000)
  for (let round = 0; round < 20; round++) {
    const slow = Promise.withResolvers<readonly string[]>()
    const found = lists.find({}, 'slow', () => slow.promise)
    for (let i = 0; i < 5; i++) await lists.find({}, 'fast', async () => [large])
    slow.resolve([large])
    await found
  }
  assert.ok(lists.keptBytes() <= 4 * 1024 * 1024)
  const list = {}
  let executed = 0
  for (let i = 0; i < 3; i++) {
    await lists.find(list, 'small', async () => {
      executed += 1
      return ['{}']
    })
  }
  assert.equal(executed, 1)
})
