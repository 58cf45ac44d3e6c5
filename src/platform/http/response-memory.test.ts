import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createResponseMemory } from './response-memory.ts'

interface PendingRequest {
  response: ServerResponse
  disconnect(): void
}

async function startRequest(t: TestContext): Promise<PendingRequest> {
  const server = createServer()
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const request = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  request.on('error', () => {})
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { response, disconnect: () => void request.destroy() }
}

test('a disconnected client releases its reservation, and cannot reserve again', async (t) => {
  const memory = createResponseMemory({ maxReservedBytes: 100, maxHeldBytes: 100 })
  for (let round = 0; round < 3; round++) {
    const { response, disconnect } = await startRequest(t)
    assert.equal(memory.tryReserve(response, 60), true)
    assert.equal(memory.tryReserve(response, 60), false)
    const closed = once(response, 'close')
    disconnect()
    await closed
    assert.equal(memory.tryReserve(response, 10), false)
  }
  const { response } = await startRequest(t)
  assert.equal(memory.tryReserve(response, 100), true)
  const closed = once(response, 'close')
  response.end()
  await closed
  assert.equal(memory.bytes(), 0)
})

test('the least recently used values are evicted first, and no more than needed', () => {
  const memory = createResponseMemory({ maxReservedBytes: 100, maxHeldBytes: 100 })
  const [a, b, c] = [memory.hold(1, 'a', 40), memory.hold(2, 'b', 40), memory.hold(3, 'c', 20)]
  assert.equal(a.get(), 'a')
  const d = memory.hold(4, 'd', 30)
  assert.deepEqual([a.get(), b.get(), c.get(), d.get()], ['a', undefined, 'c', 'd'])
  assert.equal(memory.bytes(), 90)
  for (const held of [a, b, c, d]) held.release()
  a.release()
  assert.equal(memory.bytes(), 0)
  assert.equal(memory.hold(5, 'too long', 101).get(), undefined)
  assert.equal(memory.bytes(), 0)
})

test('a value with several holders is held once, until the last of them releases it', () => {
  const memory = createResponseMemory({ maxReservedBytes: 100, maxHeldBytes: 100 })
  assert.equal(memory.find('key'), undefined)
  const first = memory.hold('key', 'value', 60)
  const second = memory.find('key')
  const third = memory.hold('key', 'the same value', 60)
  assert.equal(memory.bytes(), 60)
  first.release()
  first.release()
  assert.equal(third.get(), 'value')
  third.release()
  assert.equal(second?.get(), 'value')
  second?.release()
  assert.deepEqual([memory.bytes(), memory.find('key'), second?.get()], [0, undefined, undefined])
})

test('a pipelined response releases its reservation when the connection closes', async (t) => {
  const memory = createResponseMemory({ maxReservedBytes: 100, maxHeldBytes: 100 })
  const server = createServer()
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const responses: ServerResponse[] = []
  const all = new Promise<void>((resolve) => {
    server.on('request', (_request, response) => {
      responses.push(response)
      if (responses.length === 3) resolve()
    })
  })
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(3))
  await all
  for (const response of responses) assert.equal(memory.tryReserve(response, 30), true)
  assert.equal(memory.bytes(), 90)
  const closed = once(responses[0]?.req.socket as Socket, 'close')
  client.destroy()
  await closed
  assert.equal(memory.bytes(), 0)
})
