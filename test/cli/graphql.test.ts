/** The graphql:* commands as processes. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildSchema } from 'graphql'
import { createClient } from '../../src/testing/client.ts'
import { createDatabaseUrl, engines, temporaryFolder, testServer } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { latchkey, startProcess } from '../support/process.ts'
import { openSocket } from '../support/sockets.ts'
import { testInFull } from '../support/test-in-full.ts'

const secret = 'a secret that only the tests know and use'
const counter = 'subscription { counter { count } }'
const create = 'mutation { createPost(title: "t", body: "b") }'

test('graphql:schema prints the schema definition language, and needs no database', async (t) => {
  const file = join(temporaryFolder(t), 'none.db')
  const { code, stdout, stderr } = await runLoaded(['graphql:schema'], { env: { DATABASE_URL: `file:${file}` } })
  assert.equal(code, 0, stderr)
  assert.equal(existsSync(file), false)
  const schema = buildSchema(stdout)
  assert.ok(schema.getSubscriptionType()?.getFields().counter)
  assert.match(stdout, /^type Post \{\n {2}id: ID!\n {2}title: String\n {2}body: String\n\}$/m)
  assert.match(stdout, /createPost\(title: String!, body: String!\): Int$/m)
})

test('start serves sockets too, and prints their address', async (t) => {
  const { url, wsUrl } = await startProcess(t, { env: { DATABASE_URL: await createDatabaseUrl(t, 'sqlite') } })
  const socket = await openSocket(t, wsUrl)
  socket.send({ query: counter })
  socket.send({ query: '{ posts { id } }' })
  assert.deepEqual(await socket.next(), { data: { posts: [] } })
  await createClient(url).post('/graphql', { query: create })
  assert.deepEqual(await socket.next(), { data: { counter: { count: 1 } } })
})

testInFull('with HOST set no port is open to the network, and the log shows the bound address', async (t) => {
  const env = { HOST: '127.0.0.1', GQL_WS_HOST: '' }
  const own = async () => ({ ...env, DATABASE_URL: await createDatabaseUrl(t, 'sqlite') })
  const closed = await startProcess(t, { env: await own() })
  for (const each of [closed.url, closed.wsUrl]) {
    assert.equal(new URL(each).hostname, '127.0.0.1')
    await assert.rejects(fetch(each.replace('ws:', 'http:').replace('127.0.0.1', '127.0.0.2')))
  }
  const open = await startProcess(t, { env: { ...(await own()), HOST: '0.0.0.0' } })
  for (const each of [open.url, open.wsUrl]) {
    assert.equal(new URL(each).hostname, '0.0.0.0')
    const response = await fetch(`${each.replace('ws:', 'http:').replace('0.0.0.0', '127.0.0.2')}/health/live`)
    assert.equal(response.status, 200)
  }
  const sockets = await startProcess(t, { command: 'graphql:ws', env: await own() })
  assert.equal(new URL(sockets.wsUrl).hostname, '127.0.0.1')
})

test('graphql:ws serves only sockets, warns if it cannot receive from other processes, and stops on SIGTERM', async (t) => {
  const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite'), GQL_WS_HOST: '0.0.0.0', GQL_WS_PORT: '1' }
  const args = ['--host', '127.0.0.1', '--port', '0']
  const { url, wsUrl, child, ended } = await startProcess(t, { command: 'graphql:ws', env, args })
  assert.equal(url, '')
  assert.deepEqual(await (await fetch(`${wsUrl.replace('ws', 'http')}/health/live`)).json(), { status: 'ok' })
  const socket = await openSocket(t, wsUrl)
  socket.send({ query: counter, id: 1 })
  socket.send({ query: create, id: 2 })
  // In either order.
  const messages = [await socket.next(), await socket.next()].sort((one, other) => one.id - other.id)
  assert.deepEqual(messages, [
    { id: 1, data: { counter: { count: 1 } } },
    { id: 2, data: { createPost: 1 } },
  ])
  child.kill('SIGTERM')
  assert.deepEqual(await socket.closed, { code: 1001, reason: 'Going away' })
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0, stderr)
  assert.match(stdout, /"level":"warn".*graphql\.pubsub is in_memory/)
})

testInFull('graphql:ws on a port in use, or on an invalid one: one line', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const env = { DATABASE_URL: await createDatabaseUrl(t, 'sqlite'), LOG_LEVEL: 'silent' }
  for (const [args, variables] of [
    [['graphql:ws', '--host', '127.0.0.1', '--port', String(port)], {}],
    [['start'], { GQL_WS_HOST: '127.0.0.1', GQL_WS_PORT: String(port), PORT: '0' }],
  ] as const) {
    const { code, stderr } = await latchkey([...args], { env: { ...env, ...variables } })
    assert.equal(code, 69, stderr)
    assert.equal(stderr, `latchkey: cannot listen on 127.0.0.1, port ${port}: the port is taken\n`)
  }
  const { code, stderr } = await runLoaded(['graphql:ws', '--port', 'x'], { env })
  assert.equal(code, 64)
  assert.match(
    stderr,
    /^latchkey: option '--port <port>' argument 'x' is invalid\. must be a number from 0 to 65535\n$/,
  )
})

if (engines.includes('postgres')) {
  test('over Redis, a graphql:ws process receives what another publishes, and that a token was revoked there', async (t) => {
    const env = {
      DATABASE_URL: await createDatabaseUrl(t, 'postgres'),
      JWT_SECRET: secret,
      REDIS_URL: testServer('TEST_REDIS_URL'),
      GQL_PUBSUB: 'redis',
    }
    const service = await startProcess(t, { env })
    const sockets = await startProcess(t, { command: 'graphql:ws', env })
    const api = createClient(service.url)
    const user = { email: 'ada@example.com', password: 'Correct-Horse-1' }
    assert.equal((await api.post('/api/auth/register', { ...user, name: 'Ada' })).status, 201)
    const { status, body } = await api.post('/api/auth/login', user)
    assert.equal(status, 200)
    const socket = await openSocket(t, sockets.wsUrl, { token: body.access_token })
    socket.send({ query: counter })
    // Until it is subscribed: the client is not notified of that.
    await eventually(async () => {
      await api.post('/graphql', { query: create })
      assert.ok(socket.waiting() > 0)
    })
    assert.equal(typeof (await socket.next()).data.counter.count, 'number')
    assert.equal((await api.post('/api/auth/logout', {}, body.access_token)).status, 200)
    const output = () => `not closed: ${service.output()}${sockets.output()}`
    await eventually(() => assert.equal(socket.ws.readyState, WebSocket.CLOSED, output()), byMessageMs)
    assert.equal((await socket.closed).code, 4403)
  })
}
