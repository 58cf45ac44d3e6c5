/** Uses only what Latchkey offers to extensions. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines } from 'latchkey/testing'
import { start } from './orders.testing.ts'

for (const engine of engines) {
  describe(`orders, on ${engine}`, () => {
    test('take the stock at the price of the moment, and give it back when they are cancelled', async (t) => {
      const { service, ada, createProduct, stockOf, place } = await start(t, engine)
      const [lamp, mug] = [await createProduct('Lamp', 19.99, 5), await createProduct('Mug', 0.1, 10)]
      const items = [
        { product_id: mug, quantity: 3 },
        { product_id: lamp, quantity: 2 },
      ]
      const { status, body, headers } = await place(items)
      assert.equal(status, 201, JSON.stringify(body))
      assert.equal(headers.get('location'), `/api/orders/${body.data.id}`)
      assert.equal(body.data.total, 40.28)
      assert.deepEqual(
        body.data.items.map(({ name, quantity, unit_price }: Record<string, unknown>) => [name, quantity, unit_price]),
        [
          ['Mug', 3, 0.1],
          ['Lamp', 2, 19.99],
        ],
      )
      assert.deepEqual([await stockOf(lamp), await stockOf(mug)], [3, 7])

      await service.put(`/api/v2/products/${lamp}`, { price: 1 }, ada)
      const path = `/api/orders/${body.data.id}`
      assert.equal((await service.get(path, ada)).body.data.total, 40.28)
      assert.equal((await service.post(`${path}/cancel`, {}, ada)).body.data.status, 'cancelled')
      assert.deepEqual([await stockOf(lamp), await stockOf(mug)], [5, 10])
      const again = await service.post(`${path}/cancel`, {}, ada)
      assert.deepEqual([again.status, again.body.error], [409, 'Order already cancelled'])
      assert.deepEqual([await stockOf(lamp), await stockOf(mug)], [5, 10])
    })

    test('are all there or not at all: what is short leaves everything as it was', async (t) => {
      const { createProduct, stockOf, place } = await start(t, engine)
      const [lamp, mug] = [await createProduct('Lamp', 1, 5), await createProduct('Mug', 1, 1)]
      const { status, body } = await place([
        { product_id: lamp, quantity: 2 },
        { product_id: mug, quantity: 2 },
        { product_id: 999, quantity: 1 },
      ])
      assert.equal(status, 409)
      assert.deepEqual(body, {
        error: 'Out of stock',
        details: {
          'items.1.quantity': ['Must be at most 1'],
          'items.2.product_id': ['Is no product that can be bought'],
        },
      })
      assert.deepEqual([await stockOf(lamp), await stockOf(mug)], [5, 1])
    })

    test('never sell more than there is, however many are placed at once', async (t) => {
      const { ada, bob, createProduct, stockOf, place } = await start(t, engine)
      const [lamp, mug] = [await createProduct('Lamp', 1, 7), await createProduct('Mug', 1, 100)]
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => {
          const items = [
            { product_id: lamp, quantity: 1 },
            { product_id: mug, quantity: 1 },
          ]
          return place(i % 2 === 0 ? items : items.reverse(), i % 3 === 0 ? ada : bob)
        }),
      )
      assert.equal(answers.filter(({ status }) => status === 201).length, 7)
      assert.equal(answers.filter(({ status }) => status === 409).length, 13)
      assert.deepEqual([await stockOf(lamp), await stockOf(mug)], [0, 93])
    })

    test('are checked to the last field', async (t) => {
      const { service, ada, place } = await start(t, engine, { environment: { ORDERS_MAX_ITEMS: '2' } })
      assert.equal((await service.post('/api/orders', { items: [] })).status, 401)
      for (const [items, details] of [
        [undefined, { items: ['Must not be blank'] }],
        [[], { items: ['Must have at least 1 item'] }],
        [[{ product_id: 1 }], { 'items.0.quantity': ['Must not be blank'] }],
        [[{ product_id: 1, quantity: 1.5 }], { 'items.0.quantity': ['Must be an integer'] }],
        [
          [{ product_id: 0, quantity: 2000 }],
          { 'items.0.product_id': ['Must be at least 1'], 'items.0.quantity': ['Must be at most 1000'] },
        ],
        [Array(3).fill({ product_id: 1, quantity: 1 }), { items: ['Must have at most 2 items'] }],
        [Array(2).fill({ product_id: 1, quantity: 1 }), { 'items.1.product_id': ['Is listed before'] }],
      ] as const) {
        const { status, body } = await service.post('/api/orders', { items }, ada)
        assert.deepEqual([status, body.error, body.details], [422, 'Validation failed', details])
      }
      assert.equal((await place([{ product_id: 1, quantity: 1 }])).status, 409)
    })

    test('belong to who placed them', async (t) => {
      const { service, ada, bob, createProduct, place, ask } = await start(t, engine)
      const lamp = await createProduct('Lamp', 1, 5)
      const { id } = (await place([{ product_id: lamp, quantity: 1 }])).body.data
      assert.equal((await service.get(`/api/orders/${id}`, bob)).status, 403)
      assert.equal((await service.post(`/api/orders/${id}/cancel`, {}, bob)).status, 403)
      assert.equal((await service.get('/api/orders/999', ada)).status, 404)
      const list = async (token: string) => (await service.get('/api/orders', token)).body
      assert.deepEqual([(await list(ada)).meta.total, (await list(bob)).meta.total], [1, 0])
      const { errors } = await ask(`{ order(id: ${id}) { id } }`, bob)
      assert.equal(errors[0].extensions.code, 'FORBIDDEN')
    })

    test('are in GraphQL too, with their products, and in the description of the API', async (t) => {
      const { service, createProduct, place, ask } = await start(t, engine)
      const lamp = await createProduct('Lamp', 19.99, 5)
      const placed = await ask(`mutation { placeOrder(items: [{ productId: ${lamp}, quantity: 2 }]) { id total } }`)
      assert.deepEqual(placed.data.placeOrder, { id: '1', total: 39.98 })
      await place([{ product_id: lamp, quantity: 1 }])
      const { data } = await ask('{ orders { id items { quantity unitPrice product { name stock } } } }')
      assert.deepEqual(data.orders, [
        { id: '2', items: [{ quantity: 1, unitPrice: 19.99, product: { name: 'Lamp', stock: 2 } }] },
        { id: '1', items: [{ quantity: 2, unitPrice: 19.99, product: { name: 'Lamp', stock: 2 } }] },
      ])
      const cancelled = await ask('mutation { cancelOrder(id: 1) { status } }')
      assert.deepEqual(cancelled.data.cancelOrder, { status: 'cancelled' })
      const short = await ask(`mutation { placeOrder(items: [{ productId: ${lamp}, quantity: 900 }]) { id } }`)
      assert.deepEqual(short.errors[0].extensions.details, { 'items.0.quantity': ['Must be at most 4'] })
      const description = (await service.get('/openapi.json')).body
      assert.equal(description.paths['/api/orders'].post.operationId, 'placeOrder')
    })
  })
}
