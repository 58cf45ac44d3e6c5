/** What others hear of orders: listeners of other extensions, and subscriptions. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { defineFeature, on } from 'latchkey/feature'
import { engines, type TestService } from 'latchkey/testing'
import { orderCancelled, orderPlaced } from './orders.events.ts'
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
    listeners: (service) => [
      on(orderPlaced, async ({ id }) => void heard.push(`${id} is ${(await service.find(id))?.status}`)),
      on(orderCancelled, async ({ id }) => void heard.push(`${id} is ${(await service.find(id))?.status}`)),
    ],
  })
  return { heard, witness }
}

/** The ids of the orders that a subscription brings, as they come. Resolves when it is open. */
async function listen(t: TestContext, { url }: TestService, { field, token }: { field: string; token: string }) {
  const abort = new AbortController()
  t.after(() => abort.abort())
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: `subscription { ${field} { id items { product { stock } } } }` }),
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
      if (found?.includes('\ndata: {')) return JSON.parse(found.slice(found.indexOf('{')))
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
      const { heard, witness } = createWitness()
      const { service, ada, createProduct, place } = await start(t, engine, { extensions: [witness] })
      const lamp = await createProduct('Lamp', 1, 5)
      const { id } = (await place([{ product_id: lamp, quantity: 1 }])).body.data
      assert.deepEqual(heard, [`${id} is placed`])
      await service.post(`/api/orders/${id}/cancel`, {}, ada)
      assert.deepEqual(heard, [`${id} is placed`, `${id} is cancelled`])
    })

    test('tell nothing of what was not done', async (t) => {
      const { heard, witness } = createWitness()
      const { service, ada, createProduct, place } = await start(t, engine, { extensions: [witness] })
      const [lamp, mug] = [await createProduct('Lamp', 1, 3), await createProduct('Mug', 1, 1)]
      const tooMany = [
        { product_id: lamp, quantity: 1 },
        { product_id: mug, quantity: 2 },
      ]
      assert.equal((await place(tooMany)).status, 409)
      assert.equal((await place([])).status, 422)
      assert.deepEqual(heard, [])
      const answers = await Promise.all(Array.from({ length: 8 }, () => place([{ product_id: lamp, quantity: 1 }])))
      const placed = answers.filter(({ status }) => status === 201).map(({ body }) => body.data.id)
      assert.equal(placed.length, 3)
      assert.deepEqual(heard.toSorted(), placed.map((id) => `${id} is placed`).toSorted())
      heard.length = 0
      const [first] = placed
      const cancels = await Promise.all([1, 2, 3].map(() => service.post(`/api/orders/${first}/cancel`, {}, ada)))
      assert.deepEqual(cancels.map(({ status }) => status).toSorted(), [200, 409, 409])
      assert.deepEqual(heard, [`${first} is cancelled`])
    })

    test('reach the subscription of who placed the order, and nobody else', async (t) => {
      const { service, ada, bob, createProduct, place } = await start(t, engine)
      const lamp = await createProduct('Lamp', 1, 5)
      const nextOfAda = await listen(t, service, { field: 'ownOrderPlaced', token: ada })
      const nextOfBob = await listen(t, service, { field: 'ownOrderPlaced', token: bob })
      const { id } = (await place([{ product_id: lamp, quantity: 1 }])).body.data
      assert.deepEqual(await nextOfAda(), {
        data: { ownOrderPlaced: { id: String(id), items: [{ product: { stock: 4 } }] } },
      })
      // What comes first to Bob is his own: hers was placed before.
      const { body } = await place([{ product_id: lamp, quantity: 1 }], bob)
      assert.equal((await nextOfBob()).data.ownOrderPlaced.id, String(body.data.id))
      const ofAll = await listen(t, service, { field: 'orderPlaced', token: bob })
      assert.equal((await ofAll()).errors[0].extensions.code, 'FORBIDDEN')
    })
  })
}
