import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { productCreated } from '../../src/features/products/product.events.ts'
import type { Product } from '../../src/features/products/product.ts'
import { startApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { createProduct, lamp, productsPath } from '../support/products.ts'

onAnyEngine('ProductCreated', (engine) => {
  test('is emitted after the product is saved and before the response is sent', async (t) => {
    const told: { product: Product; isSaved: boolean; isResponded: boolean }[] = []
    let isResponded = false
    const api = await startApi(t, {
      engine,
      extend: (_, { db, events }) => {
        events.on(productCreated, async (product) => {
          await sleep(50)
          const row = await db.get('SELECT id FROM products WHERE id = $1', [product.id])
          told.push({ product, isSaved: row !== undefined, isResponded })
        })
      },
    })
    const { access } = await signIn(api)
    const id = await createProduct(api, access)
    isResponded = true
    assert.equal(told.length, 1)
    assert.deepEqual([told[0]?.isSaved, told[0]?.isResponded, told[0]?.product.id], [true, false, id])
    assert.deepEqual([told[0]?.product.name, told[0]?.product.price_cents], [lamp.name, 123_450])
  })
})

onAnyEngine('ProductCreated', (engine) => {
  test('is emitted for creates only', async (t) => {
    let told = 0
    const api = await startApi(t, {
      engine,
      extend: (_, { events }) => void events.on(productCreated, () => (told += 1)),
    })
    const { access } = await signIn(api)
    await api.post(productsPath, {}, access)
    await api.post(productsPath, lamp)
    assert.equal(told, 0)
    const id = await createProduct(api, access)
    await api.put(`${productsPath}/${id}`, { price: 1 }, access)
    await api.delete(`${productsPath}/${id}`, access)
    assert.equal(told, 1)
  })

  test('a failing listener affects neither the response nor the other listeners', async (t) => {
    const told: string[] = []
    const api = await startApi(t, {
      engine,
      extend: (_, { events }) => {
        events.on(productCreated, () => {
          throw new Error('the first is broken')
        })
        events.on(productCreated, async () => {
          throw new Error('the second is broken')
        })
        events.on(productCreated, () => void told.push('third'))
        events.on(productCreated, () => void told.push('never'))()
      },
    })
    const { access } = await signIn(api)
    const made = await api.post(productsPath, lamp, access)
    assert.deepEqual([made.status, told], [201, ['third']])
    const lines = api.log.filter((line) => line.includes('a listener failed'))
    assert.equal(lines.length, 2)
    assert.ok(lines.every((line) => line.includes('ProductCreated') && line.includes('is broken')))
  })

  test('a listener that never ends delays the response by one second at most', async (t) => {
    const api = await startApi(t, {
      engine,
      extend: (_, { events }) => void events.on(productCreated, () => new Promise(() => {})),
    })
    const { access } = await signIn(api)
    const made = await api.post(productsPath, lamp, access)
    assert.equal(made.status, 201)
    await eventually(() => assert.match(api.log.join(''), /no answer within 1000 ms.*a listener failed/))
  })
})
