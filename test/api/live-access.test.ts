/** Open connections follow changes of their user's access. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLiveAccess } from '../../src/platform/access/live-access.ts'
import { createMemoryBus } from '../../src/platform/bus/memory.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { type Owner, share, unlimitedRates } from '../support/api.ts'
import { createNode } from '../support/buses.ts'
import { createDatabaseUrl, engines, onAnyEngine, testServer } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { again, password, type SignedIn, signIn } from '../support/people.ts'
import { startProxy } from '../support/proxy.ts'
import { freePort } from '../support/servers.ts'
import { testInFull } from '../support/test-in-full.ts'
import { chosen } from '../support/tiers.ts'
import { type Open, startWatchingApi, type WatchingApi } from '../support/watched-connections.ts'

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

/** Some wait for the next periodic check. */
const concurrency = 4

/** An open connection is notified of roles, one that has ended is not; so one that hears of this has stayed open. */
async function assertStaysOpen(api: WatchingApi, user: SignedIn, connection: Open): Promise<void> {
  const admin = await api.signInAs('admin')
  const changes = [...connection.changes, ['viewer']]
  await api.put(`/api/admin/users/${user.id}/roles`, { roles: ['viewer'] }, admin.access)
  await eventually(() => assert.deepEqual(connection.changes, changes), byMessageMs)
  assert.equal(connection.ends, 0)
}

onAnyEngine(
  'open connections',
  (engine) => {
    const shared = share((owner) => startWatchingApi(owner, { engine, env: unlimitedRates }))

    test('follow changes by the command line within about ten seconds if the database cannot notify', async () => {
      const api = await shared()
      const user = await api.signInAs('editor')
      const connections = await Promise.all(Array.from({ length: 60 }, () => api.open(user.access)))
      // Once a connection that was opened later has been checked, so have these.
      const gone = await signIn(api)
      const last = await api.open(gone.access)
      await api.post('/api/auth/logout', {}, gone.access)
      await eventually(() => assert.equal(last.ends, 1), byMessageMs)
      // Bypasses the bus, as the command line does on SQLite.
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
        assert.deepEqual(other.changes, [])
        await assertStaysOpen(api, bystander, other)
        assert.deepEqual(
          connections.map(({ ends, changes }) => [ends, changes]),
          [
            [1, []],
            [1, []],
          ],
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
      await assertStaysOpen(api, one, second)
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
      const next = await api.open(user.access)
      await setRoles(['editor'])
      await eventually(() => assert.deepEqual(next.changes, [['editor']]), byMessageMs)
      assert.equal(connection.changes.length, 2)
    })

    test('end when their token expires, not before', async (t) => {
      const api = await startWatchingApi(t, { engine, env: { JWT_ACCESS_TTL: '600' } })
      const user = await signIn(api)
      const earlier = await api.open(user.access)
      api.clock.advance(100)
      const later = await api.open((await again(api, user)).access)
      api.clock.advance(500)
      await eventually(() => assert.equal(earlier.ends, 1), byMessageMs)
      assert.equal(later.ends, 0)
      api.clock.advance(100)
      await eventually(() => assert.equal(later.ends, 1), byMessageMs)
    })

    test('end if the token was revoked between its check and the watch', async () => {
      const api = await shared()
      const user = await signIn(api)
      const principal = await api.parts.authenticate(user.access)
      assert.ok(principal)
      const watched = await api.open(user.access)
      await api.post('/api/auth/logout', {}, user.access)
      await eventually(() => assert.equal(watched.ends, 1), byMessageMs)
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

const service = share((owner) => startWatchingApi(owner, { env: { ...unlimitedRates, JWT_ACCESS_TTL: '600' } }))

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
  const api = await service()
  const { liveAccess, bus, asked } = await startWatch(t, api)
  const user = await signIn(api)
  const tokens = [user.access, (await again(api, user)).access]
  const stranger = await signIn(api)
  for (const token of [...tokens, stranger.access]) for (let i = 0; i < 50; i++) await api.open(token, liveAccess)
  await eventually(() => assert.ok(tokens.every((token) => asked.includes(token))))
  asked.length = 0
  await bus.publish('access', { userId: user.id })
  await eventually(() => assert.ok(tokens.every((token) => asked.includes(token))), byMessageMs)
  // One for the message, perhaps one for opening and one for the periodic check; not fifty.
  assert.ok(asked.filter((token) => token === user.access).length <= 3, String(asked.length))
})

test('invalid messages are ignored', async (t) => {
  const api = await service()
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
  const api = await service()
  const { liveAccess, bus, asked, fail } = await startWatch(t, api)
  const [gone, stays] = [await signIn(api), await signIn(api)]
  api.clock.advance(300)
  const late = await again(api, gone)
  const connections = [await api.open(gone.access, liveAccess), await api.open(stays.access, liveAccess)]
  const lateConnection = await api.open(late.access, liveAccess)
  await eventually(() => assert.equal(new Set(asked).size, 3))
  fail(new Error('the database is away'))
  await api.post('/api/auth/logout', {}, late.access)
  asked.length = 0
  await bus.publish('access', { userId: gone.id })
  // What fails is tried again, so a second attempt follows the end of the first.
  await eventually(() => assert.equal(asked.filter((token) => token === late.access).length, 2), byMessageMs)
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

test('one connection that fails to be notified does not affect the others', async () => {
  const api = await service()
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
  const api = await service()
  const { liveAccess, bus } = await startWatch(t, api)
  const user = await signIn(api)
  const connection = await api.open(user.access, liveAccess)
  await liveAccess.close()
  const { liveAccess: open } = await startWatch(t, api, bus)
  const listening = await api.open(user.access, open)
  await api.post('/api/auth/logout', {}, user.access)
  await bus.publish('access', { userId: user.id })
  await eventually(() => assert.equal(listening.ends, 1), byMessageMs)
  // Two sweeps of the watch that is open: the closed one would have had one meanwhile.
  for (let sweep = 0; sweep < 2; sweep++) {
    const expiring = await api.open((await signIn(api)).access, open)
    api.clock.advance(100_000)
    await eventually(() => assert.equal(expiring.ends, 1), byMessageMs)
  }
  assert.equal(connection.ends, 0)
})

if (engines.includes('postgres')) {
  test('changes during an outage of the bus are found when it is back', async (t) => {
    const api = await service()
    const node = await createNode(t, 'redis')
    const { liveAccess, asked } = await startWatch(t, api, node.bus)
    const user = await signIn(api)
    const connection = await api.open(user.access, liveAccess)
    await eventually(() => assert.ok(asked.includes(user.access)))
    await node.cut()
    await api.post('/api/auth/logout', {}, user.access)
    node.restore()
    await eventually(() => assert.ok(node.bus.isUp()))
    await eventually(() => assert.equal(connection.ends, 1), byMessageMs)
  })

  const startTwo = async (owner: Owner, engine: Dialect, more: Record<string, string> = {}) => {
    const DATABASE_URL = await createDatabaseUrl(owner, engine, { isMigrated: true })
    const env = { ...unlimitedRates, DATABASE_URL, ...more }
    return { env, nodes: [await startWatchingApi(owner, { env }), await startWatchingApi(owner, { env })] as const }
  }
  /** Two nodes with one database, and what carries their messages. */
  const pairs = {
    PostgreSQL: share((owner) => startTwo(owner, 'postgres')),
    Redis: share((owner) => startTwo(owner, 'sqlite', { REDIS_URL: testServer('TEST_REDIS_URL') })),
  }
  for (const [what, pair] of Object.entries(pairs)) {
    test(`over ${what}, what happens on one node reaches connections of another at once`, async () => {
      const [one, two] = (await pair()).nodes
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

  async function assertReaches(api: WatchingApi, env: Record<string, string>): Promise<void> {
    const user = await api.signInAs('editor')
    const connection = await api.open(user.access)
    const ended = await runLoaded(['user:roles', user.email, '--set', 'viewer'], { env })
    assert.deepEqual([ended.code, ended.stderr], [0, ''])
    await eventually(() => assert.deepEqual(connection.changes, [['viewer']]), byMessageMs)
  }

  test('user:roles reaches a running service, over PostgreSQL and over Redis', async () => {
    // The next test does the same over slow connections.
    for (const pair of chosen(Object.values(pairs), (each) => each === pairs.PostgreSQL)) {
      const { env, nodes } = await pair()
      await assertReaches(nodes[0], env)
    }
  })

  testInFull('user:roles waits for a slow Redis and PostgreSQL, and reaches the service', async (t) => {
    const [postgres, redis] = [await pairs.PostgreSQL(), await pairs.Redis()]
    const slowRedis = (await startProxy(t, testServer('TEST_REDIS_URL'), 700)).url
    const slowPostgres = (await startProxy(t, postgres.env.DATABASE_URL, 400)).url
    await Promise.all([
      assertReaches(redis.nodes[0], { ...redis.env, REDIS_URL: slowRedis }),
      assertReaches(postgres.nodes[0], { ...postgres.env, DATABASE_URL: slowPostgres }),
    ])
  })
}

test('user:roles works while Redis is unavailable', async () => {
  const api = await service()
  const user = await signIn(api)
  const env = { DATABASE_URL: api.databaseUrl, REDIS_URL: `redis://127.0.0.1:${await freePort()}` }
  const ended = await runLoaded(['user:roles', user.email, '--add', 'viewer'], { env })
  assert.deepEqual([ended.code, ended.stdout], [0, `${user.email}: viewer\n`])
  assert.match(ended.stderr, /could not be told/)
})
