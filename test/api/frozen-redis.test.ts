/** Redis is frozen or gone: the service works without it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Api, type ApiOptions, startApi } from '../support/api.ts'
import { engines } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { logIn, signIn } from '../support/people.ts'
import { startPrivateRedis } from '../support/private-servers.ts'
import { lamp, productsPath } from '../support/products.ts'
import { openSocket, openTransport } from '../support/sockets.ts'
import { chosen } from '../support/tiers.ts'

async function start(t: TestContext, options: Pick<ApiOptions, 'threads'> = {}) {
  const redis = await startPrivateRedis(t)
  const api = await startApi(t, { env: { REDIS_URL: redis.url, GQL_PUBSUB: 'redis' }, ...options })
  return { redis, api, user: await signIn(api) }
}

const isReady = async (api: Api) => (await api.get('/health/ready')).body

if (engines.includes('postgres')) {
  test('while Redis is frozen stored changes are reported as stored, nothing waits long, and its return is noticed', async (t) => {
    // Each thread has a connection of its own, and tells of it.
    const { redis, api, user } = await start(t, { threads: 1 })
    redis.freeze()

    /** Before the freeze is noticed, and after. */
    for (const round of ['at first', 'later']) {
      const startedAt = performance.now()
      const [post, created, product, login] = await Promise.all([
        api.post('/api/posts', { title: 'A', body: 'B' }, user.access),
        send(api, 'mutation { createPost(title: "A", body: "B") }'),
        api.post(productsPath, lamp, user.access),
        logIn(api, user.email),
      ])
      const took = performance.now() - startedAt
      assert.equal(post.status, 201, round)
      assert.equal((await api.get(`/api/posts/${post.body.data.id}`)).status, 200)
      assert.equal((await api.get(`/api/posts/${created.body.data.createPost}`)).status, 200)
      assert.equal(product.status, 201)
      assert.equal(login.status, 200)
      // Two time limits of less than a second each; the rest allows for a busy machine.
      assert.ok(took < 30_000, `${round}: ${took} ms`)
      await eventually(async () => assert.deepEqual(await isReady(api), { status: 'ok', degraded: ['redis'] }))
    }
    const out = await api.post('/api/auth/logout', {}, user.access)
    assert.equal(out.status, 200)
    assert.equal((await api.get('/me', user.access)).status, 401)

    redis.thaw()
    await eventually(async () => assert.deepEqual(await isReady(api), { status: 'ok' }))
    const socket = await openSocket(t, api.wsUrl)
    socket.send({ query: 'subscription { counter { count } }' })
    await eventually(async () => {
      await send(api, 'mutation { createPost(title: "A", body: "B") }')
      assert.ok(socket.waiting() > 0)
    })
    const away = api.log.filter((line) => line.includes('Redis is away'))
    assert.equal(away.length, 1, 'told once')
    // Checks the limits in the log: the duration of a request says more about the machine.
    const limits = [...api.log.join('').matchAll(/no answer within (\d+) ms/g)].map(([, ms]) => Number(ms))
    assert.ok(limits.length > 0 && Math.max(...limits) <= 1000, `${limits} ms`)
  })

  test('without Redis the node stays ready; metrics and body report it', async (t) => {
    const { redis, api, user } = await start(t)
    assert.match((await api.get('/metrics')).body, /^dependency_up\{dependency="redis"\} 1$/m)
    redis.kill()
    await eventually(async () => {
      const { status, body } = await api.get('/health/ready')
      assert.deepEqual([status, body], [200, { status: 'ok', degraded: ['redis'] }])
    })
    const { body } = await api.get('/metrics')
    assert.match(body, /^dependency_up\{dependency="redis"\} 0$/m)
    assert.match(body, /^dependency_up\{dependency="database"\} 1$/m)
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => api.post('/api/posts', { title: 'A', body: 'B' }, user.access)),
    )
    assert.ok(responses.every(({ status }) => status === 201))
  })

  for (const threads of chosen([1, 2], (each) => each === 2)) {
    test(`without Redis, sockets follow what happens on their own node, with ${threads} threads`, async (t) => {
      const { redis, api, user } = await start(t, { threads })
      const users = [user, ...(await Promise.all(Array.from({ length: 5 }, () => signIn(api))))]
      const sockets = await Promise.all(
        users.map(({ access }) => openTransport(t, api.wsUrl, { authorization: `Bearer ${access}` })),
      )
      for (const { send: sendTo } of sockets) {
        sendTo({ id: '1', type: 'subscribe', payload: { query: 'subscription { counter { count } }' } })
      }
      const areReached = async (values: number) => {
        const { body } = await send(api, 'mutation { createPost(title: "A", body: "B") }')
        assert.ok(body.data.createPost > 0)
        assert.ok(sockets.every(({ waiting }) => waiting() >= values))
      }
      await eventually(() => areReached(1))
      redis.kill()
      await eventually(async () => assert.deepEqual(await isReady(api), { status: 'ok', degraded: ['redis'] }))
      const before = Math.max(...sockets.map(({ waiting }) => waiting()))
      await eventually(() => areReached(before + 1))

      const codes: number[] = []
      for (const { closed } of sockets) void closed.then(({ code }) => codes.push(code))
      for (const { access } of users) assert.equal((await api.post('/api/auth/logout', {}, access)).status, 200)
      await eventually(() => assert.deepEqual(codes, Array(users.length).fill(4403)), byMessageMs)
    })
  }
}
