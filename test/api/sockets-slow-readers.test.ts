/** Slow and vanished clients. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { eventually } from '../support/eventually.ts'
import { openSocket, shareSocketApi, startSocketApi, wide } from '../support/sockets.ts'
import { serveStandaloneSockets } from '../support/standalone-sockets.ts'
import { testInFull } from '../support/test-in-full.ts'

const text = 'x'.repeat(100_000)
const shared = shareSocketApi({ elements: wide })

for (const isBack of [true, false]) {
  test(`who does not read is cut off with 1013, ${isBack ? 'and learns it once it reads' : 'even if it never does'}`, async (t) => {
    const api = await shared()
    const [deaf, keen] = [await openSocket(t, api.wsUrl), await openSocket(t, api.wsUrl)]
    for (const socket of [deaf, keen]) socket.send({ query: 'subscription { wide { text } }' })
    await api.subscribed(2)
    deaf.ws.pause()
    let published = 0
    while (api.parts.engine.counts().subscribers === 2) {
      await api.parts.topics.publish('wide', { text: text + published })
      assert.equal((await keen.next()).data.wide.text, text + published, 'the others hear everything')
      published += 1
      assert.ok(published < 1000)
    }
    if (isBack) {
      deaf.ws.resume()
      assert.equal((await deaf.closed).code, 1013)
      assert.ok(deaf.waiting() < published)
    }
    await eventually(() => assert.deepEqual(api.parts.sockets.counts(), { raw: 1, transport: 0 }))
    keen.ws.close()
    await api.subscribed(0)
  })
}

testInFull('a client that floods with pings and reads no pongs is disconnected too', async (t) => {
  const api = await startSocketApi(t)
  const { hostname, port } = new URL(api.wsUrl)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(
    'GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  await once(socket, 'data')
  socket.pause()
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)])
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => ping))
  await eventually(async () => {
    if (socket.writableLength < 4 * pings.length) for (let i = 0; i < 8; i++) socket.write(pings)
    assert.deepEqual(api.parts.sockets.counts(), { raw: 0, transport: 0 })
  })
  assert.equal((await api.get('/health/live')).status, 200)
})

test('a client that does not respond to a ping is disconnected at the next one; others stay', async (t) => {
  const { parts, url } = await serveStandaloneSockets(t, { pingEveryMs: 1000 })
  const lively = await openSocket(t, url)
  let pings = 0
  lively.ws.on('ping', () => {
    pings += 1
  })
  const dead = new WebSocket(url, { autoPong: false })
  t.after(() => dead.terminate())
  const closed = new Promise<number>((resolve) => dead.on('close', resolve))
  dead.on('open', () => dead.send(JSON.stringify({ query: 'subscription { counter { count } }' })))
  await eventually(() => assert.equal(parts.engine.counts().subscribers, 1))
  assert.equal(await closed, 1006)
  assert.equal(parts.engine.counts().subscribers, 0)
  const before = pings
  // A client without a pong is disconnected before the next ping.
  await eventually(() => assert.ok(pings >= before + 2, `${pings} pings`))
  assert.equal(lively.ws.readyState, WebSocket.OPEN)
})
