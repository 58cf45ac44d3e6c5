/** Subscriptions on several nodes of one PostgreSQL database, without Redis. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type Api, startApi } from '../support/api.ts'
import { createDatabaseUrl, engines } from '../support/databases.ts'
import { byMessageMs, eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { startProxy } from '../support/proxy.ts'
import { openTransport, type SocketApi, startSocketApi } from '../support/sockets.ts'

const lonely = /another node uses the same database, but GQL_PUBSUB=in_memory/

const createPost = 'mutation { createPost(title: "A", body: "B") }'

function warningsOf({ log }: { log: string[] }): number {
  return log.filter((line) => lonely.test(line)).length
}

async function watchCounter(t: TestContext, api: SocketApi) {
  const socket = await openTransport(t, api.wsUrl)
  socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { counter { count } }' } })
  await api.subscribed(1)
  return socket
}

if (engines.includes('postgres')) {
  describe('topics between nodes', { concurrency: true }, () => {
    test('with GQL_PUBSUB=postgres, a subscription on any node gets every value once, in order', async (t) => {
      const env = { DATABASE_URL: await createDatabaseUrl(t, 'postgres', { isMigrated: true }), GQL_PUBSUB: 'postgres' }
      const nodes = [await startSocketApi(t, { env }), await startSocketApi(t, { env })]
      const sockets = await Promise.all(nodes.map((node) => watchCounter(t, node)))
      let created = 0
      const create = async () => {
        created += 1
        await send(nodes[created % 2] as SocketApi, createPost)
      }
      // Until both are subscribed: a client is not notified of that.
      await eventually(async () => {
        await create()
        assert.ok(sockets.every((socket) => socket.waiting() > 0))
      })
      for (let i = 0; i < 20; i++) await create()
      for (const socket of sockets) {
        const counts: number[] = []
        while (counts.at(-1) !== created) counts.push((await socket.next()).payload.data.counter.count)
        const first = counts[0] ?? 0
        assert.ok(counts.length > 20)
        assert.deepEqual(
          counts,
          Array.from(counts, (_, i) => first + i),
        )
      }
      assert.deepEqual(nodes.map(warningsOf), [0, 0])
    })

    test('a lost connection is logged, makes the node degraded, and comes back', async (t) => {
      const proxy = await startProxy(t, await createDatabaseUrl(t, 'postgres', { isMigrated: true }))
      const api = await startSocketApi(t, { env: { DATABASE_URL: proxy.url, GQL_PUBSUB: 'postgres' } })
      const socket = await watchCounter(t, api)
      await eventually(async () => {
        await send(api, createPost)
        assert.ok(socket.waiting() > 0)
      })
      const listening = proxy.open().filter((connection) => connection.sent().includes('LISTEN'))
      assert.equal(listening.length, 2)
      proxy.refuse()
      for (const connection of listening) connection.end()
      await eventually(async () => {
        assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok', degraded: ['notifications'] })
      })
      assert.match(api.log.join(''), /the PostgreSQL connection of the bus is lost/)
      proxy.admit()
      await eventually(async () => assert.deepEqual((await api.get('/health/ready')).body, { status: 'ok' }))
      assert.match(api.log.join(''), /the PostgreSQL connection of the bus is back/)
      while (socket.waiting() > 0) await socket.next()
      await send(api, createPost)
      assert.equal(typeof (await socket.next()).payload.data.counter.count, 'number')
    })

    test('several nodes with topics in memory are warned of, each once', async (t) => {
      const env = { DATABASE_URL: await createDatabaseUrl(t, 'postgres', { isMigrated: true }) }
      const one = await startApi(t, { env })
      const shared = await startApi(t, { env: { ...env, GQL_PUBSUB: 'postgres' }, threads: 1 })
      /** Messages come in order: once a node has got this one, it has got those from before. */
      const reach = async (node: Api) => {
        const { access } = await signIn(one)
        const socket = await openTransport(t, node.wsUrl, { authorization: `Bearer ${access}` })
        await shared.post('/api/auth/logout', {}, access)
        await socket.closed
      }
      await reach(one)
      assert.equal(warningsOf(one), 0)
      const [two, three] = [await startApi(t, { env, threads: 1 }), await startApi(t, { env, threads: 1 })]
      await eventually(() => assert.deepEqual([one, two, three].map(warningsOf), [1, 1, 1]), byMessageMs)
      for (const node of [one, two, three, shared]) await reach(node)
      assert.deepEqual([one, two, three, shared].map(warningsOf), [1, 1, 1, 0])
    })
  })
}
