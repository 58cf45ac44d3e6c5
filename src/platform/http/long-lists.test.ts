import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue } from '../../core/fair-queue.ts'
import { type ListPart, type Schedule, streamList } from './long-lists.ts'
import { createResponseMemory } from './response-memory.ts'

const kilobyte = 1024
const meta = (total: number) => ({ total })

const refusal = () => new Error('refused')
const partQueue = createFairQueue({ atOnce: 4, maxPerClient: 100, maxWaiting: 100, full: refusal, gone: refusal })
const schedule: Schedule = (work) => partQueue.run({ client: '192.0.2.1', isUrgent: true }, work)

function createMemory(maxHeldBytes: number) {
  return createResponseMemory({ maxReservedBytes: 0, maxHeldBytes })
}

/** Parts of one item each, and how often each was read. */
function createParts(texts: readonly string[]) {
  const reads = texts.map(() => 0)
  async function* parts(): AsyncGenerator<ListPart> {
    for (const [i, text] of texts.entries()) {
      yield {
        key: `${i}`,
        async read() {
          reads[i] = (reads[i] ?? 0) + 1
          return { key: `${i}`, bytes: Buffer.from(JSON.stringify(text)), count: 1 }
        },
      }
    }
  }
  return { parts, reads }
}

const texts = Array.from({ length: 8 }, (_, i) => String(i).repeat(600 * kilobyte))
const expected = JSON.stringify({ data: texts, meta: { total: 8 } })

test('fifty clients that read alternately all get the whole list, with memory for only a few', async () => {
  const memory = createMemory(2000 * kilobyte)
  const { parts, reads } = createParts(texts)
  // Staggered starts, so that all clients are at different positions.
  const clients = Array.from({ length: 50 }, (_, i) => ({
    wait: i,
    stream: streamList(parts(), { memory, meta, schedule }),
    text: '',
  }))
  for (let reading = clients.length; reading > 0; ) {
    for (const client of clients) {
      if (client.wait-- > 0) continue
      const { value, done } = await client.stream.next()
      if (value) client.text += value.toString('latin1')
      if (done && client.wait > -10_000) {
        reading -= 1
        client.wait = -20_000
      }
      assert.ok(memory.bytes() <= 2000 * kilobyte, `${memory.bytes()} bytes`)
    }
  }
  for (const { text } of clients) assert.ok(text === expected)
  assert.equal(memory.bytes(), 0)
  assert.ok(reads.every((count) => count > 1))
})

test('clients that read the same list at the same time share the parts that a few of them have read', async () => {
  const { parts, reads } = createParts(texts)
  const memory = createMemory(100_000 * kilobyte)
  const read = async () => {
    let text = ''
    for await (const bytes of streamList(parts(), { memory, meta, schedule })) text += bytes.toString('latin1')
    return text
  }
  const bodies = await Promise.all(Array.from({ length: 50 }, read))
  assert.ok(bodies.every((text) => text === expected))
  assert.ok(
    reads.every((count) => count <= 4),
    reads.join(),
  )
})

test('a client that stops in the middle leaves nothing in memory', async () => {
  const memory = createMemory(10_000 * kilobyte)
  const stream = streamList(createParts(texts).parts(), { memory, meta, schedule })
  await stream.next()
  assert.ok(memory.bytes() > 0)
  await stream.return(undefined)
  assert.equal(memory.bytes(), 0)
})

test('an item that changes while half of it is sent ends the response: no client gets halves of two versions', async () => {
  const memory = createMemory(1)
  let version = 1
  async function* parts(): AsyncGenerator<ListPart> {
    const keyOf = () => `item ${version}`
    yield {
      key: keyOf(),
      read: async () => ({ key: keyOf(), bytes: Buffer.alloc(500 * kilobyte, String(version)), count: 1 }),
    }
  }
  const stream = streamList(parts(), { memory, meta, schedule })
  await stream.next()
  version = 2
  await assert.rejects(stream.next(), /changed/)
})

test('a list whose items have all been deleted is empty', async () => {
  async function* parts(): AsyncGenerator<ListPart> {
    yield { key: 'gone', read: async () => ({ key: '', bytes: Buffer.alloc(0), count: 0 }) }
  }
  let text = ''
  for await (const bytes of streamList(parts(), { memory: createMemory(1), meta, schedule })) text += bytes
  assert.equal(text, '{"data":[],"meta":{"total":0}}')
})
