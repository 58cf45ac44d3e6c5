import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createInFlight } from './in-flight.ts'

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

test('whoever goes gives back what was taken, and takes nothing afterwards', async (t) => {
  const createReservation = createInFlight(100)
  for (let round = 0; round < 3; round++) {
    const { response, hangUp } = await ask(t)
    const reserve = createReservation(response)
    reserve(60)
    assert.throws(() => createReservation(response)(60), { status: 503 })
    const closed = once(response, 'close')
    hangUp()
    await closed
    assert.throws(() => reserve(10), { status: 503 })
    assert.throws(() => createReservation(response)(10), { status: 503 })
  }
  const { response } = await ask(t)
  createReservation(response)(100)
  const closed = once(response, 'close')
  response.end()
  await closed
  createReservation((await ask(t)).response)(100)
})
