/** Products, GraphQL, subscriptions and change streams of @latchkey/client. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type ChangesOptions,
  CursorExpiredError,
  createLatchkey,
  type Latchkey,
  type SessionEndedError,
} from '../../packages/client/src/index.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { everyThird, lossyProxy } from '../support/lossy-proxy.ts'
import { password, register } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const started = share((owner) => startApiWithRoles(owner, { env: unlimitedRates }))
const lamp = { name: 'Desk Lamp', description: 'Bright and warm', price: 19.99 }

let people = 0
async function setUp(options: Partial<Parameters<typeof createLatchkey>[0]> = {}) {
  const api = await started()
  const { email } = await register(api, `reader${++people}@example.com`)
  const client = createLatchkey({ url: api.url, ...options })
  await client.login({ email, password })
  return { api, client }
}

test('products are created, listed, read, changed and deleted', async () => {
  const { client } = await setUp()
  const { products } = client
  const created = await products.create({ ...lamp, category: 'lamps', stock: 3 })
  assert.deepEqual([created.attributes.slug, created.attributes.in_stock], ['desk-lamp', true])
  const listed = await products.list({ category: 'lamps' })
  assert.deepEqual([listed.data[0]?.id, listed.meta.total, listed.isTruncated], [created.id, 1, false])
  const page = await products.list({ per_page: 1 })
  assert.deepEqual([page.data.length, page.meta.per_page, /^[\w-]{48}$/.test(page.cursor)], [1, 1, true])
  const dear = await products.list({ sort: '-price', 'filter[category]': 'lamps', 'filter[price][gte]': 19 })
  assert.deepEqual([dear.data.map(({ id }) => id), dear.meta.next], [[created.id], null])
  const read = await products.get(created.id)
  const changed = await products.update(read.id, { price: 25 }, read.etag === undefined ? {} : { ifMatch: read.etag })
  assert.equal(changed.attributes.formatted_price, '$25.00')
  const stale = { ifMatch: read.etag ?? '' }
  await assert.rejects(products.update(read.id, { price: 1 }, stale), { status: 412, message: 'Product has changed' })
  await assert.rejects(products.delete(read.id, stale), { status: 412 })
  await products.delete(read.id)
  await assert.rejects(products.get(read.id), { name: 'LatchkeyError', status: 404, message: 'Product not found' })
  await assert.rejects(products.create({ ...lamp, price: 0 }), {
    status: 422,
    details: { price: ['Must be at least 0.01'] },
  })
  // @ts-expect-error a product without a price
  await assert.rejects(products.create({ name: 'Chair', description: 'Soft' }), { status: 422 })
  // @ts-expect-error a name that is a number
  await assert.rejects(products.update(created.id, { name: 5 }), { status: 422 })
})

test('a product is created once, though the answer was lost', async (t) => {
  const api = await started()
  const proxy = await lossyProxy(t, { target: api.url, isLost: (path, n) => path.endsWith('products') && n < 3 })
  const { client } = await setUp({ url: proxy.url })
  const { id } = await client.products.create({ ...lamp, category: 'lost' })
  assert.equal(proxy.lost('/api/v2/products'), 2)
  const { data } = await client.products.list({ category: 'lost' })
  assert.deepEqual(
    data.map((product) => product.id),
    [id],
  )
})

test('every operation of the service can be called, typed', async () => {
  const { client } = await setUp()
  const { data } = await client.api.GET('/api/auth/sessions')
  assert.equal(data?.data.filter(({ current }) => current).length, 1)
  // @ts-expect-error there is no such path
  assert.equal((await client.api.GET('/api/nowhere')).response.status, 404)
})

test('a program uses an API key, on sockets too, and is told when it is no good', async (t) => {
  const { api, client } = await setUp()
  const { data } = await client.api.POST('/api/auth/keys', { body: { name: 'Robot' } })
  const { key: apiKey = '', data: made } = data ?? {}
  const robot = createLatchkey({ url: api.url, apiKey })
  const { id } = await robot.products.create({ ...lamp, name: 'By a robot' })
  assert.equal((await robot.me()).email, (await client.me()).email)
  const changes = 'subscription { productChanges(after: "0") { product { id } } }'
  const { received, end } = collect<{ productChanges: { product: { id: string } } }>(t, (signal) =>
    robot.subscribe(changes, { signal }),
  )
  await eventually(() => assert.ok(received.some(({ productChanges }) => Number(productChanges.product.id) === id)))
  end()
  await client.api.DELETE('/api/auth/keys/{id}', { params: { path: { id: made?.id ?? '' } } })
  await assert.rejects(robot.products.delete(id), {
    name: 'LatchkeyError',
    status: 401,
    message: 'Invalid access token',
  })
  const { done } = collect(t, (signal) => robot.subscribe(changes, { signal }))
  await assert.rejects(done, { name: 'LatchkeyError', status: 401 })
})

test('GraphQL answers data, or throws its errors', async () => {
  const { api, client } = await setUp()
  const query = 'query ($id: ID!) { me { email } product(id: $id) { name } }'
  const { id } = await client.products.create(lamp)
  const data = await client.graphql<{ me: { email: string }; product: { name: string } }>(query, { id })
  assert.deepEqual([data.product.name, data.me.email], ['Desk Lamp', (await client.me()).email])
  await assert.rejects(client.graphql('{ nothing }'), { name: 'GraphQLRequestError' })
  api.clock.advance(1800)
  assert.equal((await client.graphql<typeof data>(query, { id })).me.email, data.me.email, 'with a new token')
})

/** Reads in the background, until `end` is called or the test is over. */
function collect<T>(t: TestContext, open: (signal: AbortSignal) => AsyncIterable<T>) {
  const received: T[] = []
  const ending = new AbortController()
  const end = () => ending.abort()
  t.after(end)
  const done = (async () => {
    for await (const value of open(ending.signal)) received.push(value)
  })()
  done.catch(() => {})
  return { received, done, end }
}

interface Created {
  productCreated: { name: string }
}

const sockets: WebSocket[] = []
class TrackedSocket extends WebSocket {
  constructor(...args: ConstructorParameters<typeof WebSocket>) {
    super(...args)
    sockets.push(this)
  }
}

const transports = { 'a WebSocket': TrackedSocket, 'server-sent events': null }

for (const [name, WebSocket] of Object.entries(transports)) {
  test(`a subscription by ${name} goes on after its token has expired, and ends with its signal`, async (t) => {
    const { api, client } = await setUp({ WebSocket })
    let opened = 0
    const { received, done, end } = collect(t, (signal) =>
      client.subscribe<Created>('subscription { productCreated { name } }', {
        signal,
        onOpen: () => void opened++,
      }),
    )
    await eventually(() => assert.equal(opened, 1))
    const publish = async (text: string) => {
      // A subscription begins a moment after it was asked for.
      await eventually(async () => {
        await client.products.create({ ...lamp, name: text })
        assert.equal(received.at(-1)?.productCreated.name, text)
      })
    }
    await publish('First')
    api.clock.advance(1800)
    await eventually(() => assert.ok(opened >= 2))
    await publish('Second')
    end()
    await done
  })

  test(`a subscription by ${name} that is refused throws why`, async (t) => {
    const { client } = await setUp({ WebSocket })
    const { done } = collect(t, (signal) => client.subscribe('subscription { nothing }', { signal }))
    await assert.rejects(done, { name: 'GraphQLRequestError' })
  })

  test(`a subscription by ${name} says why its session ended`, async (t) => {
    const { client } = await setUp({ WebSocket })
    let opened = 0
    const { done } = collect(t, (signal) =>
      client.subscribe('subscription { productCreated { name } }', { signal, onOpen: () => void opened++ }),
    )
    await eventually(() => assert.equal(opened, 1))
    const { data } = await client.api.GET('/api/auth/sessions')
    const session = data?.data.find(({ current }) => current)
    await client.api.DELETE('/api/auth/sessions/{id}', { params: { path: { id: session?.id ?? '' } } })
    await assert.rejects(done, (error: SessionEndedError) => {
      assert.deepEqual([error.name, error.end.reason], ['SessionEndedError', 'logout'])
      return true
    })
  })
}

interface Logged {
  productChanges: { cursor: string; product: { name: string } }
}

test('a subscription to the change log misses nothing while its sockets are cut', async (t) => {
  const { client } = await setUp({ WebSocket: TrackedSocket })
  const { cursor } = await client.products.list()
  const { received, done, end } = collect(t, (signal) =>
    client.subscribe<Logged>(
      'subscription ($after: String) { productChanges(after: $after) { cursor product { name } } }',
      { signal, variables: (last) => ({ after: last?.productChanges.cursor ?? cursor }) },
    ),
  )
  const names = Array.from({ length: 8 }, (_, i) => `Cut ${i}`)
  for (const name of names) {
    await client.products.create({ ...lamp, name })
    sockets.at(-1)?.close()
  }
  await eventually(() => assert.equal(received.length, names.length))
  assert.deepEqual(
    received.map(({ productChanges }) => productChanges.product.name),
    names,
  )
  end()
  await done
})

/** The names of the next changes. */
async function next(client: Latchkey, count: number, after?: string, options: ChangesOptions = {}) {
  const names: string[] = []
  let cursor = after
  for await (const change of client.changes(after, options)) {
    names.push(`${change.type} ${change.data.attributes.name}`)
    cursor = change.cursor
    if (names.length === count) break
  }
  return { names, cursor }
}

test('changes are read from a cursor, through lost answers, and waited for', async (t) => {
  const api = await started()
  const proxy = await lossyProxy(t, { target: api.url, isLost: everyThird })
  const { client: writer } = await setUp()
  const client = createLatchkey({ url: proxy.url })
  const { cursor } = await writer.products.list()
  const { id } = await writer.products.create({ ...lamp, name: 'Sofa' })
  await writer.products.update(id, { name: 'Couch' })
  const first = await next(client, 2, cursor, { limit: 1 })
  assert.deepEqual(first.names, ['product.created Sofa', 'product.updated Couch'])
  const waiting = next(client, 1, first.cursor)
  await writer.products.delete(id)
  assert.deepEqual((await waiting).names, ['product.deleted Couch'])
})

test('without a cursor, changes are those from now on', async (t) => {
  const { client } = await setUp()
  const { received, done, end } = collect(t, (signal) => client.changes(undefined, { signal }))
  await eventually(async () => {
    await client.products.create({ ...lamp, name: 'Now' })
    assert.ok(received.length > 0)
  })
  assert.ok(received.every(({ data }) => data.attributes.name === 'Now'))
  end()
  await done
})

test('a cursor that has expired is told, and the list has one to go on from', async () => {
  const { client } = await setUp()
  await assert.rejects(next(client, 1, '999999999999'), (error: Error) => {
    assert.ok(error instanceof CursorExpiredError)
    assert.equal(error.message, 'Cursor has expired')
    return true
  })
  const { cursor } = await client.products.list()
  await client.products.create({ ...lamp, name: 'Again' })
  assert.deepEqual((await next(client, 1, cursor)).names, ['product.created Again'])
  await assert.rejects(next(client, 1, 'nonsense'), { name: 'LatchkeyError', status: 422 })
})
