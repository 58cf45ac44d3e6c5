/** Hashing is shared fairly between client addresses: a flood delays only its own address. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { availableParallelism } from 'node:os'
import { type TestContext, test } from 'node:test'
import type { Database } from '../../src/platform/database/database.ts'
import { type Api, startApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { password, register } from '../support/people.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount } from '../support/tiers.ts'

const flooder = '203.0.113.66'
const somebody = '198.51.100.7'
// Expensive enough that the flood is still waiting when the other address comes.
const env = { TRUSTED_PROXIES: '127.0.0.1', BCRYPT_COST: '8', RATE_LIMIT_LOGIN: '1000/60' }

function postFrom(api: Api, address: string, path: string, json: object) {
  return api.request('POST', path, { json, headers: { 'x-forwarded-for': address } })
}

async function startWithDatabase(t: TestContext, engine: 'sqlite' | 'postgres'): Promise<Api & { db: Database }> {
  const parts: { db?: Database } = {}
  const api = await startApi(t, { engine, env, extend: (_app, { db }) => void Object.assign(parts, { db }) })
  return { ...api, db: parts.db as Database }
}

onAnyEngine('signing in beside a flood from another address', (engine) => {
  test('a login from another address overtakes most of the requests that came first', async (t) => {
    // So slow that, also on a busy machine, what else is done for a login takes less than some hashes of the flood.
    const api = await startApi(t, { engine, env: { ...env, BCRYPT_COST: '10' } })
    const { email } = await register(api)
    let answered = 0
    const flood = Array.from({ length: amount({ full: 30, otherwise: 12 }) }, (_, i) => [
      postFrom(api, flooder, '/api/auth/login', { email: `nobody${i}@example.com`, password }),
      postFrom(api, flooder, '/api/auth/register', { email: `flood${i}@example.com`, password }),
    ]).flat()
    for (const each of flood) void each.then(() => (answered += 1))
    await Promise.race(flood)

    const before = answered
    const response = await postFrom(api, somebody, '/api/auth/login', { email, password })
    const overtakenBy = answered - before
    assert.equal(response.status, 200, JSON.stringify(response.body))
    assert.ok(overtakenBy <= 3 * availableParallelism() + 4, `${overtakenBy} of the flood were answered before it`)
    assert.ok(answered < flood.length, 'the flood was still waiting')
    const statuses = new Set((await Promise.all(flood)).map(({ status }) => status))
    assert.deepEqual(statuses, new Set([401, 201]))
  })

  testInFull('an overloading address gets 503, and another one can sign in meanwhile', async (t) => {
    // The queue of an address holds 256.
    const api = await startApi(t, { engine, env: { ...env, BCRYPT_COST: '6' } })
    const { email } = await register(api)
    const flood = Array.from({ length: 700 }, (_, i) =>
      postFrom(api, flooder, '/api/auth/login', { email: `nobody${i}@example.com`, password }),
    )
    const refused = await Promise.any(
      flood.map(async (each) => {
        const response = await each
        assert.equal(response.status, 503)
        return response
      }),
    )
    assert.deepEqual(refused.body, { error: 'Service unavailable' })
    assert.ok(refused.headers.get('retry-after'))
    assert.equal((await postFrom(api, somebody, '/api/auth/login', { email, password })).status, 200)
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([401, 503]))
    assert.ok(statuses.filter((status) => status === 401).length >= 256)
  })

  test('work of disconnected clients is not done', async (t) => {
    const api = await startWithDatabase(t, engine)
    const flood = Array.from({ length: 60 }, (_, i) =>
      postFrom(api, flooder, '/api/auth/login', { email: `busy${i}@example.com`, password }),
    )
    const { hostname, port } = new URL(api.url)
    const sockets = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const body = JSON.stringify({ email: `gone${i}@example.com`, password })
        const socket = connect(Number(port), hostname)
        socket.on('error', () => {})
        await new Promise<void>((resolve) => {
          socket.write(
            `POST /api/auth/login HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${flooder}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
            () => resolve(),
          )
        })
        return socket
      }),
    )
    for (const socket of sockets) socket.destroy()
    await Promise.all(flood)
    // The queue of that address is ordered: earlier jobs are done or dropped.
    await postFrom(api, flooder, '/api/auth/login', { email: 'last@example.com', password })
    const row = await api.db.get<{ n: number }>("SELECT count(*) AS n FROM login_attempts WHERE email LIKE 'gone%'")
    // Some may have started before the service noticed, more of them on a busy machine.
    assert.ok((row?.n ?? 50) <= 25, `${row?.n} of 50 were hashed`)
    assert.ok(!api.log.some((line) => line.includes('"level":"error"')))
  })
})
