import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import type { ProductValues } from '../../src/features/products/product.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { type Api, type Owner, shareOnEngines } from '../support/api.ts'
import { onAnyEngine, onEachEngine } from '../support/databases.ts'
import { idsOf, productsPath, sampleRow } from '../support/products.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { amount, chosen } from '../support/tiers.ts'

interface Stored extends ProductValues {
  id: number
  updated_at: string
}

const categories = ['home', 'garden', 'office & more', 'rare']
const count = 240

/** The same each time, with many equal values. */
function makeProducts(): ProductValues[] {
  return Array.from({ length: count }, (_, i) => ({
    ...sampleRow,
    name: `${'qwertz'[(i * 5) % 6]?.[i % 2 === 0 ? 'toUpperCase' : 'toLowerCase']()} ${(i * 7) % 11}`,
    price_cents: 100 + ((i * 37) % 50) * 25,
    category: categories[i === 7 ? 3 : (i * 13) % 3] as string,
    stock: (i * 29) % 9,
    active: i % 5 !== 0,
  }))
}

type Sorted = 'id' | 'name' | 'price' | 'stock' | 'updated_at'

const keys: Readonly<Record<Sorted, (product: Stored) => string | number>> = {
  id: ({ id }) => id,
  name: ({ name }) => name.toLowerCase(),
  price: ({ price_cents }) => price_cents,
  stock: ({ stock }) => stock,
  updated_at: ({ updated_at }) => updated_at,
}

function sortBy(products: readonly Stored[], field: Sorted, isDescending: boolean): number[] {
  const key = keys[field]
  const sorted = products.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)]
    return x < y ? -1 : x > y ? 1 : a.id - b.id
  })
  return (isDescending ? sorted.reverse() : sorted).map(({ id }) => id)
}

const filters: readonly [query: string, passes: (product: Stored) => boolean][] = [
  ['', () => true],
  ['filter[active]=true', ({ active }) => active],
  ['filter[active]=false', ({ active }) => !active],
  ['filter[category]=home', ({ category }) => category === 'home'],
  ['filter[category]=office%20%26%20more&filter[active]=true', (p) => p.category === 'office & more' && p.active],
  ['filter[category]=rare', ({ category }) => category === 'rare'],
  ['filter[category]=none', () => false],
  ['filter[price][gte]=3.5&filter[price][lt]=8', ({ price_cents: p }) => p >= 350 && p < 800],
  ['filter[price]=3.25', ({ price_cents }) => price_cents === 325],
  ['filter[stock][gt]=2&filter[active]=false', ({ stock, active }) => stock > 2 && !active],
  [
    'filter[category]=garden&filter[price][lte]=9.00&filter[stock][gte]=3',
    (p) => p.category === 'garden' && p.price_cents <= 900 && p.stock >= 3,
  ],
  ['filter[updated_at][gte]=2026-01-02', ({ updated_at }) => updated_at >= '2026-01-02'],
  ['q=W', ({ name }) => name.toLowerCase().includes('w')],
  ['q=t%201&filter[active]=false', ({ name, active }) => name.toLowerCase().includes('t 1') && !active],
  ['q=none', () => false],
]

/** All pages from the first, by `meta.next`. */
async function walk(api: Api, query: string): Promise<{ ids: number[]; pages: number; totals: Set<number | null> }> {
  const ids: number[] = []
  const totals = new Set<number | null>()
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const response = await api.get(`${productsPath}?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    assert.equal(response.status, 200, JSON.stringify(response.body))
    ids.push(...idsOf(response))
    totals.add(response.body.meta.total)
    cursor = response.body.meta.next
    assert.ok(pages < 100, 'the pages end')
  }
  return { ids, pages, totals }
}

async function start(owner: Owner, engine: Dialect) {
  const api = await startApiWithRoles(owner, { engine })
  await api.db.write(insertMany(engine, makeProducts(), '2026-01-01T00:00:00.000Z'))
  await api.db.write({
    sql: `UPDATE products SET updated_at = $1 WHERE id % 3 = 0`,
    params: ['2026-01-02T10:00:00.000Z'],
  })
  await api.db.write({ sql: 'UPDATE products SET deleted_at = updated_at WHERE id % 17 = 0' })
  const stored = await api.db.all<Stored>(
    'SELECT id, name, price_cents, category, stock, active, updated_at FROM products WHERE deleted_at IS NULL',
  )
  return { api, stored: stored.map((product) => ({ ...product, active: Boolean(product.active) })) }
}

const shared = shareOnEngines(start)

onEachEngine('products in any order', (engine) => {
  const service = shared(engine)

  for (const field of Object.keys(keys) as Sorted[]) {
    test(`by ${field}, with all filters, page by page to the end and back`, async () => {
      const { api, stored } = await service()
      for (const [i, [query, passes]] of filters.entries()) {
        for (const isDescending of chosen([false, true], (each) => each === (i % 2 === 1))) {
          const asked = `sort=${isDescending ? '-' : ''}${field}&${query}&per_page=40`
          const expected = sortBy(stored.filter(passes), field, isDescending)
          const { ids, totals } = await walk(api, asked)
          assert.deepEqual(ids, expected, asked)
          assert.deepEqual([...totals], [expected.length], asked)
        }
      }
    })
  }

  test('cursors that are made up do no harm', async () => {
    const { api } = await service()
    const write = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url')
    for (const parts of [
      ['name', 0, { a: 1 }, 1],
      ['name', 0, 'a\u0000', 1],
      ['name', 0, 'a', 1.5],
      ['name', 0, 'a', '1'],
      ['name', 0, 'a'],
      { length: 4 },
      null,
    ]) {
      assert.equal((await api.get(`${productsPath}?sort=name&cursor=${write(parts)}`)).status, 422)
    }
    for (const value of ['', '\u{10ffff}', "'; DROP TABLE products; --"]) {
      assert.equal((await api.get(`${productsPath}?sort=name&cursor=${write(['name', 0, value, 9e15])}`)).status, 200)
    }
    for (const time of ['infinity', '0000-01-01T00:00:00.000Z', '2026-02-30T00:00:00.000Z']) {
      const cursor = write(['updated_at', 0, time, 1])
      assert.equal((await api.get(`${productsPath}?sort=updated_at&cursor=${cursor}`)).status, 422, time)
    }
    for (const [sort, found] of [
      ['stock', 0],
      ['-stock', count],
    ] as const) {
      const cursor = write([sort, 0, Number.MAX_SAFE_INTEGER, 1])
      const { body } = await api.get(`${productsPath}?sort=${sort}&cursor=${cursor}&per_page=100`)
      assert.equal(body.data?.length, Math.min(found, 100), sort)
    }
  })

  test('values beyond what any product has find all or none, and times that no engine has are refused', async () => {
    const { api, stored } = await service()
    for (const [query, total] of [
      ['filter[stock]=2147483648', 0],
      ['filter[stock][gt]=9007199254740990', 0],
      ['filter[stock][lt]=9007199254740990', stored.length],
      ['filter[stock][gte]=-9007199254740991', stored.length],
      ['filter[price][lt]=90071992547409.91', stored.length],
      ['filter[updated_at][gt]=9999-12-31T23:59:59.999Z', 0],
      ['filter[updated_at][lt]=0001-01-01', 0],
    ] as const) {
      const { status, body } = await api.get(`${productsPath}?${query}`)
      assert.deepEqual([status, body.meta?.total], [200, total], query)
    }
    for (const time of ['0000-01-01', '9999-12-31T23:59:59-23:59', '0001-01-01T00:00:00%2B00:01']) {
      assert.equal((await api.get(`${productsPath}?filter[updated_at][gte]=${time}`)).status, 422, time)
    }
  })
})

onAnyEngine('products in any order', (engine) => {
  const service = shared(engine)

  test('pages lead back to where they came from, and have links', async () => {
    const { api } = await service()
    const query = 'sort=-price&filter[category]=home&filter[active]=true&filter[price][gte]=2&per_page=5'
    const first = await api.get(`${productsPath}?${query}`)
    assert.equal(first.body.meta.prev, null)
    const second = await api.get(`${productsPath}?${query}&cursor=${first.body.meta.next}`)
    const third = await api.get(`${productsPath}?${query}&cursor=${second.body.meta.next}`)
    const back = await api.get(`${productsPath}?${query}&cursor=${third.body.meta.prev}`)
    assert.deepEqual(idsOf(back), idsOf(second))
    assert.deepEqual([back.body.meta.next, back.body.meta.prev], [second.body.meta.next, second.body.meta.prev])
    const start = await api.get(`${productsPath}?${query}&cursor=${back.body.meta.prev}`)
    assert.deepEqual(idsOf(start), idsOf(first))
    assert.equal(start.body.meta.prev, null)
    const links = String(second.headers.get('link'))
    const next = /<([^>]+)>; rel="next"/.exec(links)?.[1] as string
    assert.deepEqual(idsOf(await api.get(next)), idsOf(third))
    assert.match(links, /rel="prev"/)
    const byPage = await api.get(`${productsPath}?${query}&page=3`)
    assert.deepEqual(idsOf(byPage), idsOf(third))
  })

  test('answers like other lists: ETag, 304, x-cursor', async () => {
    const { api } = await service()
    const first = await api.get(`${productsPath}?sort=name`)
    assert.match(String(first.headers.get('x-cursor')), /^[\w-]{20,}$/)
    const again = await fetch(`${api.url}${productsPath}?sort=name`, {
      headers: { 'if-none-match': String(first.headers.get('etag')) },
    })
    assert.equal(again.status, 304)
  })

  test('refuses what it does not understand, and says why', async () => {
    const { api } = await service()
    const cursor = (await api.get(`${productsPath}?sort=name&per_page=2`)).body.meta.next
    for (const [query, field, message] of [
      ['sort=color', 'sort', 'Must be one of id, name, price, stock, updated_at, with - in front for descending'],
      ['sort=--price', 'sort', 'Must be one of id, name, price, stock, updated_at, with - in front for descending'],
      [
        'sort=id&sort=name',
        'sort',
        'Must be one of id, name, price, stock, updated_at, with - in front for descending',
      ],
      ['filter[color]=red', 'filter[color]', 'Unknown filter; there are price, stock, updated_at, category, active'],
      ['filter=red', 'filter', 'Unknown filter; there are price, stock, updated_at, category, active'],
      ['filter[name]=x', 'filter[name]', 'Unknown filter; there are price, stock, updated_at, category, active'],
      [
        'filter[__proto__]=1',
        'filter[__proto__]',
        'Unknown filter; there are price, stock, updated_at, category, active',
      ],
      ['filter[price]=abc', 'filter[price]', 'Must be a number with at most two decimals'],
      ['filter[price][gte]=1.005', 'filter[price][gte]', 'Must be a number with at most two decimals'],
      ['filter[price][gte]=1e3', 'filter[price][gte]', 'Must be a number with at most two decimals'],
      ['filter[price][near]=1', 'filter[price][near]', 'The operator must be one of gt, gte, lt, lte'],
      ['filter[stock][lt]=1.5', 'filter[stock][lt]', 'Must be an integer'],
      ['filter[stock]=99999999999999999', 'filter[stock]', 'Must be an integer'],
      ['filter[active]=yes', 'filter[active]', 'Must be true or false'],
      ['filter[active][gte]=true', 'filter[active][gte]', 'Takes no operator'],
      ['filter[category]=%20', 'filter[category]', 'Must not be blank'],
      ['filter[category]=%00', 'filter[category]', 'Must not be blank'],
      ['filter[category]=a&filter[category]=b', 'filter[category]', 'Must be given once'],
      [
        'filter[updated_at][gt]=yesterday',
        'filter[updated_at][gt]',
        'Must be a date or a time of ISO 8601 with its zone',
      ],
      [
        'filter[updated_at][gt]=2026-13-01',
        'filter[updated_at][gt]',
        'Must be a date or a time of ISO 8601 with its zone',
      ],
      [
        'filter[price]=1&filter[price][gte]=1',
        'filter[price][gte]',
        'Cannot be combined with the other one of this field',
      ],
      [
        'filter[price][gt]=1&filter[price][gte]=1',
        'filter[price][gte]',
        'Cannot be combined with the other one of this field',
      ],
      ['cursor=abc', 'cursor', 'Must be a cursor of this list in the same order'],
      [`sort=-name&cursor=${cursor}`, 'cursor', 'Must be a cursor of this list in the same order'],
      [`sort=name&page=2&cursor=${cursor}`, 'page', 'Cannot be combined with cursor'],
      ['sort=name&page=102', 'page', 'Must be within the first 2000 items; go on by cursor'],
      ['sort=name&count=maybe', 'count', 'Must be exact'],
      ['sort=name&q=%00', 'q', 'Must not be blank'],
      ['sort=name&q=a&q=b', 'q', 'Must be given once'],
      ['sort=name&category=home', 'category', 'Cannot be combined with sort, filter or cursor'],
    ] as const) {
      const { status, body } = await api.get(`${productsPath}?${query}`)
      assert.equal(status, 422, query)
      assert.deepEqual(body.error.details ?? body.details, { [field]: [message] }, query)
    }
    assert.equal((await api.get(`${productsPath}?sort=&filter[stock][gte]=-5`)).status, 200)
    // What is blank, or has another name, is no question for this list.
    const { meta } = (await api.get(`${productsPath}?sort=&cursor=&filters=x&page=2`)).body
    assert.deepEqual([meta.page, meta.per_page, meta.next], [2, 20, undefined])
  })
})

onAnyEngine('long lists in any order', (engine) => {
  test('filters that an index in that order does not settle are looked up in parts, and nothing is left out', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    // More than are counted.
    const length = amount({ full: 18_000, otherwise: 10_400 })
    const rows = Array.from({ length }, (_, i) => ({
      ...sampleRow,
      name: `Thing ${i}`,
      price_cents: 100 + i,
      // Two large groups: the first prices are all in one, the last in the other.
      category: i < length / 2 ? 'first' : 'last',
      stock: i % 2,
    }))
    for (let at = 0; at < rows.length; at += 1000) {
      await api.db.write(insertMany(engine, rows.slice(at, at + 1000), '2026-01-01T00:00:00.000Z'))
    }
    const query = 'sort=id&filter[category]=last&filter[stock]=1&per_page=100'
    const first = await api.get(`${productsPath}?${query}`)
    assert.equal(first.body.data.length, 0)
    assert.deepEqual([first.body.meta.total, typeof first.body.meta.next], [length / 4, 'string'])
    const { ids } = await walk(api, query)
    assert.deepEqual(
      ids,
      Array.from({ length: length / 4 }, (_, i) => length / 2 + 2 + 2 * i),
    )
    const counted = await api.get(`${productsPath}?${query}&count=exact`)
    assert.equal(counted.body.meta.total, length / 4)
    // Few pass one of the filters: they are sorted, and the page is full at once.
    const few = await api.get(
      `${productsPath}?sort=-stock&filter[category]=last&filter[price][gte]=${length / 100}&per_page=5`,
    )
    assert.deepEqual([few.body.meta.total, idsOf(few)], [100, [0, 2, 4, 6, 8].map((before) => length - before)])
    const last = await api.get(`${productsPath}?sort=-price&filter[category]=last&per_page=2`)
    assert.deepEqual([last.body.meta.total, idsOf(last)], [length / 2, [length, length - 1]])
    const all = await api.get(`${productsPath}?sort=-price&filter[active]=true&per_page=2`)
    assert.deepEqual([all.body.meta.total, idsOf(all)], [null, [length, length - 1]])
    await searchInLongList(api, rows)
  })

  /** Rare terms are sorted, common ones are looked for in the order. */
  async function searchInLongList(api: ApiWithRoles, rows: readonly ProductValues[]): Promise<void> {
    await api.db.write({ sql: 'UPDATE products SET active = FALSE WHERE id % 3 = 0' })
    await api.db.write({ sql: 'UPDATE products SET deleted_at = updated_at WHERE id % 5 = 0' })
    const stored = rows
      .map((row, i) => ({ ...row, id: i + 1, active: (i + 1) % 3 !== 0 }))
      .filter(({ id }) => id % 5 !== 0)
    for (const [query, passes] of [
      ['sort=price&q=HING%2017', ({ name }) => name.includes('hing 17')],
      ['sort=price&q=ng%201234', ({ name }) => name.includes('ng 1234')],
      ['sort=price&q=7&filter[price][lt]=50', ({ name, price_cents }) => name.includes('7') && price_cents < 5000],
      ['sort=price&q=thing&filter[category]=last&filter[active]=false', (p) => p.category === 'last' && !p.active],
      ['sort=price&q=g%208&filter[active]=false', ({ name, active }) => name.includes('g 8') && !active],
    ] satisfies [string, (row: ProductValues) => boolean][]) {
      const expected = stored.filter(passes).map(({ id }) => id)
      assert.deepEqual((await walk(api, `${query}&per_page=100`)).ids, expected, query)
      const { meta } = (await api.get(`${productsPath}?${query}&count=exact`)).body
      assert.equal(meta.total, expected.length, query)
    }
  }

  test('what is active and what is not is read as far as both are known, so that no product is left out', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    // Active ones are close together, and the first 2,500 of another category. Inactive ones are far apart.
    const active = Array.from({ length: 5000 }, (_, i) => ({ price_cents: 100 + i, isWanted: i >= 2500, active: true }))
    const others = Array.from({ length: 2100 }, (_, i) => ({
      price_cents: 100 + i * 90,
      isWanted: true,
      active: false,
    }))
    const rows = [...active, ...others].map(({ isWanted, ...row }) => ({
      ...{ ...sampleRow, ...row, name: 'Thing' },
      category: isWanted ? 'wanted' : 'other',
    }))
    for (let at = 0; at < rows.length; at += 1000) {
      await api.db.write(insertMany(engine, rows.slice(at, at + 1000), '2026-01-01T00:00:00.000Z'))
    }
    const wanted = rows.map((row, i) => ({ ...row, id: i + 1 })).filter(({ category }) => category === 'wanted')
    const { ids } = await walk(api, 'sort=price&filter[category]=wanted&per_page=100')
    assert.deepEqual(
      ids,
      wanted.toSorted((a, b) => a.price_cents - b.price_cents || a.id - b.id).map(({ id }) => id),
    )
  })
})
