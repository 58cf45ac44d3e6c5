import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createInFlight } from './in-flight.ts'

/** Asks, hangs up once it was heard, and tells what was to be answered. */
async function hangUp(t: TestContext): Promise<ServerResponse> {
  const server = createServer()
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const asking = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  asking.on('error', () => {})
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  response.once('hang up', () => asking.destroy())
  return response
}

test('whoever goes gives back what was taken, and takes nothing afterwards', async (t) => {
  const createReservation = createInFlight(100)
  for (let round = 0; round < 3; round++) {
    const response = await hangUp(t)
    const reserve = createReservation(response)
    reserve(60)
    assert.throws(() => createReservation(response)(60), { status: 503 })
    response.emit('hang up')
    await once(response, 'close')
    assert.throws(() => reserve(10), { status: 503 })
    assert.throws(() => createReservation(response)(10), { status: 503 })
  }
  const response = await hangUp(t)
  createReservation(response)(100)
  response.end()
  await once(response, 'close')
  createReservation(await hangUp(t))(100)
})
