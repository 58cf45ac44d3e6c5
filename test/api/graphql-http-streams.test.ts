/** Server-sent events, in the "distinct connections mode" of graphql-sse. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../../src/platform/graphql/execution/engine.types.ts'
import { subscription } from '../../src/platform/graphql/schema/elements.ts'
import { type ApiOptions, share, unlimitedRates } from '../support/api.ts'
import { forEngines, onAnyEngine } from '../support/databases.ts'
import { openStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { codeOf, graphqlPath, send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { createProduct } from '../support/products.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const counter = 'subscription { counter { count } }'
const counted = (count: number) => ({ event: 'next', data: { data: { counter: { count } } } })
const completed = { event: 'complete', data: undefined }

const guarded = [
  subscription({
    name: 'forAdmins',
    type: 'Int',
    access: { role: 'admin' },
    async *subscribe(_args, { values }) {
      yield* values('admins')
    },
  }),
  subscription({
    name: 'forEditors',
    type: 'Int',
    access: { permission: 'posts.update' },
    async *subscribe(_args, { values }) {
      yield* values('editors')
    },
  }),
]

const big = 'x'.repeat(100_000)

const ending = [
  subscription({
    name: 'two',
    type: 'Int',
    access: 'public',
    async *subscribe() {
      yield 1
      yield 2
    },
  }),
  subscription({
    name: 'failing',
    type: 'Int',
    access: 'public',
    // biome-ignore lint/correctness/useYield: it fails before it has anything to tell
    async *subscribe() {
      throw new Error('a secret of the generator')
    },
  }),
  subscription({
    name: 'flood',
    type: 'String',
    access: 'public',
    async *subscribe() {
      for (let i = 0; i < 2000; i++) {
        yield big
        await sleep(1)
      }
    },
  }),
]

async function start(t: Parameters<typeof startApiWithRoles>[0], options: ApiOptions) {
  let engine: Engine | undefined
  const api = await startApiWithRoles(t, {
    ...options,
    extend(_app, parts) {
      engine = parts.engine
    },
  })
  return { ...api, counts: () => (engine as Engine).counts() }
}

type StreamApi = Awaited<ReturnType<typeof start>>

/** Returns a service that tests share, once nothing of the test before is open. */
function shareStreams(options: ApiOptions): () => Promise<StreamApi> {
  const shared = share((owner) => start(owner, { ...options, env: { ...unlimitedRates, ...options.env } }))
  return async () => {
    const api = await shared()
    await eventually(() => assert.deepEqual(api.counts(), { subscribers: 0, sources: 0 }))
    return api
  }
}

const countPosts = async (api: ApiWithRoles): Promise<number> =>
  (await send(api, '{ posts { id } }')).body.data.posts.length

const createPost = (api: ApiWithRoles) => send(api, 'mutation { createPost(title: "a", body: "b") }')

const services = forEngines((engine) => shareStreams({ engine, elements: [...guarded, ...ending] }))

onAnyEngine('event streams', (engine) => {
  const shared = services[engine]

  for (const method of ['POST', 'GET'] as const) {
    test(`a subscription over ${method} delivers every value until the client disconnects`, async (t) => {
      const api = await shared()
      const before = await countPosts(api)
      const stream = await openStream(t, api.url, counter, { method })
      assert.equal(stream.response.statusCode, 200)
      assert.equal(stream.response.headers['content-type'], 'text/event-stream; charset=utf-8')
      assert.equal(stream.response.headers['cache-control'], 'no-store')
      assert.equal(stream.response.headers['x-accel-buffering'], 'no')
      assert.ok(stream.response.headers['x-request-id'])
      assert.equal(stream.response.headers['access-control-allow-origin'], '*')
      for (let i = 0; i < 5; i++) await createPost(api)
      await eventually(() =>
        assert.deepEqual(
          stream.events,
          [1, 2, 3, 4, 5].map((n) => counted(before + n)),
        ),
      )
      assert.deepEqual(api.counts(), { subscribers: 1, sources: 1 })
      stream.close()
      await eventually(() => assert.deepEqual(api.counts(), { subscribers: 0, sources: 0 }))
      assert.ok(api.log.some((line) => line.includes('"path":"/graphql","status":200')))
    })
  }

  test('productCreated delivers products created over REST', async (t) => {
    const api = await shared()
    const { access } = await signIn(api)
    const stream = await openStream(t, api.url, 'subscription { productCreated { name price inStock } }')
    await createProduct(api, access, { name: 'Lamp', price: 5 })
    await eventually(() =>
      assert.deepEqual(stream.events, [
        { event: 'next', data: { data: { productCreated: { name: 'Lamp', price: 5, inStock: true } } } },
      ]),
    )
  })

  test('queries and mutations return one event and the end, mutations only over POST', async (t) => {
    const api = await shared()
    const mutation = 'mutation { createPost(title: "a", body: "b") }'
    const id = (await countPosts(api)) + 1
    const made = await openStream(t, api.url, mutation)
    await made.ended
    assert.deepEqual(made.events, [{ event: 'next', data: { data: { createPost: id } } }, completed])
    for (const method of ['POST', 'GET'] as const) {
      const listed = await openStream(t, api.url, `{ post(id: ${id}) { id } }`, { method })
      await listed.ended
      assert.deepEqual(listed.events, [{ event: 'next', data: { data: { post: { id: String(id) } } } }, completed])
    }
    const refused = await openStream(t, api.url, mutation, { method: 'GET' })
    assert.deepEqual([refused.response.statusCode, refused.response.headers.allow], [405, 'POST'])
    assert.equal(await countPosts(api), id)
  })

  test('an error in a document is sent as an event, as in graphql-sse; an invalid token gets a status', async (t) => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const [document, code, token] of [
      ['subscription {', 'GRAPHQL_PARSE_FAILED'],
      ['subscription { unknown }', 'GRAPHQL_VALIDATION_FAILED'],
      ['subscription ($n: Int!) { counter { count @include(if: true) } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['query ($n: Int!) { posts(limit: $n) { id } }', 'BAD_USER_INPUT'],
      ['subscription { forAdmins }', 'UNAUTHENTICATED'],
      ['subscription { forAdmins }', 'FORBIDDEN', access],
    ] as const) {
      for (const method of ['GET', 'POST'] as const) {
        const { response, events, ended } = await openStream(t, api.url, document, { method, token })
        await ended
        assert.equal(response.statusCode, 200)
        assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8')
        assert.deepEqual([codeOf(events[0]?.data), events[1], events.length], [code, completed, 2], document)
      }
    }
    const refused = await send(api, counter, { headers: { accept: 'text/event-stream' }, token: 'nonsense' })
    assert.deepEqual([refused.status, codeOf(refused.body)], [401, 'UNAUTHENTICATED'])
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    assert.deepEqual(api.counts(), { subscribers: 0, sources: 0 })
  })

  test('a subscription that ends sends complete, one that fails sends the error first', async (t) => {
    const api = await shared()
    const ended = await openStream(t, api.url, 'subscription { two }')
    await ended.ended
    assert.deepEqual(ended.events, [
      { event: 'next', data: { data: { two: 1 } } },
      { event: 'next', data: { data: { two: 2 } } },
      completed,
    ])
    const failed = await openStream(t, api.url, 'subscription { failing }')
    await failed.ended
    assert.deepEqual(failed.events, [
      {
        event: 'next',
        data: { errors: [{ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
      },
      completed,
    ])
    assert.deepEqual(api.counts(), { subscribers: 0, sources: 0 })
  })

  test('a stream ends with its session, and when the user loses the required role', async (t) => {
    const api = await shared()
    const [user, editor, admin] = [await signIn(api), await api.signInAs('editor'), await api.signInAs('admin')]
    const own = await openStream(t, api.url, counter, { token: user.access })
    const guardedStream = await openStream(t, api.url, 'subscription { forEditors }', { token: editor.access })
    const open = await openStream(t, api.url, counter, { token: editor.access })

    await api.post('/api/auth/logout', {}, user.access)
    await own.ended
    assert.deepEqual(
      own.events.map(({ event, data }) => data?.errors?.[0].extensions.code ?? event),
      ['UNAUTHENTICATED', 'complete'],
    )
    await api.put(`/api/admin/users/${editor.id}/roles`, { roles: ['viewer'] }, admin.access)
    await guardedStream.ended
    assert.deepEqual(
      guardedStream.events.map(({ event, data }) => data?.errors?.[0].extensions.code ?? event),
      ['FORBIDDEN', 'complete'],
    )
    await createPost(api)
    const posts = await countPosts(api)
    await eventually(() => assert.deepEqual(open.events, [counted(posts)]))
    assert.deepEqual(api.counts(), { subscribers: 1, sources: 1 })
  })

  test('streams are cut off when the service stops, without complete, so that clients reconnect', async (t) => {
    const api = await start(t, { engine })
    const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(t, api.url, counter)))
    // Reads nothing, not even the close message.
    const silent = await openStream(t, api.url, counter)
    silent.response.pause()
    const startedAt = performance.now()
    await api.app.close()
    assert.ok(performance.now() - startedAt < 9000, 'not after the ten seconds that requests in flight are given')
    for (const { ended, events } of streams) {
      await ended
      assert.deepEqual(events, [])
    }
  })
})

const service = services.sqlite
const withThree = shareStreams({ env: { GQL_WS_MAX_PER_ADDRESS: '3' } })

test('identical subscriptions share a source, whatever else they send', async (t) => {
  const api = await service()
  for (let n = 0; n < 3; n++) await openStream(t, api.url, counter, { variables: { n, filling: 'x'.repeat(1000) } })
  assert.deepEqual(api.counts(), { subscribers: 3, sources: 1 })
})

test('an address has a limit of open streams, and refused ones do not count', async (t) => {
  const api = await withThree()
  const [first] = [
    await openStream(t, api.url, counter),
    await openStream(t, api.url, counter),
    await openStream(t, api.url, counter),
  ]
  const headers = { accept: 'text/event-stream' }
  const fourth = await send(api, counter, { headers })
  assert.deepEqual([fourth.status, codeOf(fourth.body)], [429, 'TOO_MANY_REQUESTS'])
  assert.ok(Number(fourth.headers.get('retry-after')) > 0)
  first?.close()
  await eventually(async () => {
    const again = await openStream(t, api.url, counter)
    if (again.response.statusCode !== 200) again.close()
    assert.equal(again.response.statusCode, 200)
    again.close()
  })
  for (let i = 0; i < 5; i++) assert.equal((await send(api, 'subscription { no }', { headers })).status, 200)
  await eventually(async () => {
    const again = await openStream(t, api.url, '{ __typename }')
    assert.equal(again.response.statusCode, 200)
  })
})

test('an idle stream gets a comment every 12 seconds as a keep-alive', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const api = await start(t, {})
  const streams = [await openStream(t, api.url, counter), await openStream(t, api.url, counter)]
  for (let i = 1; i <= 3; i++) {
    for (const { comments } of streams) await eventually(() => assert.equal(comments(), i))
    t.mock.timers.tick(12_000)
  }
})

test('a client that does not read is disconnected, and the others are not delayed', async (t) => {
  const api = await service()
  const reader = await openStream(t, api.url, counter)
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').pause()
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  const document = encodeURIComponent('subscription { flood }')
  socket.write(`GET ${graphqlPath}?query=${document} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n`)
  await eventually(() => assert.equal(api.counts().subscribers, 2))
  await eventually(() => assert.equal(api.counts().subscribers, 1))
  assert.ok(api.log.some((line) => line.includes('its reader is too slow')))
  await createPost(api)
  const posts = await countPosts(api)
  await eventually(() => assert.deepEqual(reader.events, [counted(posts)]))
})

test('clients that disconnect midway leave nothing behind', async (t) => {
  const api = await service()
  for (let round = 0; round < 10; round++) {
    const sockets = Array.from({ length: 20 }, (_, i) => {
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1').on('error', () => {})
      const document = encodeURIComponent(counter)
      socket.write(`GET ${graphqlPath}?query=${document} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n`)
      setTimeout(() => socket.destroy(), i % 7)
      return socket
    })
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  }
  await eventually(() => assert.deepEqual(api.counts(), { subscribers: 0, sources: 0 }))
  const after = await openStream(t, api.url, counter)
  await createPost(api)
  const posts = await countPosts(api)
  await eventually(() => assert.deepEqual(after.events, [counted(posts)]))
})

test('a stream that waits behind another on the same connection ends with the connection', async (t) => {
  const api = await withThree()
  const ask = `GET ${graphqlPath}?query=${encodeURIComponent(counter)} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n`
  for (let round = 0; round < 3; round++) {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1').on('error', () => {})
    t.after(() => socket.destroy())
    socket.write(ask.repeat(3))
    await eventually(() => assert.equal(api.counts().subscribers, 3))
    socket.destroy()
    await eventually(() => assert.deepEqual(api.counts(), { subscribers: 0, sources: 0 }))
  }
})
