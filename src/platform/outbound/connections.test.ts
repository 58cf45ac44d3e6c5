import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createKeptConnection } from './connections.ts'
import { createOutbound } from './outbound.ts'

const request = { headers: {}, body: '{}', timeoutMs: 60_000 }

async function serve(t: TestContext, listener: RequestListener) {
  const sockets: Socket[] = []
  const server = createServer(listener)
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    sockets.push(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { sockets, port: (server.address() as AddressInfo).port }
}

/** Its name resolves to what `addresses` holds at the time. */
function open(t: TestContext, port: number) {
  const lookups: string[] = []
  const addresses = ['127.0.0.1']
  const outbound = createOutbound({
    allowPrivate: true,
    resolve: async (host) => {
      lookups.push(host)
      return [...addresses]
    },
  })
  const connection = createKeptConnection()
  t.after(() => {
    connection.close()
    outbound.close()
  })
  const post = async (path = '/') => outbound.post(`http://hooks.example:${port}${path}`, { ...request, connection })
  return { post, lookups, addresses }
}

test('a kept connection is used again, to where its address was checked', async (t) => {
  const { sockets, port } = await serve(t, (incoming, response) =>
    incoming.resume().on('end', () => response.end('ok')),
  )
  const { post, lookups, addresses } = open(t, port)
  for (let i = 0; i < 20; i++) {
    const { status, body, address } = await post()
    assert.deepEqual([status, body, address], [200, 'ok', '127.0.0.1'])
    // The name is not asked for meanwhile, so what it resolves to does not matter.
    addresses.splice(0, 1, '169.254.169.254')
  }
  assert.deepEqual([sockets.length, lookups.length], [1, 1])
  // A new connection needs a new lookup, which is checked.
  sockets[0]?.destroy()
  await assert.rejects(post(), { code: 'refused_address' })
  assert.equal(sockets.length, 1)
})

test('a request that meets a connection that the server has just closed is sent again over a new one', async (t) => {
  let requests = 0
  const { sockets, port } = await serve(t, (incoming, response) => {
    requests += 1
    if (requests === 2) incoming.socket.destroy()
    else incoming.resume().on('end', () => response.end('ok'))
  })
  const { post, lookups } = open(t, port)
  await post()
  assert.equal((await post()).status, 200)
  assert.deepEqual([requests, sockets.length, lookups.length], [3, 2, 2])
})

test('a server that closes every connection is one that does not answer', async (t) => {
  let requests = 0
  const { port } = await serve(t, (incoming, response) => {
    requests += 1
    if (requests > 1) incoming.socket.destroy()
    else incoming.resume().on('end', () => response.end('ok'))
  })
  const { post } = open(t, port)
  await post()
  await assert.rejects(post(), { code: 'connection' })
  assert.equal(requests, 3)
})

test('connections are not kept if the server does not want that, or has not sent its whole answer', async (t) => {
  const { sockets, port } = await serve(t, (incoming, response) => {
    incoming.resume()
    if (incoming.url === '/closes') response.writeHead(200, { connection: 'close' }).end()
    else response.writeHead(200).end('x'.repeat(200_000))
  })
  const { post, lookups } = open(t, port)
  for (const path of ['/closes', '/closes', '/long', '/long']) assert.equal((await post(path)).status, 200)
  assert.deepEqual([sockets.length, lookups.length], [4, 4])
})

test('what a server sends without a request is not taken for an answer', async (t) => {
  const { sockets, port } = await serve(t, (incoming, response) =>
    incoming.resume().on('end', () => response.writeHead(incoming.url === '/first' ? 200 : 500).end()),
  )
  const { post } = open(t, port)
  await post('/first')
  const [socket] = sockets as [Socket]
  await new Promise<void>((resolve) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', () => resolve()))
  // A round trip on another connection, so that the bytes have arrived.
  await fetch(`http://127.0.0.1:${port}/`)
  assert.equal((await post('/second')).status, 500)
})
