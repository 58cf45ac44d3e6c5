/** Clients that do not keep up, or are not there any more. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { objectType, subscription } from '../../src/platform/graphql/elements.ts'
import { createSockets } from '../../src/platform/graphql/sockets/sockets.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { eventually } from '../support/eventually.ts'
import { openSocket, startSocketApi } from '../support/sockets.ts'

const wide = [
  objectType({ name: 'Wide', fields: { text: 'String' } }),
  subscription({
    name: 'wide',
    type: 'Wide',
    access: 'public',
    async *subscribe(_args, { values }) {
      yield* values('wide')
    },
  }),
]
const text = 'x'.repeat(100_000)

for (const isBack of [true, false]) {
  test(`who does not read is cut off with 1013, ${isBack ? 'and learns it once it reads' : 'even if it never does'}`, async (t) => {
    const api = await startSocketApi(t, { elements: wide })
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

test('who answers no ping is gone after the next one; who does stays', async (t) => {
  const { parts } = await startSocketApi(t)
  const sockets = createSockets({
    ...parts,
    log: createLogger({ level: 'silent', isTerminal: false }),
    addressOf: () => '127.0.0.1',
    requestIdOf: () => 'x',
    origins: ['*'],
    maxPerAddress: 10,
    maxSubscriptions: 10,
    timing: { pingEveryMs: 200 },
  })
  const server = createServer()
  sockets.serveAt(server, '/graphql')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    await sockets.close()
    server.close()
  })
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
  const lively = await openSocket(t, url)
  const dead = new WebSocket(url, { autoPong: false })
  t.after(() => dead.terminate())
  const closed = new Promise<number>((resolve) => dead.on('close', resolve))
  dead.on('open', () => dead.send(JSON.stringify({ query: 'subscription { counter { count } }' })))
  await eventually(() => assert.equal(parts.engine.counts().subscribers, 1))
  assert.equal(await closed, 1006)
  assert.equal(parts.engine.counts().subscribers, 0)
  await sleep(500)
  assert.equal(lively.ws.readyState, WebSocket.OPEN)
})
