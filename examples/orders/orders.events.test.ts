/** What others hear of orders: listeners of other extensions, and subscriptions. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { defineFeature, on } from 'latchkey/feature'
import { engines, type TestService } from 'latchkey/testing'
import { start } from './orders.testing.ts'
import orders from './orders.ts'

/** Another extension, which looks into the database the moment that it hears of an order. */
function createWitness() {
  const heard: string[] = []
  const witness = defineFeature({
    name: 'witness',
    needs: { orders },
    create: ({ db }) => ({
      find: async (id: number) => db.get<{ status: string }>('SELECT status FROM orders WHERE id = $1', [id]),
    }),
    listeners: (service) =>
      ['order.created', 'order.updated'].map((type) =>
        on<{ id: number }>(type, { durable: 'witness' }, async ({ data: { id } }) => {
          heard.push(`${id} is ${(await service.find(id))?.status}`)
        }),
      ),
  })
  async function hears(...expected: string[]) {
    while (heard.length < expected.length) await setTimeout(10)
    assert.deepEqual(heard.toSorted(), expected.toSorted())
    heard.length = 0
  }
  return { hears, witness }
}

/** The changes of orders that a subscription brings, as they come. Resolves when it is open. */
async function listen(t: TestContext, { url }: TestService, token: string) {
  const abort = new AbortController()
  t.after(() => abort.abort())
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: 'subscription { orderChanges { type order { id items { product { stock } } } } }' }),
    signal: abort.signal,
  })
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
  const chunks = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  const decoder = new TextDecoder()
  const events: string[] = []
  let rest = ''
  /** The next event that says something. */
  return async () => {
    for (;;) {
      const found = events.shift()
      if (found?.includes('\ndata: {')) return JSON.parse(found.slice(found.indexOf('{'))).data.orderChanges
      if (found !== undefined) continue
      const { value, done } = await chunks.next()
      assert.ok(!done, 'the subscription has ended')
      events.push(...(rest + decoder.decode(value, { stream: true })).split('\n\n'))
      rest = events.pop() ?? ''
    }
  }
}

for (const engine of engines) {
  describe(`the events of orders, on ${engine}`, () => {
    test('reach another extension once the order is stored, and not before', async (t) => {
      const { hears, witness } = createWitness()
      const { createProduct, place, cancel } = await start(t, engine, { extensions: [witness] })
      const lamp = await createProduct('Lamp', 1, 5)
      const { id } = (await place([{ product_id: lamp, quantity: 1 }])).body.data
      await hears(`${id} is placed`)
      await cancel(id)
      await hears(`${id} is cancelled`)
    })

    test('tell nothing of what was not done', async (t) => {
      const { hears, witness } = createWitness()
      const { createProduct, place, cancel } = await start(t, engine, { extensions: [witness] })
      const [lamp, mug] = [await createProduct('Lamp', 1, 3), await createProduct('Mug', 1, 1)]
      const tooMany = [
        { product_id: lamp, quantity: 1 },
        { product_id: mug, quantity: 2 },
      ]
      assert.equal((await place(tooMany)).status, 409)
      assert.equal((await place([])).status, 422)
      const answers = await Promise.all(Array.from({ length: 8 }, () => place([{ product_id: lamp, quantity: 1 }])))
      const placed = answers.filter(({ status }) => status === 201).map(({ body }) => body.data.id)
      assert.equal(placed.length, 3)
      // In the order of the log, so what was refused before would have come before.
      await hears(...placed.map((id) => `${id} is placed`))
      const [first] = placed
      const cancels = await Promise.all([1, 2, 3].map(() => cancel(first)))
      assert.deepEqual(cancels.map(({ status }) => status).toSorted(), [200, 409, 409])
      const last = (await place([{ product_id: lamp, quantity: 1 }])).body.data.id
      await hears(`${first} is cancelled`, `${last} is placed`)
    })

    test('reach the subscription of who placed the order, and nobody else', async (t) => {
      const { service, ada, bob, createProduct, place } = await start(t, engine)
      const lamp = await createProduct('Lamp', 1, 5)
      const nextOfAda = await listen(t, service, ada)
      const nextOfBob = await listen(t, service, bob)
      const { id } = (await place([{ product_id: lamp, quantity: 1 }])).body.data
      const order = { id: String(id), items: [{ product: { stock: 4 } }] }
      assert.deepEqual(await nextOfAda(), { type: 'order.created', order })
      // What comes first to Bob is his own: hers was placed before.
      const { body } = await place([{ product_id: lamp, quantity: 1 }], bob)
      assert.equal((await nextOfBob()).order.id, String(body.data.id))
    })
  })
}
