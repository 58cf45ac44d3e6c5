import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { shareOnEngines, startApi, unlimitedRates } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine, onEachEngine } from '../support/databases.ts'
import { many, signIn } from '../support/people.ts'
import { createProduct, idsOf, namesOf, productsPath, sampleRow, withoutProducts } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

const service = shareOnEngines((owner, engine) => startApiWithRoles(owner, { engine, env: unlimitedRates }))

onEachEngine('the listing of products', (engine) => {
  const shared = service(engine)

  // The first one, because it knows the ids.
  test('comes in pages by id, active or not, without what is deleted', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const rows = Array.from({ length: 45 }, (_, i) => ({ ...sampleRow, name: `Product ${i + 1}` }))
    await api.db.write(insertMany(engine, rows, '2026-01-01T00:00:00.000Z'))
    await api.put(`${productsPath}/2`, { active: false }, access)
    await api.delete(`${productsPath}/3`, access)
    const first = await api.get(productsPath)
    assert.equal(first.status, 200)
    assert.deepEqual(first.body.meta, { total: 44, page: 1, per_page: 20, last_page: 3 })
    assert.deepEqual(idsOf(first), [1, 2, ...Array.from({ length: 18 }, (_, i) => i + 4)])
    assert.deepEqual(first.body.data[0].type, 'products')
    const last = await api.get(`${productsPath}/?page=3`)
    assert.deepEqual(last.body.meta, { total: 44, page: 3, per_page: 20, last_page: 3 })
    assert.deepEqual(idsOf(last), [42, 43, 44, 45])
    const beyond = await api.get(`${productsPath}/?page=4`)
    assert.deepEqual(beyond.body, { data: [], meta: { total: 44, page: 4, per_page: 20, last_page: 3 } })
    assert.deepEqual(idsOf(await api.get(`${productsPath}?page=7&per_page=7`)), [44, 45])
  })

  test('counts right while many write at once', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    const count = amount({ full: 60, otherwise: 30 })
    const ids = await many(count, () => createProduct(api, access))
    await many(count / 3, (i) => api.delete(`${productsPath}/${ids[i]}`, access))
    // Twice, and in parallel: only the first counts.
    await many(count / 3, (i) => api.delete(`${productsPath}/${ids[i + count / 6]}`, access))
    const { body } = await api.get(`${productsPath}?per_page=100`)
    assert.equal(body.meta.total, count / 2)
    assert.equal(body.data.length, count / 2)
  })

  // The last one, because it chooses the ids.
  test('finds every page, however deep, with whole stretches of products gone', async () => {
    const api = await withoutProducts(await shared())
    // Beyond one of the large blocks by which products are counted.
    const total = amount({ full: 40_000, otherwise: 20_000 })
    const base = 1000
    const [gone, back] = [base + 0.1 * total, base + 0.825 * total]
    const type = engine === 'sqlite' ? 'TEXT' : 'TIMESTAMPTZ'
    // Most of those that are gone have never been there.
    await api.db.write({
      sql: `WITH RECURSIVE numbers (n) AS (SELECT ${base + 1} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${base + total})
            INSERT INTO products (id, name, name_key, slug, description, price_cents, created_at, updated_at)
            ${engine === 'sqlite' ? '' : 'OVERRIDING SYSTEM VALUE'}
            SELECT n, 'Product', 'product', 'product', '', 100, CAST($1 AS ${type}), CAST($1 AS ${type}) FROM numbers
            WHERE n NOT BETWEEN ${gone + 500} AND ${back - 500}`,
      params: ['2026-01-01T00:00:00.000Z'],
    })
    await api.db.write({
      sql: `UPDATE products SET deleted_at = updated_at
            WHERE id <= ${base + 300} OR id BETWEEN ${gone} AND ${back} OR (id > ${back + 2000} AND id % 3 = 0)`,
    })
    const live = Array.from({ length: total }, (_, i) => base + i + 1).filter(
      (id) => !(id <= base + 300 || (id >= gone && id <= back) || (id > back + 2000 && id % 3 === 0)),
    )
    const last = Math.ceil(live.length / 100)
    const before = Math.ceil((gone - base - 300) / 100)
    const around = [-2, -1, 0, 1, 2, 23].map((pages) => before + pages)
    for (const page of [1, 2, 3, before / 2, ...around, last - 1, last, last + 1].map(Math.floor)) {
      const response = await api.get(`${productsPath}?per_page=100&page=${page}`)
      assert.deepEqual(idsOf(response), live.slice((page - 1) * 100, page * 100), `page ${page}`)
      assert.equal(response.body.meta.total, live.length)
      assert.equal(response.body.meta.last_page, last)
    }
  })
})

onAnyEngine('the listing of products', (engine) => {
  const shared = service(engine)

  test('falls back to defaults and stops at a hundred a page', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    await many(3, () => createProduct(api, access))
    for (const [query, page, perPage] of [
      ['page=0', 1, 20],
      ['page=-1&per_page=-5', 1, 20],
      ['page=x&per_page=y', 1, 20],
      ['page=1.5&per_page=2.5', 1, 20],
      ['page=&per_page=', 1, 20],
      ['per_page=0', 1, 20],
      ['per_page=100', 1, 100],
      ['per_page=101', 1, 100],
      ['per_page=1000000', 1, 100],
      ['page=2&per_page=2', 2, 2],
      ['page=999999999999', 999_999_999_999, 20],
      ['page=9007199254740991&per_page=100', 9_007_199_254_740_991, 100],
      ['per_page=99999999999999999999', 1, 100],
      ['page=0000000000000000000002', 2, 20],
    ] as const) {
      const { status, body } = await api.get(`${productsPath}?${query}`)
      assert.equal(status, 200)
      assert.deepEqual([body.meta.page, body.meta.per_page], [page, perPage], query)
    }
  })

  test('has one page when there is nothing', async () => {
    const api = await withoutProducts(await shared())
    for (const path of [productsPath, `${productsPath}/`]) {
      assert.deepEqual((await api.get(path)).body, {
        data: [],
        meta: { total: 0, page: 1, per_page: 20, last_page: 1 },
      })
    }
  })

  test('links to the pages around', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    await many(5, () => createProduct(api, access))
    const link = (page: number, rel: string) => `</api/v2/products?page=${page}&per_page=2>; rel="${rel}"`
    for (const [page, links] of [
      [1, [link(1, 'first'), link(2, 'next'), link(3, 'last')]],
      [2, [link(1, 'first'), link(1, 'prev'), link(3, 'next'), link(3, 'last')]],
      [3, [link(1, 'first'), link(2, 'prev'), link(3, 'last')]],
      [9, [link(1, 'first'), link(3, 'prev'), link(3, 'last')]],
    ] as const) {
      const response = await api.get(`${productsPath}?page=${page}&per_page=2`)
      assert.equal(response.headers.get('link'), links.join(', '))
    }
  })
})

onEachEngine('a collection of products', (engine) => {
  const shared = service(engine)

  test('of a category has the active products, by name', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    const ids: Record<string, number> = {}
    for (const name of ['banana', 'Apple', 'cherry', 'Zebra', 'éclair', 'apple', 'Date']) {
      ids[name] = await createProduct(api, access, { name, category: 'Food' })
    }
    await createProduct(api, access, { name: 'Anvil', category: 'tools' })
    await api.put(`${productsPath}/${ids.cherry}`, { active: false }, access)
    await api.delete(`${productsPath}/${ids.Zebra}`, access)
    const food = await api.get(`${productsPath}?category=Food`)
    assert.deepEqual(namesOf(food), ['Apple', 'apple', 'banana', 'Date', 'éclair'])
    assert.deepEqual(food.body.meta, { total: 5 })
    assert.equal(food.headers.get('x-truncated'), null)
    assert.deepEqual((await api.get(`${productsPath}?category=food`)).body, { data: [], meta: { total: 0 } })
    assert.deepEqual((await api.get(`${productsPath}?category=a%00b`)).body, { data: [], meta: { total: 0 } })
  })

  test('by term takes precedence over category, and both over pages', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    await createProduct(api, access, { name: 'Red Lamp', category: 'home' })
    await createProduct(api, access, { name: 'Blue Lamp', category: 'office' })
    await createProduct(api, access, { name: 'Desk', category: 'office' })
    const both = await api.get(`${productsPath}?q=lamp&category=office&page=2`)
    assert.deepEqual([namesOf(both), both.body.meta], [['Blue Lamp', 'Red Lamp'], { total: 2 }])
    const category = await api.get(`${productsPath}?q=&category=office&page=2`)
    assert.deepEqual([namesOf(category), category.body.meta], [['Blue Lamp', 'Desk'], { total: 2 }])
    const page = await api.get(`${productsPath}?q=%20&category=%20`)
    assert.deepEqual(page.body.meta, { total: 3, page: 1, per_page: 20, last_page: 1 })
  })
})

onAnyEngine('a collection of products', (engine) => {
  test('stops at the limit and says so', async (t) => {
    const config = createConfig(t, { products: 'products {\n  collection_limit = 3\n}\n' })
    const api = await startApi(t, { engine, config })
    const { access } = await signIn(api)
    for (const name of ['Lamp 4', 'Lamp 3', 'Lamp 2']) await createProduct(api, access, { name })
    for (const query of ['q=lamp', 'category=home']) {
      const whole = await api.get(`${productsPath}?${query}`)
      assert.deepEqual([whole.body.meta.total, whole.headers.get('x-truncated')], [3, null])
    }
    await createProduct(api, access, { name: 'Lamp 1' })
    for (const query of ['q=lamp', 'category=home']) {
      const cut = await api.get(`${productsPath}?${query}`)
      assert.deepEqual(namesOf(cut), ['Lamp 1', 'Lamp 2', 'Lamp 3'])
      assert.deepEqual([cut.body.meta.total, cut.headers.get('x-truncated')], [3, 'true'])
    }
  })

  test('has no limit if it is 0', async (t) => {
    const config = createConfig(t, { products: 'products {\n  collection_limit = 0\n}\n' })
    const api = await startApi(t, { engine, config })
    const { access } = await signIn(api)
    await many(5, () => createProduct(api, access))
    for (const query of ['q=lamp', 'category=home']) {
      assert.equal((await api.get(`${productsPath}?${query}`)).body.meta.total, 5)
    }
  })
})
