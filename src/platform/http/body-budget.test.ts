import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isAppError } from '../../core/app-error.ts'
import { createBodyBudget } from './body-budget.ts'

const megabyte = 1024 * 1024
const limits = { maxBodyBytes: 2 * megabyte, maxClientBytes: 3 * megabyte, maxBytes: 6 * megabyte }

/** The client of a body is its path. */
async function start(t: TestContext) {
  const budget = createBodyBudget(limits)
  const server = createServer(async (request: IncomingMessage, response) => {
    try {
      const { bytes, release } = await budget.receive(request, request.url ?? '')
      response.end(String(bytes.length))
      release()
    } catch (error) {
      response.writeHead(isAppError(error, 'service_unavailable') ? 503 : 413).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo

  /** Resolves once the server has read what was sent: of an incomplete body only by what follows. */
  function begin(client: string, sent: number, announced = sent): { socket: Socket; status: Promise<string> } {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    t.after(() => socket.destroy())
    socket.write(`POST ${client} HTTP/1.1\r\nHost: x\r\nContent-Length: ${announced}\r\n\r\n`)
    socket.write(Buffer.alloc(sent))
    const status = once(socket, 'data').then(([data]) => String(data).slice(9, 12))
    return { socket, status }
  }
  return { begin, send: (client: string, bytes: number) => begin(client, bytes).status }
}

test('a body up to the limit is received, a larger one is refused before it is kept', async (t) => {
  const { send } = await start(t)
  assert.equal(await send('/a', 2 * megabyte), '200')
  assert.equal(await send('/a', 0), '200')
  assert.equal(await send('/a', 2 * megabyte + 1), '413')
})

test('of the bodies of one client, the one that arrives for longest makes room', async (t) => {
  const { begin, send } = await start(t)
  const slow = begin('/a', 2 * megabyte - 1, 2 * megabyte)
  let isCutOff = false
  void slow.status.then(() => {
    isCutOff = true
  })
  // Whether or not the first has arrived by the time of the second, by the last it has.
  for (let i = 0; i < 5 && !isCutOff; i++) assert.equal(await send('/a', 2 * megabyte), '200')
  assert.equal(await slow.status, '503')
})

test('what one client sends slowly holds up no other, and neither do many clients', async (t) => {
  const { begin, send } = await start(t)
  const slow = Array.from({ length: 8 }, (_, i) => begin(`/${i}`, 2 * megabyte - 1, 2 * megabyte))
  assert.equal(await send('/other', 2 * megabyte), '200')
  const cutOff = await Promise.race(slow.map(({ status }) => status))
  assert.equal(cutOff, '503')
  assert.equal(await send('/other', 2 * megabyte), '200')
})

test('a client that disconnects leaves nothing behind', async (t) => {
  const { begin, send } = await start(t)
  for (let i = 0; i < 4; i++) begin('/a', megabyte, 2 * megabyte).socket.destroy()
  for (let i = 0; i < 4; i++) assert.equal(await send('/a', 2 * megabyte), '200')
})
