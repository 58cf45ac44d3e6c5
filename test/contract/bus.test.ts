/** The contract of all bus implementations. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { busTwins, createNode, isUnavailable, listenTo, newTopic } from '../support/buses.ts'
import { eventually } from '../support/eventually.ts'

for (const twin of busTwins) {
  describe(`the bus over ${twin}`, () => {
    const start = (t: TestContext) => createNode(t, twin)

    test('a value reaches every subscriber of its topic, in order, and nobody else', async (t) => {
      const node = await start(t)
      const [topic, other] = [newTopic(), newTopic()]
      const listeners = [await listenTo(node, topic), await listenTo(node, topic)]
      const elsewhere = await listenTo(node, other)
      for (let i = 0; i < 50; i++) await node.bus.publish(topic, { i })
      await Promise.all(Array.from({ length: 50 }, (_, i) => node.bus.publish(topic, { i: 50 + i })))
      await node.bus.publish(other, 'end')
      await eventually(() => assert.equal(elsewhere.heard.length + listeners.flatMap((l) => l.heard).length, 201))
      for (const { heard } of listeners)
        assert.deepEqual(
          heard,
          Array.from({ length: 100 }, (_, i) => ({ i })),
        )
      assert.deepEqual(elsewhere.heard, ['end'])
    })

    test('values are serialized as JSON, whatever they contain', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      const { heard } = await listenTo(node, topic)
      const values = [null, 0, false, '', 'ä\u0000\ud800"\'', [1, [2]], { at: new Date(0), gone: undefined }]
      for (const value of values) await node.bus.publish(topic, value)
      await eventually(() => assert.equal(heard.length, values.length))
      assert.deepEqual(heard, JSON.parse(JSON.stringify(values)))
      const given = { deep: { n: 1 } }
      await node.bus.publish(topic, given)
      given.deep.n = 2
      await eventually(() => assert.deepEqual(heard.at(-1), { deep: { n: 1 } }))
      await assert.rejects(node.bus.publish(topic, undefined), TypeError)
      await assert.rejects(node.bus.publish(topic, 1n), TypeError)
    })

    test('values of any size arrive, whole and in order, equal ones as often as they were published', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      const { heard } = await listenTo(node, topic)
      const prefix = 'ä€😀'.repeat(3000)
      const sizes = [7997, 7998, 100_000, 1_000_000]
      const values = [
        ...sizes.map((size) => 'x'.repeat(size)),
        `${prefix}1`,
        'same',
        'same',
        `${prefix}2`,
        `${prefix}2`,
      ]
      await Promise.all(values.map((value) => node.bus.publish(topic, value)))
      await eventually(() => assert.equal(heard.length, values.length))
      assert.deepEqual(heard, values)
    })

    test('a subscriber that has unsubscribed receives nothing more; the others do', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      const [one, two] = [await listenTo(node, topic), await listenTo(node, topic)]
      one.unsubscribe()
      one.unsubscribe()
      await node.bus.publish(topic, 1)
      await eventually(() => assert.deepEqual(two.heard, [1]))
      assert.deepEqual(one.heard, [])
    })

    test('one function can subscribe twice and unsubscribe once', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      const heard: unknown[] = []
      const listener = (value: unknown) => heard.push(value)
      const stop = await node.bus.subscribe(topic, listener)
      await node.bus.subscribe(topic, listener)
      stop()
      stop()
      for (const value of [1, 2]) await node.bus.publish(topic, value)
      await eventually(() => assert.equal(heard.at(-1), 2))
      assert.deepEqual(heard, [1, 2])
    })

    test('subscribers that come and go in any order leave the ones that stay, and then nothing', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      const kept: Awaited<ReturnType<typeof listenTo>>[] = []
      const comings = Array.from({ length: 60 }, async (_, i) => {
        const listener = await listenTo(node, topic)
        // Each way of unsubscribing happens while others are still subscribing.
        if (i % 3 === 0) kept.push(listener)
        else listener.unsubscribe()
        if (i % 7 === 0) await node.bus.publish(newTopic(), i)
      })
      await Promise.all(comings)
      await node.bus.publish(topic, 'all')
      await eventually(() => assert.ok(kept.every(({ heard }) => heard.length === 1)))
      assert.equal(await node.countOnWire(topic), twin === 'memory' ? 0 : 1, 'one subscription on the wire')
      for (const { unsubscribe } of kept) unsubscribe()
      await eventually(async () => assert.equal(await node.countOnWire(topic), 0))

      const again = await listenTo(node, topic)
      again.unsubscribe()
      const last = await listenTo(node, topic)
      await node.bus.publish(topic, 'last')
      await eventually(() => assert.deepEqual(last.heard, ['last']))
      assert.deepEqual(again.heard, [])
    })

    test('a subscriber that throws is logged and breaks neither the others nor the publisher', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      await node.bus.subscribe(topic, () => {
        throw new Error('thrown by a subscriber')
      })
      await node.bus.subscribe(topic, async () => {
        throw new Error('rejected by a subscriber')
      })
      const { heard } = await listenTo(node, topic)
      await node.bus.publish(topic, 1)
      await eventually(() => assert.deepEqual(heard, [1]))
      await eventually(() => assert.match(node.log.join(''), /thrown by a subscriber.*rejected by a subscriber/s))
    })

    test('a subscriber may publish, subscribe and unsubscribe; all see one order', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      const late: unknown[] = []
      await node.bus.subscribe(topic, (value) => {
        if (value !== 'first') return
        void node.bus.publish(topic, 'second')
        void node.bus.subscribe(topic, (next) => late.push(next))
      })
      const { heard } = await listenTo(node, topic)
      await node.bus.publish(topic, 'first')
      await eventually(() => assert.deepEqual(heard, ['first', 'second']))
      assert.ok(!late.includes('first'))
    })

    test('after close it delivers nothing and refuses calls as unavailable', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      const { heard, unsubscribe } = await listenTo(node, topic)
      assert.equal(node.bus.isUp(), true)
      await node.bus.close()
      await assert.rejects(node.bus.publish(topic, 1), isUnavailable)
      await assert.rejects(
        node.bus.subscribe(topic, () => {}),
        isUnavailable,
      )
      assert.equal(node.bus.isUp(), false)
      unsubscribe()
      await node.bus.close()
      assert.deepEqual(heard, [])
      await eventually(async () => assert.equal(await node.countOnWire(topic), 0))
    })

    if (twin === 'memory') return

    test('values published by one node reach the others', async (t) => {
      const [one, two, three] = [await start(t), await start(t), await start(t)]
      const topic = newTopic()
      const listeners = await Promise.all([one, two, three].map((node) => listenTo(node, topic)))
      for (let i = 0; i < 20; i++) await one.bus.publish(topic, i)
      for (const { heard } of listeners) {
        await eventually(() => assert.equal(heard.length, 20))
        assert.deepEqual(
          heard,
          Array.from({ length: 20 }, (_, i) => i),
        )
      }
      await one.bus.close()
      await two.bus.publish(topic, 'still')
      await eventually(() => assert.equal(listeners[2]?.heard.at(-1), 'still'))
      assert.equal(listeners[0]?.heard.length, 20)
    })

    test('a lost connection is reopened, reports the gap and resumes its remaining subscriptions', async (t) => {
      const [one, two] = [await start(t), await start(t)]
      const [topic, left] = [newTopic(), newTopic()]
      const { heard } = await listenTo(one, topic)
      const leaver = await listenTo(one, left)
      let gaps = 0
      const stopListening = one.bus.onGap(() => {
        gaps += 1
      })
      one.bus.onGap(() => {
        throw new Error('thrown at a gap')
      })

      for (const round of [1, 2]) {
        await one.cut()
        assert.equal(one.bus.isUp(), false)
        await assert.rejects(
          one.bus.subscribe(newTopic(), () => {}),
          isUnavailable,
        )
        leaver.unsubscribe()
        one.restore()
        await eventually(() => assert.equal(gaps, round))
        assert.equal(one.bus.isUp(), true)
        await two.bus.publish(topic, round)
        await eventually(() => assert.equal(heard.at(-1), round))
        await eventually(async () => assert.equal(await one.countOnWire(left), 0))
        assert.equal(await one.countOnWire(topic), 1)
      }
      stopListening()
      let isTold = false
      one.bus.onGap(() => {
        isTold = true
      })
      await one.cut()
      one.restore()
      await eventually(() => assert.ok(isTold))
      assert.equal(gaps, 2)
    })

    test('a silent connection is detected and reopened', async (t) => {
      const node = await start(t)
      const topic = newTopic()
      const { heard } = await listenTo(node, topic)
      let gaps = 0
      node.bus.onGap(() => {
        gaps += 1
      })
      node.silence()
      await eventually(() => assert.equal(gaps, 1))
      await node.bus.publish(topic, 'back')
      await eventually(() => assert.deepEqual(heard, ['back']))
    })

    test('a subscription interrupted by a lost connection fails and leaves nothing behind', async (t) => {
      const node = await start(t)
      const topics = Array.from({ length: 20 }, newTopic)
      const subscribing = topics.map((topic) => node.bus.subscribe(topic, () => {}))
      const [outcomes] = await Promise.all([Promise.allSettled(subscribing), node.cut()])
      node.restore()
      await eventually(() => assert.ok(node.bus.isUp()))
      for (const [i, outcome] of outcomes.entries()) {
        const isRefused = outcome.status === 'rejected'
        if (isRefused) assert.ok(isUnavailable(outcome.reason), String(outcome.reason))
        const expected = isRefused ? 0 : 1
        await eventually(async () => assert.equal(await node.countOnWire(topics[i] as string), expected))
      }
    })
  })
}

if (busTwins.includes('postgres')) {
  test('of two buses on one PostgreSQL database, each carries its own topics', async (t) => {
    const [one, other] = [await createNode(t, 'postgres'), await createNode(t, 'postgres', 'other:')]
    const topic = newTopic()
    const [here, there] = [await listenTo(one, topic), await listenTo(other, topic)]
    await one.bus.publish(topic, 'here')
    await other.bus.publish(topic, 'there')
    await eventually(() => assert.deepEqual([here.heard, there.heard], [['here'], ['there']]))
  })

  test('Redis channels are named after their topics, with a prefix', async (t) => {
    const node = await createNode(t, 'redis')
    const topic = newTopic()
    const { heard } = await listenTo(node, topic)
    await node.redis?.publish(`latchkey:${topic}`, 'not JSON')
    await node.redis?.publish(`latchkey:${topic}`, '{"count":1}')
    await eventually(() => assert.deepEqual(heard, [{ count: 1 }]))
    assert.match(node.log.join(''), /no JSON/)
  })
}
