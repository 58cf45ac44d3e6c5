/** Uses only what Latchkey offers to extensions. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { defineFeature } from 'latchkey/feature'
import { createTestDatabase, engines, startService } from 'latchkey/testing'
import { start } from './orders.testing.ts'
import orders from './orders.ts'

const orderOf = (product: number, quantity: number) =>
  `mutation { createOrder(input: { items: [{ productId: ${product}, quantity: ${quantity} }] }) { id total } }`

/** As they were until migration 0002. */
function createOlder(t: TestContext) {
  const migrations = mkdtempSync(join(tmpdir(), 'latchkey-orders-'))
  t.after(() => rmSync(migrations, { recursive: true }))
  for (const each of ['sqlite', 'postgres'])
    cpSync(join(import.meta.dirname, 'migrations', each, '0001-orders.sql'), join(migrations, each, '0001-orders.sql'))
  return defineFeature({ name: 'orders', migrations, create: ({ db }) => db })
}

for (const engine of engines) {
  describe(`orders, on ${engine}`, () => {
    test('take the stock at the price of the moment, and give it back when they are cancelled', async (t) => {
      const { service, ada, createProduct, stockOf, place, cancel } = await start(t, engine)
      const [lamp, mug] = [await createProduct('Lamp', 19.99, 5), await createProduct('Mug', 0.1, 10)]
      const items = [
        { product_id: mug, quantity: 3 },
        { product_id: lamp, quantity: 2 },
      ]
      const { status, body, headers } = await place(items)
      assert.equal(status, 201, JSON.stringify(body))
      assert.equal(headers.get('location'), `/api/orders/${body.data.id}`)
      const { total, items: ordered } = body.data.attributes
      assert.equal(total, 40.28)
      assert.deepEqual(
        ordered.map(({ name, quantity, unit_price }: Record<string, unknown>) => [name, quantity, unit_price]),
        [
          ['Mug', 3, 0.1],
          ['Lamp', 2, 19.99],
        ],
      )
      assert.deepEqual([await stockOf(lamp), await stockOf(mug)], [3, 7])

      await service.put(`/api/v2/products/${lamp}`, { price: 1 }, ada)
      const { id } = body.data
      assert.equal((await service.get(`/api/orders/${id}`, ada)).body.data.attributes.total, 40.28)
      assert.equal((await cancel(id)).body.data.attributes.status, 'cancelled')
      assert.deepEqual([await stockOf(lamp), await stockOf(mug)], [5, 10])
      const again = await cancel(id)
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

    test('charge what a product costs when its stock is taken, also while its price changes', async (t) => {
      const { service, ada, createProduct, place } = await start(t, engine)
      const lamp = await createProduct('Lamp', 1, 100)
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          i % 2 === 0
            ? place([{ product_id: lamp, quantity: 1 }])
            : service.put(`/api/v2/products/${lamp}`, { price: i + 1 }, ada),
        ),
      )
      const charged = answers.flatMap(({ status, body }) => (status === 201 ? [body.data.attributes.total] : []))
      const log = (await service.get('/api/v2/products/changes?after=0', ada)).body.data
      const states: { price: number; stock: number }[] = log.map(
        ({ data }: { data: object }) => Object(data).attributes,
      )
      const taken = states.filter(({ stock }, i) => i > 0 && stock < (states[i - 1]?.stock ?? 0))
      assert.ok(charged.length > 0)
      assert.deepEqual(charged.toSorted(), taken.map(({ price }) => price).toSorted())
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
      const { service, ada, bob, createProduct, place, cancel, ask } = await start(t, engine)
      const lamp = await createProduct('Lamp', 1, 5)
      const { id } = (await place([{ product_id: lamp, quantity: 1 }])).body.data
      assert.equal((await service.get(`/api/orders/${id}`, bob)).status, 404)
      assert.equal((await cancel(id, bob)).status, 404)
      assert.equal((await service.get('/api/orders/999', ada)).status, 404)
      const list = async (token: string) => (await service.get('/api/orders', token)).body
      assert.deepEqual([(await list(ada)).meta.total, (await list(bob)).meta.total], [1, 0])
      const { errors } = await ask(`{ order(id: ${id}) { id } }`, bob)
      assert.equal(errors[0].extensions.code, 'NOT_FOUND')
    })

    test('are in GraphQL too, with their products, and in the description of the API', async (t) => {
      const { service, createProduct, place, ask } = await start(t, engine)
      const lamp = await createProduct('Lamp', 19.99, 5)
      const placed = await ask(orderOf(lamp, 2))
      assert.deepEqual(placed.data.createOrder, { id: '1', total: 39.98 })
      await place([{ product_id: lamp, quantity: 1 }])
      const { data } = await ask(
        '{ orders(sort: "-id") { data { id items { quantity unitPrice product { name stock } } } } }',
      )
      assert.deepEqual(data.orders.data, [
        { id: '2', items: [{ quantity: 1, unitPrice: 19.99, product: { name: 'Lamp', stock: 2 } }] },
        { id: '1', items: [{ quantity: 2, unitPrice: 19.99, product: { name: 'Lamp', stock: 2 } }] },
      ])
      const cancelled = await ask('mutation { updateOrder(id: 1, input: { status: "cancelled" }) { status } }')
      assert.deepEqual(cancelled.data.updateOrder, { status: 'cancelled' })
      const short = await ask(orderOf(lamp, 900))
      assert.deepEqual(short.errors[0].extensions.details, { 'items.0.quantity': ['Must be at most 4'] })
      const description = (await service.get('/openapi.json')).body
      assert.equal(description.paths['/api/orders'].post.operationId, 'createOrder')
    })

    test('keep what was ordered before they were a collection', async (t) => {
      const { url: databaseUrl, drop } = await createTestDatabase(engine)
      t.after(drop)
      const older = createOlder(t)
      const before = await startService({ databaseUrl, extensions: [older] })
      const ada = await before.signIn('ada@example.com')
      await before.serviceOf(older).write(
        {
          sql: "INSERT INTO orders (user_id, status, total_cents, created_at) VALUES (1, 'placed', 4028, $1)",
          params: ['2026-01-01T00:00:00.000Z'],
        },
        { sql: "INSERT INTO order_items VALUES (1, 1, 7, 'Mug', 3, 10), (1, 0, 5, 'Lamp', 2, 1999)" },
      )
      await before.close()
      const service = await startService({ databaseUrl, extensions: [orders] })
      t.after(() => service.close())
      const { attributes } = (await service.get('/api/orders/1', ada)).body.data
      assert.deepEqual(
        [attributes.total, attributes.status, attributes.created_at],
        [40.28, 'placed', '2026-01-01T00:00:00.000Z'],
      )
      assert.deepEqual(attributes.items, [
        { product_id: 5, quantity: 2, name: 'Lamp', unit_price: 19.99 },
        { product_id: 7, quantity: 3, name: 'Mug', unit_price: 0.1 },
      ])
    })
  })
}
