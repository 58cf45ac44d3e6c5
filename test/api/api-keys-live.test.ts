/** What becomes of a key holds at the next request on every node, and for connections that it holds open. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { objectType, subscription } from '../../src/platform/graphql/schema/elements.ts'
import { shareService } from '../support/api.ts'
import { createDatabaseUrl, engines, onAnyEngine, testServer } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { makeKey } from '../support/keys.ts'
import { many } from '../support/people.ts'
import type { ApiWithRoles } from '../support/roles.ts'
import { openSocket, openTransport, startSocketApi } from '../support/sockets.ts'
import { amount } from '../support/tiers.ts'
import { startWatchingApi, type WatchingApi } from '../support/watched-connections.ts'

/** Everything that ends a key. */
const endings: Record<string, (api: WatchingApi, key: Held) => Promise<unknown>> = {
  'it is ended': (api, { owner, id }) => api.delete(`/api/auth/keys/${id}`, owner.access),
  'an administrator ends it': async (api, { owner, id }) => {
    const admin = await api.signInAs('admin')
    assert.equal((await api.delete(`/api/admin/users/${owner.id}/keys/${id}`, admin.access)).status, 204)
  },
  'it expires': async (api) => api.clock.advance(600),
}

interface Held {
  owner: { id: number; access: string }
  id: string
  key: string
}

async function hold(api: ApiWithRoles, roles: string[], body: object = {}): Promise<Held> {
  const owner = await api.signInAs(...roles)
  return { owner, ...(await makeKey(api, owner.access, body)) }
}

const soon = (api: WatchingApi) => new Date((api.clock.nowSeconds() + 600) * 1000).toISOString()

onAnyEngine('connections of an API key', (engine) => {
  const shared = shareService(startWatchingApi, { engine, env: { JWT_ACCESS_TTL: '3600' } })

  for (const [name, end] of Object.entries(endings)) {
    test(`end at once when ${name}, and those of another key and of the session stay`, async () => {
      const api = await shared()
      const held = await hold(api, ['editor'], { expires_at: soon(api) })
      const other = await makeKey(api, held.owner.access)
      const connections = [await api.open(held.key), await api.open(held.key)]
      const bystanders = [await api.open(other.key), await api.open(held.owner.access)]
      await end(api, held)
      await eventually(() => assert.ok(connections.every(({ ends }) => ends === 1)), byMessageMs)
      assert.equal((await api.get('/me', held.key)).status, 401)
      // They hear of what comes later, and have heard of nothing before it.
      const admin = await api.signInAs('admin')
      await api.put(`/api/admin/users/${held.owner.id}/roles`, { roles: ['viewer'] }, admin.access)
      const later = { ends: 0, changes: [['viewer']] }
      await eventually(() =>
        assert.deepEqual(
          bystanders.map(({ ends, changes }) => ({ ends, changes })),
          [later, later],
        ),
      )
    })
  }

  test('hear of a role that its owner loses, also where the key holds none', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const listed = await hold(api, ['editor'], { permissions: ['posts.*'] })
    const whole = await makeKey(api, listed.owner.access)
    const connections = [await api.open(listed.key), await api.open(whole.key)]
    const roles = `/api/admin/users/${listed.owner.id}/roles`
    await api.put(roles, { roles: ['viewer'] }, admin.access)
    await eventually(
      () =>
        assert.deepEqual(
          connections.map(({ changes }) => changes),
          [[[]], [['viewer']]],
        ),
      byMessageMs,
    )
    await api.put(roles, { roles: ['viewer'] }, admin.access)
    await api.put(roles, { roles: ['editor'] }, admin.access)
    await eventually(() =>
      assert.deepEqual(
        connections.map(({ changes }) => changes),
        [
          [[], []],
          [['viewer'], ['editor']],
        ],
      ),
    )
  })
})

const newsElements = [
  objectType({ name: 'News', fields: { text: 'String' } }),
  subscription({
    name: 'news',
    type: 'News',
    access: { permission: 'posts.update' },
    async *subscribe(_args, { values }) {
      yield* values('news')
    },
  }),
]
const request = { query: 'subscription { news { text } }' }

onAnyEngine('sockets of an API key', (engine) => {
  const shared = shareService(startSocketApi, { engine, elements: newsElements })

  test('get what both the key and its owner may, in either protocol, and are closed when it is ended', async (t) => {
    const api = await shared()
    const owner = await api.signInAs('editor')
    const good = await makeKey(api, owner.access, { permissions: ['posts.*'] })
    const poor = await makeKey(api, owner.access, { permissions: ['media.*'] })

    const transport = await openTransport(t, api.wsUrl, { authorization: `Bearer ${good.key}` })
    transport.send({ type: 'subscribe', id: '1', payload: request })
    const plain = await openSocket(t, api.wsUrl, { token: good.key })
    plain.send({ id: '1', ...request })
    await api.subscribed(2)
    const refused = await openTransport(t, api.wsUrl, { authorization: `Bearer ${poor.key}` })
    refused.send({ type: 'subscribe', id: '1', payload: request })
    const error = await refused.next()
    assert.deepEqual([error.type, error.payload[0].extensions.code], ['error', 'FORBIDDEN'])

    await api.parts.topics.publish('news', { text: 'first' })
    assert.deepEqual((await transport.next()).payload.data, { news: { text: 'first' } })
    assert.equal(JSON.stringify(await plain.next()).includes('first'), true)
    assert.equal((await api.delete(`/api/auth/keys/${good.id}`, owner.access)).status, 204)
    const codes = await Promise.all([transport.closed, plain.closed])
    assert.deepEqual(
      codes.map(({ code }) => code),
      [4403, 4403],
    )
    await api.subscribed(0)
    assert.equal(refused.ws.readyState, refused.ws.OPEN, "another key's socket stays")
  })

  test('lose a subscription with the role of the owner that it needs', async (t) => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const owner = await api.signInAs('editor')
    const { key } = await makeKey(api, owner.access, { permissions: ['posts.*'] })
    const socket = await openTransport(t, api.wsUrl, { authorization: `Bearer ${key}` })
    socket.send({ type: 'subscribe', id: '1', payload: request })
    await api.subscribed(1)
    await api.put(`/api/admin/users/${owner.id}/roles`, { roles: ['viewer'] }, admin.access)
    const error = await socket.next()
    assert.deepEqual([error.type, error.payload[0].extensions.code], ['error', 'FORBIDDEN'])
    await api.subscribed(0)
  })

  test('of fifty requests that race with the end of their key, none succeeds after it', async () => {
    const api = await shared()
    for (let round = 0; round < amount({ full: 4, otherwise: 2 }); round++) {
      const { owner, id, key } = await hold(api, ['editor'])
      let isEnded = false
      const racing = many(50, async (i) => {
        await sleep(i % 10)
        const wasEnded = isEnded
        const { status } = await api.get('/me', key)
        return { wasEnded, status }
      })
      const ended = await api.delete(`/api/auth/keys/${id}`, owner.access)
      isEnded = true
      assert.equal(ended.status, 204)
      const after = await many(50, async () => (await api.get('/me', key)).status)
      assert.deepEqual([...new Set(after)], [401])
      const answers = await racing
      assert.ok(answers.every(({ status }) => status === 200 || status === 401))
      assert.ok(answers.every(({ wasEnded, status }) => !wasEnded || status === 401))
    }
    const twice = await hold(api, ['editor'])
    const ends = await many(10, () => api.delete(`/api/auth/keys/${twice.id}`, twice.owner.access))
    assert.deepEqual(ends.map(({ status }) => status).sort(), [204, ...Array.from({ length: 9 }, () => 404)])
  })
})

if (engines.includes('postgres')) {
  const pairs: [string, (t: TestContext) => Promise<Record<string, string>>][] = [
    ['PostgreSQL', async (t) => ({ DATABASE_URL: await createDatabaseUrl(t, 'postgres', { isMigrated: true }) })],
    [
      'Redis',
      async (t) => ({
        DATABASE_URL: await createDatabaseUrl(t, 'sqlite', { isMigrated: true }),
        REDIS_URL: testServer('TEST_REDIS_URL'),
      }),
    ],
  ]
  for (const [what, envOf] of pairs) {
    test(`over ${what}, a key that is ended on one node is refused and closed on another at once`, async (t) => {
      const env = await envOf(t)
      const [one, two] = [await startWatchingApi(t, { env }), await startWatchingApi(t, { env })]
      const admin = await one.signInAs('admin')
      const held = await hold(one, ['editor'], { permissions: ['posts.*'], expires_at: soon(one) })
      const expiring = await makeKey(one, held.owner.access, { expires_at: soon(one) })
      const [here, there, last] = [await one.open(held.key), await two.open(held.key), await two.open(expiring.key)]
      assert.equal((await two.get('/me', held.key)).status, 200)
      await one.put(`/api/admin/users/${held.owner.id}/roles`, { roles: ['viewer'] }, admin.access)
      await eventually(() => assert.deepEqual([here.changes.length, there.changes.length], [1, 1]), byMessageMs)
      assert.equal((await one.delete(`/api/auth/keys/${held.id}`, held.owner.access)).status, 204)
      assert.equal((await two.get('/me', held.key)).status, 401)
      await eventually(() => assert.deepEqual([here.ends, there.ends, last.ends], [1, 1, 0]), byMessageMs)
      two.clock.advance(600)
      assert.equal((await two.get('/me', expiring.key)).status, 401)
      await eventually(() => assert.equal(last.ends, 1), byMessageMs)
    })
  }
}
