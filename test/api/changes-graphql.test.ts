import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareApi, startApi } from '../support/api.ts'
import { readChanges, withoutCursors } from '../support/changes.ts'
import { onAnyEngine } from '../support/databases.ts'
import { openStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { openSocket, openTransport } from '../support/sockets.ts'

const fields = '{ cursor type at version product { id name inStock description } }'
const live = `subscription { productChanges ${fields} }`
const resumed = `subscription ($after: String) { productChanges(after: $after) ${fields} }`

interface Told {
  cursor: string
  version: number
  type: string
  product: { name: string }
}

const names = (changes: readonly Told[]) => changes.map(({ type, product }) => `${type} ${product.name}`)

onAnyEngine('the change log over GraphQL', (engine) => {
  const shared = shareApi({ engine })

  test('is the same on every transport, live and from a cursor', async (t) => {
    const api = await shared()
    const { access } = await signIn(api)
    const { cursor: start } = (await readChanges(api)).body.meta
    const id = await createProduct(api, access, { name: 'First' })
    const { cursor } = (await readChanges(api)).body.meta

    const plain = await openSocket(t, api.wsUrl)
    plain.send({ id: 'live', query: live })
    const transport = await openTransport(t, api.wsUrl)
    transport.send({ id: '1', type: 'subscribe', payload: { query: resumed, variables: { after: start } } })
    assert.equal((await transport.next()).payload.data.productChanges.product.name, 'First')
    const stream = await openStream(t, api.url, live)
    await eventually(async () => assert.match((await api.get('/metrics')).body, /^change_log_readers 3$/m))

    await api.put(`${productsPath}/${id}`, { name: 'Second' }, access)
    await api.delete(`${productsPath}/${id}`, access)
    const expected = ['product.updated Second', 'product.deleted Second']
    const twice = async (next: () => Promise<Told>) => [await next(), await next()]
    const byPlain = await twice(async () => (await plain.next()).data.productChanges)
    const byTransport = await twice(async () => (await transport.next()).payload.data.productChanges)
    await eventually(() => assert.equal(stream.events.length, 2))
    const byStream = stream.events.map(({ data }) => data.data.productChanges)
    for (const changes of [byPlain, byTransport, byStream]) assert.deepEqual(names(changes), expected)
    assert.deepEqual(withoutCursors(byPlain), withoutCursors(byTransport))
    assert.deepEqual(withoutCursors(byPlain), withoutCursors(byStream))
    const byRest = (await readChanges(api, { after: cursor })).body.data
    assert.deepEqual(
      byPlain.map(({ version }) => version),
      byRest.map(({ version }) => version),
    )

    const later = await openSocket(t, api.wsUrl)
    later.send({ query: resumed, variables: { after: byPlain[0]?.cursor } })
    assert.deepEqual(withoutCursors([(await later.next()).data.productChanges]), withoutCursors(byPlain.slice(1)))
  })

  test('sends each subscriber what it has selected, wherever it began', async (t) => {
    const api = await startApi(t, { engine })
    const { access } = await signIn(api)
    await createProduct(api, access, { name: 'First' })
    const query = `subscription ($after: String, $isLong: Boolean!) {
      productChanges(after: $after) { cursor product { title: name description @include(if: $isLong) } }
    }`
    const open = async (variables: object, text = query) => {
      const socket = await openSocket(t, api.wsUrl)
      socket.send({ query: text, variables })
      return async () => (await socket.next()).data.productChanges.product
    }
    const all = await Promise.all([
      open({ after: '0', isLong: false }),
      open({ after: '0', isLong: true }),
      open({ after: '0', isLong: true }, query.replace('title:', 'label:')),
      open({ after: '1', isLong: false }),
    ])
    await Promise.all(all.map((next) => next()))
    await createProduct(api, access, { name: 'Second', description: 'Long' })
    assert.deepEqual(await Promise.all(all.map((next) => next())), [
      { title: 'Second' },
      { title: 'Second', description: 'Long' },
      { label: 'Second', description: 'Long' },
      { title: 'Second' },
    ])
  })

  test('refuses cursors that are none, and those that have expired', async (t) => {
    const api = await shared()
    for (const [after, code] of [
      ['nonsense', 'BAD_USER_INPUT'],
      ['999999', 'GONE'],
    ] as const) {
      const socket = await openSocket(t, api.wsUrl)
      socket.send({ query: resumed, variables: { after } })
      const { errors } = await socket.next()
      assert.equal(errors[0].extensions.code, code)
      const stream = await openStream(t, api.url, resumed, { variables: { after } })
      await stream.ended
      assert.equal(stream.events[0]?.data.errors[0].extensions.code, code)
    }
  })

  test('ends with its client, and with the service', async (t) => {
    const api = await startApi(t, { engine })
    const readers = (count: number) =>
      eventually(async () =>
        assert.match((await api.get('/metrics')).body, new RegExp(`^change_log_readers ${count}$`, 'm')),
      )
    const socket = await openTransport(t, api.wsUrl)
    for (const id of ['1', '2']) socket.send({ id, type: 'subscribe', payload: { query: live } })
    await readers(2)
    socket.send({ id: '1', type: 'complete' })
    await readers(1)
    socket.ws.close()
    await readers(0)
    const stream = await openStream(t, api.url, live)
    await readers(1)
    await api.app.close()
    await stream.ended
  })

  test('a slow client gets everything in the end, and is not cut off', async (t) => {
    const api = await shared()
    const { access } = await signIn(api)
    const socket = await openSocket(t, api.wsUrl)
    const { cursor: start } = (await readChanges(api)).body.meta
    // Far more than the service keeps for a client.
    const description = 'x'.repeat(500_000)
    for (let i = 0; i < 12; i++) await createProduct(api, access, { name: `Long ${i}`, description })
    socket.ws.pause()
    socket.send({ query: resumed, variables: { after: start } })
    await createProduct(api, access, { name: 'Last' })
    socket.ws.resume()
    const received: string[] = []
    while (received.at(-1) !== 'Last') received.push((await socket.next()).data.productChanges.product.name)
    assert.deepEqual(received, [...Array.from({ length: 12 }, (_, i) => `Long ${i}`), 'Last'])
  })
})
