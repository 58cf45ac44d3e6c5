/** The memory bus between the threads of a process. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import { systemRandom } from '../../src/core/random.ts'
import { createMemoryBus } from '../../src/platform/bus/memory.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { isUnavailable, listenTo, newTopic } from '../support/buses.ts'
import { eventually } from '../support/eventually.ts'

function startPair(t: TestContext) {
  const name = systemRandom.id()
  const log = createLogger({ level: 'fatal', isTerminal: false })
  const sent = new BigInt64Array(new SharedArrayBuffer(8))
  const open = () => createMemoryBus({ log, threads: { channel: new BroadcastChannel(name), sent } })
  const [one, other] = [open(), open()]
  t.after(() => Promise.all([one.close(), other.close()]))
  return { one: { bus: one }, other: { bus: other }, sent }
}

test('what is published together arrives in order in both, each value once', async (t) => {
  const { one, other } = startPair(t)
  const [topic, second] = [newTopic(), newTopic()]
  const heard = [await listenTo(one, topic), await listenTo(other, topic), await listenTo(other, second)] as const
  await Promise.all(Array.from({ length: 100 }, (_, i) => one.bus.publish(i % 2 === 0 ? topic : second, i)))
  for (let i = 100; i < 110; i++) await one.bus.publish(topic, i)
  await eventually(() => assert.equal(heard[1].heard.length, 60))
  const even = Array.from({ length: 50 }, (_, i) => 2 * i)
  assert.deepEqual(heard[0].heard, [...even, ...Array.from({ length: 10 }, (_, i) => 100 + i)])
  assert.deepEqual(heard[1].heard, heard[0].heard)
  assert.deepEqual(
    heard[2].heard,
    even.map((i) => i + 1),
  )
})

test('values that are published at the same time arrive in the same order in both', async (t) => {
  const { one, other } = startPair(t)
  const topic = newTopic()
  const heard = [await listenTo(one, topic), await listenTo(other, topic)] as const
  for (let i = 0; i < 50; i++) {
    await Promise.all([one.bus.publish(topic, `one ${i}`), other.bus.publish(topic, `other ${i}`)])
    if (i % 10 === 0) await nextTurn()
  }
  await eventually(() => assert.equal(heard[0].heard.length, 100))
  await eventually(() => assert.deepEqual(heard[1].heard, heard[0].heard))
})

test('a thread that dies as it publishes holds the others up for a second only', async (t) => {
  const { one, other, sent } = startPair(t)
  const topic = newTopic()
  const { heard } = await listenTo(other, topic)
  Atomics.add(sent, 0, 1n)
  await one.bus.publish(topic, 'next')
  const later = listenTo(other, topic)
  await nextTurn()
  assert.deepEqual(heard, [])
  await eventually(() => assert.deepEqual(heard, ['next']))
  const { heard: heardLater } = await later
  await other.bus.publish(topic, 'last')
  await eventually(() => assert.deepEqual([heard, heardLater], [['next', 'last'], ['last']]))
})

test('a value that was published before a subscription in the other thread does not reach it', async (t) => {
  const { one, other } = startPair(t)
  const topic = newTopic()
  for (let i = 0; i < 20; i++) {
    await one.bus.publish(topic, 'before')
    const { heard, unsubscribe } = await listenTo(other, topic)
    await one.bus.publish(topic, 'after')
    await eventually(() => assert.deepEqual(heard, ['after']))
    unsubscribe()
  }
})

test('what was published before the bus closed arrives, even if nobody waited for it', async (t) => {
  const { one, other } = startPair(t)
  const topic = newTopic()
  const { heard } = await listenTo(other, topic)
  const published = one.bus.publish(topic, 'last')
  await one.bus.close()
  await published
  await eventually(() => assert.deepEqual(heard, ['last']))
  await assert.rejects(one.bus.publish(topic, 'late'), isUnavailable)
})
