import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { TimeoutError, withTimeout } from './timeout.ts'

test('what takes too long is given up, what comes in time is passed on', async () => {
  await assert.rejects(withTimeout(new Promise(() => {}), 20), TimeoutError)
  assert.equal(await withTimeout(Promise.resolve(7), 20), 7)
  await assert.rejects(withTimeout(Promise.reject(new RangeError('of its own')), 20), RangeError)
})

test('an event loop that stood still does not count as a neighbour that did not answer', async (t) => {
  const server = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const answer = withTimeout(
    fetch(`http://127.0.0.1:${port}`).then((response) => response.text()),
    100,
  )
  for (let stall = 0; stall < 3; stall++) {
    await new Promise((resolve) => setImmediate(resolve))
    // Nothing else of this process goes on meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150)
  }
  assert.equal(await answer, 'here')
})
