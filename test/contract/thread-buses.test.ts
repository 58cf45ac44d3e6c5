/** The memory bus between the threads of a process. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BroadcastChannel } from 'node:worker_threads'
import { systemRandom } from '../../src/core/random.ts'
import type { Bus } from '../../src/platform/bus/bus.ts'
import { createMemoryBus } from '../../src/platform/bus/memory.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { isUnavailable, listenTo, newTopic } from '../support/buses.ts'
import { eventually } from '../support/eventually.ts'

function startPair(t: TestContext) {
  const name = systemRandom.id()
  const log = createLogger({ level: 'fatal', isTerminal: false })
  const [one, other] = [0, 1].map(() => createMemoryBus({ log, channel: new BroadcastChannel(name) })) as [Bus, Bus]
  t.after(() => Promise.all([one.close(), other.close()]))
  return { one: { bus: one }, other: { bus: other } }
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
