/** The contract of the Redis connection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../src/platform/log/logger.ts'
import { openRedis } from '../../src/platform/redis/redis.ts'
import { engines } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startPrivateRedis } from '../support/private-servers.ts'

if (engines.includes('postgres')) {
  test('commands to a frozen Redis are limited in number, time out, and work again when it is back', async (t) => {
    const server = await startPrivateRedis(t)
    const redis = await openRedis(server.url, createLogger({ level: 'silent', isTerminal: false }))
    t.after(() => redis.close())
    assert.equal(await redis.client.incr('n'), 1)

    server.freeze()
    const failures = { full: 0, dropped: 0 }
    const commands = Array.from({ length: 12_000 }, () =>
      redis.client.incr('n').catch(({ message }: Error) => {
        failures[message === 'The queue is full' ? 'full' : 'dropped'] += 1
      }),
    )
    await Promise.all(commands)
    assert.equal(failures.full + failures.dropped, 12_000)
    // A check of the connection may be one of the ten thousand that wait.
    assert.ok(failures.dropped <= 10_000 && failures.dropped > 9_990, JSON.stringify(failures))
    assert.equal(redis.isUp(), false)
    await assert.rejects(redis.client.incr('n'))

    server.thaw()
    await eventually(() => assert.equal(redis.isUp(), true))
    assert.equal(await redis.client.ping(), 'PONG')
  })
}
