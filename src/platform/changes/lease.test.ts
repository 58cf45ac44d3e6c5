import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConsumerStore } from './consumers.store.ts'
import { workUnderLease } from './lease.ts'

test('a lease that cannot be extended is given up before another node may take it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  let asked = 0
  const store = {
    register: async () => {},
    async hold() {
      asked += 1
      if (asked > 1) throw new Error('the database is away')
      return 7
    },
    release: async () => assert.fail('it is not held any more'),
  } as Partial<ConsumerStore> as ConsumerStore
  const stop = new AbortController()
  const begun = Promise.withResolvers<AbortSignal>()
  const ended = workUnderLease(
    {
      name: 'test',
      holder: 'this node',
      store,
      clock: { now: () => 0 } as Parameters<typeof workUnderLease>[0]['clock'],
      begin: () => 7,
      async work(position, signal) {
        assert.equal(position, 7)
        begun.resolve(signal)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        stop.abort()
      },
      onError: (error) => begun.reject(error),
    },
    stop.signal,
  )
  const signal = await begun.promise
  t.mock.timers.tick(11_000)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1000)
  assert.equal(signal.aborted, true)
  await ended
  assert.equal(asked, 3)
})
