/** Open connections follow changes of their user's access. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLiveAccess } from '../../src/platform/access/live-access.ts'
import { createMemoryBus } from '../../src/platform/bus/memory.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { createNode } from '../support/buses.ts'
import { createDatabaseUrl, engines, onAnyEngine, testServer } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { again, password, type SignedIn, signIn } from '../support/people.ts'
import { latchkey } from '../support/process.ts'
import { startProxy } from '../support/proxy.ts'
import { freePort } from '../support/servers.ts'
import { startWatchingApi, type WatchingApi } from '../support/watched-connections.ts'

const log = createLogger({ level: 'silent', isTerminal: false })

/** Everything that ends a user's tokens. */
const endings: Record<string, (api: WatchingApi, user: SignedIn) => Promise<unknown>> = {
  logout: (api, user) => api.post('/api/auth/logout', {}, user.access),
  'logout of all devices': async (api, user) =>
    api.post('/api/auth/logout', { all_devices: true }, (await again(api, user)).access),
  'a session ended from another': async (api, user) => {
    const other = await again(api, user)
    const { body } = await api.get('/api/auth/sessions', other.access)
    const { id } = body.data.find(({ current }: { current: boolean }) => !current)
    assert.equal((await api.delete(`/api/auth/sessions/${id}`, other.access)).status, 204)
  },
  'a refresh token presented twice': async (api, { refresh }) => {
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: refresh })).status, 200)
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: refresh })).status, 401)
  },
  'a changed password': async (api, { access }) => {
    const body = { current_password: password, new_password: 'Another-Horse-2' }
    assert.equal((await api.post('/api/auth/password', body, access)).status, 200)
  },
  'a reset password': async (api, { email }) => {
    await api.post('/api/auth/password/forgot', { email })
    const token = await eventually(() => {
      const found = /Reset token: ([\w-]{43})/.exec(api.log.join(''))
      assert.ok(found)
      return found[1]
    })
    assert.equal((await api.post('/api/auth/password/reset', { token, password: 'Another-Horse-2' })).status, 200)
  },
  'sessions ended by an administrator': async (api, { id }) => {
    const admin = await api.signInAs('admin')
    assert.equal((await api.delete(`/api/admin/users/${id}/sessions`, admin.access)).status, 204)
  },
}

/** Each test waits to see that something does not happen. */
const concurrency = 4

onAnyEngine(
  'open connections',
  (engine) => {
    const shared = share((owner) => startWatchingApi(owner, { engine, env: unlimitedRates }))

    test('follow changes by the command line within about ten seconds if the database cannot notify', async (t) => {
      const api = await startWatchingApi(t, { engine })
      const user = await api.signInAs('editor')
      const connections = await Promise.all(Array.from({ length: 60 }, () => api.open(user.access)))
      // Bypasses the bus, as the command line does on SQLite.
      await sleep(500)
      await api.grant(user, 'viewer')
      await eventually(() => assert.ok(connections.every(({ changes }) => changes.length === 1)))
      assert.deepEqual(connections[0]?.changes, [['viewer']])
    })

    for (const [name, end] of Object.entries(endings)) {
      test(`end at once after ${name}, but only those of this user`, async () => {
        const api = await shared()
        const [user, bystander] = [await signIn(api), await signIn(api)]
        const connections = [await api.open(user.access), await api.open(user.access)]
        const other = await api.open(bystander.access)
        await end(api, user)
        await eventually(() => assert.ok(connections.every(({ ends }) => ends === 1)), byMessageMs)
        await sleep(500)
        assert.deepEqual(
          [...connections, other].map(({ ends }) => ends),
          [1, 1, 0],
        )
        assert.deepEqual(
          [...connections, other].flatMap(({ changes }) => changes),
          [],
        )
      })
    }

    test('of a session stay open when another session of the same user ends', async () => {
      const api = await shared()
      const one = await signIn(api)
      const two = await again(api, one)
      const [first, second] = [await api.open(one.access), await api.open(two.access)]
      await api.post('/api/auth/logout', {}, one.access)
      await eventually(() => assert.equal(first.ends, 1), byMessageMs)
      await sleep(100)
      assert.equal(second.ends, 0)
    })

    test('are notified of granted and removed roles, with the current roles', async () => {
      const api = await shared()
      const admin = await api.signInAs('admin')
      const user = await api.signInAs('editor', 'viewer')
      const connection = await api.open(user.access)
      const setRoles = (roles: string[]) => api.put(`/api/admin/users/${user.id}/roles`, { roles }, admin.access)
      await setRoles(['viewer'])
      await eventually(() => assert.deepEqual(connection.changes, [['viewer']]), byMessageMs)
      await setRoles(['viewer'])
      await setRoles([])
      await eventually(() => assert.deepEqual(connection.changes, [['viewer'], []]), byMessageMs)
      assert.equal(connection.ends, 0)
      connection.stop()
      connection.stop()
      await setRoles(['editor'])
      await sleep(200)
      assert.equal(connection.changes.length, 2)
    })

    test('end when their token expires, not before', async (t) => {
      const api = await startWatchingApi(t, { engine, env: { JWT_ACCESS_TTL: '600' } })
      const user = await signIn(api)
      const connection = await api.open(user.access)
      api.clock.advance(500)
      await sleep(900)
      assert.equal(connection.ends, 0)
      api.clock.advance(100)
      await eventually(() => assert.equal(connection.ends, 1), byMessageMs)
    })

    test('end if the token was revoked between its check and the watch', async () => {
      const api = await shared()
      const user = await signIn(api)
      const principal = await api.parts.authenticate(user.access)
      assert.ok(principal)
      await api.post('/api/auth/logout', {}, user.access)
      await sleep(100)
      let ends = 0
      const onEnd = () => {
        ends += 1
      }
      api.parts.liveAccess.watch({ token: user.access, principal, onChange: () => {}, onEnd })
      await eventually(() => assert.equal(ends, 1), byMessageMs)
    })
  },
  { concurrency },
)

/** A separate watch over the real service of `api`, which counts its queries and can be made to fail. */
async function startWatch(t: TestContext, api: WatchingApi, bus = createMemoryBus({ log })) {
  const asked: string[] = []
  let failure: Error | undefined
  const liveAccess = await createLiveAccess({
    async authenticate(token) {
      asked.push(token)
      if (failure) throw failure
      return api.parts.authenticate(token)
    },
    bus,
    clock: api.clock,
    log,
  })
  t.after(() => liveAccess.close())
  const fail = (error?: Error) => {
    failure = error
  }
  return { liveAccess, bus, asked, fail }
}

test('a message about a user costs one query per token, however many connections are open', async (t) => {
  const api = await startWatchingApi(t)
  const { liveAccess, bus, asked } = await startWatch(t, api)
  const user = await signIn(api)
  const tokens = [user.access, (await again(api, user)).access]
  const stranger = await signIn(api, 'stranger@example.com')
  for (const token of [...tokens, stranger.access]) for (let i = 0; i < 50; i++) await api.open(token, liveAccess)
  await eventually(() => assert.ok(tokens.every((token) => asked.includes(token))))
  asked.length = 0
  await bus.publish('access', { userId: user.id })
  await eventually(() => assert.ok(tokens.every((token) => asked.includes(token))), byMessageMs)
  // One for the message, perhaps one for opening and one for the periodic check; not fifty.
  assert.ok(asked.filter((token) => token === user.access).length <= 3, String(asked.length))
})

test('invalid messages are ignored', async (t) => {
  const api = await startWatchingApi(t)
  const { liveAccess, bus } = await startWatch(t, api)
  const user = await signIn(api)
  const connection = await api.open(user.access, liveAccess)
  for (const message of [null, 1, 'x', [], {}, { userId: 'x' }, { userId: { deep: 1 } }])
    await bus.publish('access', message)
  await api.post('/api/auth/logout', {}, user.access)
  await bus.publish('access', { userId: user.id })
  await eventually(() => assert.equal(connection.ends, 1), byMessageMs)
})

test('while the database is unavailable connections end only by expiry; afterwards everything is checked', async (t) => {
  const api = await startWatchingApi(t, { env: { JWT_ACCESS_TTL: '600' } })
  const { liveAccess, bus, fail } = await startWatch(t, api)
  const [gone, stays] = [await signIn(api), await signIn(api, 'stays@example.com')]
  api.clock.advance(300)
  const late = await again(api, gone)
  const connections = [await api.open(gone.access, liveAccess), await api.open(stays.access, liveAccess)]
  const lateConnection = await api.open(late.access, liveAccess)
  await sleep(50)
  fail(new Error('the database is away'))
  await api.post('/api/auth/logout', {}, late.access)
  await bus.publish('access', { userId: gone.id })
  await sleep(900)
  assert.deepEqual(
    [...connections, lateConnection].map(({ ends }) => ends),
    [0, 0, 0],
  )
  api.clock.advance(301)
  await eventually(
    () =>
      assert.deepEqual(
        connections.map(({ ends }) => ends),
        [1, 1],
      ),
    byMessageMs,
  )
  assert.equal(lateConnection.ends, 0)
  fail()
  await eventually(() => assert.equal(lateConnection.ends, 1), byMessageMs)
})

test('one connection that fails to be notified does not affect the others', async (t) => {
  const api = await startWatchingApi(t)
  const user = await signIn(api)
  const principal = await api.parts.authenticate(user.access)
  assert.ok(principal)
  const onEnd = () => {
    throw new Error('it fails')
  }
  api.parts.liveAccess.watch({ token: user.access, principal, onChange: () => {}, onEnd })
  const connection = await api.open(user.access)
  await api.post('/api/auth/logout', {}, user.access)
  await eventually(() => assert.equal(connection.ends, 1), byMessageMs)
  assert.match(api.log.join(''), /it fails/)
})

test('a closed watch notifies nobody', async (t) => {
  const api = await startWatchingApi(t)
  const { liveAccess, bus } = await startWatch(t, api)
  const user = await signIn(api)
  const connection = await api.open(user.access, liveAccess)
  await liveAccess.close()
  await api.post('/api/auth/logout', {}, user.access)
  await bus.publish('access', { userId: user.id })
  api.clock.advance(100_000)
  await sleep(900)
  assert.equal(connection.ends, 0)
})

if (engines.includes('postgres')) {
  test('changes during an outage of the bus are found when it is back', async (t) => {
    const api = await startWatchingApi(t)
    const node = await createNode(t, 'redis')
    const { liveAccess } = await startWatch(t, api, node.bus)
    const user = await signIn(api)
    const connection = await api.open(user.access, liveAccess)
    await sleep(500)
    await node.cut()
    await api.post('/api/auth/logout', {}, user.access)
    node.restore()
    await eventually(() => assert.ok(node.bus.isUp()))
    await eventually(() => assert.equal(connection.ends, 1), byMessageMs)
  })

  const pairs: [what: string, start: (t: TestContext) => Promise<[WatchingApi, WatchingApi]>][] = [
    [
      'PostgreSQL',
      async (t) => {
        const env = { DATABASE_URL: await createDatabaseUrl(t, 'postgres', { isMigrated: true }) }
        return [await startWatchingApi(t, { env }), await startWatchingApi(t, { env })]
      },
    ],
    [
      'Redis',
      async (t) => {
        const DATABASE_URL = await createDatabaseUrl(t, 'sqlite', { isMigrated: true })
        const env = { DATABASE_URL, REDIS_URL: testServer('TEST_REDIS_URL') }
        return [await startWatchingApi(t, { env }), await startWatchingApi(t, { env })]
      },
    ],
  ]
  for (const [what, start] of pairs) {
    test(`over ${what}, what happens on one node reaches connections of another at once`, async (t) => {
      const [one, two] = await start(t)
      const admin = await one.signInAs('admin')
      const user = await one.signInAs('editor')
      const [here, there] = [await one.open(user.access), await two.open(user.access)]
      await one.put(`/api/admin/users/${user.id}/roles`, { roles: ['viewer'] }, admin.access)
      await eventually(() => assert.deepEqual([here.changes, there.changes], [[['viewer']], [['viewer']]]), byMessageMs)
      await one.post('/api/auth/logout', {}, user.access)
      await eventually(() => assert.deepEqual([here.ends, there.ends], [1, 1]), byMessageMs)
      assert.deepEqual(
        (await Promise.all([one, two].map((api) => api.get('/health/ready')))).map(({ status }) => status),
        [200, 200],
      )
    })
  }

  test('user:roles reaches a running service, over PostgreSQL and over Redis', async (t) => {
    for (const more of [{}, { REDIS_URL: testServer('TEST_REDIS_URL') }]) {
      const env = { DATABASE_URL: await createDatabaseUrl(t, 'postgres', { isMigrated: true }), ...more }
      const api = await startWatchingApi(t, { env })
      const user = await api.signInAs('editor')
      const connection = await api.open(user.access)
      await sleep(300)
      const ended = await latchkey(['user:roles', user.email, '--set', 'viewer'], { env })
      assert.deepEqual([ended.code, ended.stderr], [0, ''])
      await eventually(() => assert.deepEqual(connection.changes, [['viewer']]), byMessageMs)
    }
  })
}

if (engines.includes('postgres')) {
  test('user:roles waits for a slow Redis and PostgreSQL, and reaches the service', async (t) => {
    const redis = testServer('TEST_REDIS_URL')
    for (const carriedBy of ['redis', 'postgres'] as const) {
      const DATABASE_URL = await createDatabaseUrl(t, 'postgres', { isMigrated: true })
      const own = carriedBy === 'redis' ? { DATABASE_URL, REDIS_URL: redis } : { DATABASE_URL }
      const slow =
        carriedBy === 'redis'
          ? { ...own, REDIS_URL: (await startProxy(t, redis, 700)).url }
          : { DATABASE_URL: (await startProxy(t, DATABASE_URL, 400)).url }
      const api = await startWatchingApi(t, { env: own })
      const user = await api.signInAs('editor')
      const connection = await api.open(user.access)
      const ended = await latchkey(['user:roles', user.email, '--set', 'viewer'], { env: slow })
      assert.deepEqual([ended.code, ended.stderr], [0, ''])
      await eventually(() => assert.deepEqual(connection.changes, [['viewer']]), byMessageMs)
    }
  })
}

test('user:roles works while Redis is unavailable', async (t) => {
  const DATABASE_URL = await createDatabaseUrl(t, 'sqlite', { isMigrated: true })
  const api = await startWatchingApi(t, { env: { DATABASE_URL } })
  const user = await signIn(api)
  const env = { DATABASE_URL, REDIS_URL: `redis://127.0.0.1:${await freePort()}` }
  const ended = await latchkey(['user:roles', user.email, '--add', 'viewer'], { env })
  assert.deepEqual([ended.code, ended.stdout], [0, `${user.email}: viewer\n`])
  assert.match(ended.stderr, /could not be told/)
})
