/** What @latchkey/client keeps to itself. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createLatchkey, memoryStorage } from '../../packages/client/src/index.ts'
import { startApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { password, register } from '../support/people.ts'

test('tokens and passwords follow no redirect: whatever answers in the place of the service does not get them elsewhere', async (t) => {
  const api = await startApi(t)
  const { email } = await register(api)
  const asked: (string | undefined)[] = []
  const received: string[] = []
  const elsewhere = await listen(t, (server) => {
    server.on('request', async (request, response) => {
      const body = await Array.fromAsync(request)
      received.push(`${request.url} ${JSON.stringify(request.headers)} ${Buffer.concat(body)}`)
      response.end('{}')
    })
  })
  const redirecting = await listen(t, (server) => {
    server.on('request', (request, response) => {
      asked.push(request.url)
      response.writeHead(307, { location: elsewhere + request.url }).end()
    })
  })
  const storage = memoryStorage()
  const client = createLatchkey({ url: api.url, storage })
  await client.login({ email, password })
  const misled = createLatchkey({ url: redirecting, storage, WebSocket: null })
  await assert.rejects(misled.login({ email, password }), { message: 'The service cannot be reached' })
  await assert.rejects(misled.me(), { message: 'The service cannot be reached' })
  await assert.rejects(misled.graphql('{ me { id } }'), { message: 'The service cannot be reached' })
  // The access token has expired, so the next call begins with a refresh, which goes on trying.
  await storage.update(({ session, ...state }) => ({ ...state, session: session && { ...session, staleAt: 0 } }))
  const gone = misled.me().catch(() => {})
  await eventually(() => assert.ok(asked.includes('/api/auth/refresh')))
  await storage.update(({ session: _session, ...state }) => state)
  await gone
  assert.deepEqual(received, [])
})

async function listen(t: TestContext, prepare: (server: Server) => void): Promise<string> {
  const server = createServer()
  prepare(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
