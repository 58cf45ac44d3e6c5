import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { productCreated } from '../../src/features/products/product.events.ts'
import type { Product } from '../../src/features/products/product.ts'
import { shareService } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { createProduct, lamp, productsPath } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

type Listener = (product: Product) => unknown

onAnyEngine('ProductCreated', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })
  /** The service, with a listener for as long as the test runs. */
  const listen = async (t: TestContext, ...listeners: Listener[]) => {
    const api = await shared()
    for (const listener of listeners) t.after(api.parts.events.on(productCreated, listener))
    return { api, ...(await signIn(api)) }
  }

  test('is emitted after the product is saved and before the response is sent', async (t) => {
    const told: { product: Product; isSaved: boolean; isResponded: boolean }[] = []
    let isResponded = false
    const { api, access } = await listen(t, async (product) => {
      await sleep(50)
      const row = await api.db.get('SELECT id FROM products WHERE id = $1', [product.id])
      told.push({ product, isSaved: row !== undefined, isResponded })
    })
    const id = await createProduct(api, access)
    isResponded = true
    assert.equal(told.length, 1)
    assert.deepEqual([told[0]?.isSaved, told[0]?.isResponded, told[0]?.product.id], [true, false, id])
    assert.deepEqual([told[0]?.product.name, told[0]?.product.price_cents], [lamp.name, 123_450])
  })

  test('is emitted for creates only', async (t) => {
    let told = 0
    const { api, access } = await listen(t, () => {
      told += 1
    })
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
    const { api, access } = await listen(
      t,
      () => {
        throw new Error('the first is broken')
      },
      async () => {
        throw new Error('the second is broken')
      },
      () => void told.push('third'),
    )
    api.parts.events.on(productCreated, () => void told.push('never'))()
    const made = await api.post(productsPath, lamp, access)
    assert.deepEqual([made.status, told], [201, ['third']])
    const lines = api.log.filter((line) => line.includes('a listener failed'))
    assert.equal(lines.length, 2)
    assert.ok(lines.every((line) => line.includes('ProductCreated') && line.includes('is broken')))
  })

  test('a listener that never ends delays the response by one second at most', async (t) => {
    const { api, access } = await listen(t, () => new Promise(() => {}))
    const made = await api.post(productsPath, lamp, access)
    assert.equal(made.status, 201)
    await eventually(() => assert.match(api.log.join(''), /no answer within 1000 ms.*a listener failed/))
  })
})
