import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createResponseMemory } from './response-memory.ts'

interface Asked {
  response: ServerResponse
  hangUp(): void
}

async function ask(t: TestContext): Promise<Asked> {
  const server = createServer()
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const asking = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  asking.on('error', () => {})
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { response, hangUp: () => void asking.destroy() }
}

test('a client that disconnects gives back what was reserved, and reserves nothing afterwards', async (t) => {
  const memory = createResponseMemory(100)
  for (let round = 0; round < 3; round++) {
    const { response, hangUp } = await ask(t)
    assert.equal(memory.tryReserve(response, 60), true)
    assert.equal(memory.tryReserve(response, 60), false)
    const closed = once(response, 'close')
    hangUp()
    await closed
    assert.equal(memory.tryReserve(response, 10), false)
  }
  const { response } = await ask(t)
  assert.equal(memory.tryReserve(response, 100), true)
  const closed = once(response, 'close')
  response.end()
  await closed
  assert.equal(memory.bytes(), 0)
})

test('what was used least recently is given up first, and no more than is needed', () => {
  const memory = createResponseMemory(100)
  const [a, b, c] = [memory.hold('a', 40), memory.hold('b', 40), memory.hold('c', 20)]
  assert.equal(a.get(), 'a')
  const d = memory.hold('d', 30)
  assert.deepEqual([a.get(), b.get(), c.get(), d.get()], ['a', undefined, 'c', 'd'])
  assert.equal(memory.bytes(), 90)
  for (const held of [a, b, c, d]) held.release()
  a.release()
  assert.equal(memory.bytes(), 0)
  assert.equal(memory.hold('too long', 101).get(), undefined)
  assert.equal(memory.bytes(), 0)
})
