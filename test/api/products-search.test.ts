import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { createPostgresNameIndex } from '../../src/features/products/name-index.postgres.store.ts'
import { createSqliteNameIndex } from '../../src/features/products/name-index.sqlite.store.ts'
import { toTerm } from '../../src/features/products/products.search.ts'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { shareService } from '../support/api.ts'
import { onEachEngine } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { createProduct, idsOf, namesOf, productsPath, sampleRow, withoutProducts } from '../support/products.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

/** The search rule of the specification, without an index or a database. */
const lower = (text: string) => Array.from(text, (character) => character.toLowerCase()).join('')
const codePoints = (text: string) => Array.from(text, (character) => character.codePointAt(0) as number)

interface Named {
  id: number
  /** The name in lower case. */
  key: string
}

function byKeyThenId(a: Named, b: Named): number {
  const [x, y] = [codePoints(a.key), codePoints(b.key)]
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    if (x[i] !== y[i]) return (x[i] as number) - (y[i] as number)
  }
  return x.length - y.length || a.id - b.id
}

// Few characters, so that terms match often, including awkward ones.
const alphabet = [...'aAbBcC  %_\'"\\*:&|!()<>^-+~.,0', 'é', 'É', 'e\u0301', 'İ', 'i', 'ı', 'Σ', 'σ', 'ς', 'ß', 'ẞ']
const exotic = [
  '😀',
  '👩‍👩‍👧',
  '日',
  '本',
  'K',
  '\u{10ffff}',
  '\u{ffff}',
  '\n',
  '\t',
  '\u00a0',
  '\u200d',
  'Ǆ',
  'ﬁ',
  'Å',
]
const character = fc.constantFrom(...alphabet, ...exotic)
const text = (minLength: number, maxLength: number) =>
  fc.array(character, { minLength, maxLength }).map((characters) => characters.join(''))
const nameArbitrary = text(2, 14).filter((name) => name.trim() !== '' && [...name].length >= 2)
const termArbitrary = fc.oneof(text(1, 1), text(2, 2), text(1, 5)).filter((term) => term.trim() !== '')

async function fill(api: ApiWithRoles, engine: Dialect, names: readonly string[]): Promise<void> {
  const rest = { ...sampleRow, description: '', stock: 0 }
  const products = names.map((name) => ({ name, ...rest }))
  await api.db.write(insertMany(engine, products, '2026-01-01T00:00:00.000Z'))
}

onEachEngine('search', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('finds the names that a plain filter finds, in its order, whatever the term', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const names = fc.sample(nameArbitrary, {
      numRuns: amount({ full: 1500, otherwise: 800 }),
      seed: 20_261_115,
    })
    await fill(api, engine, names)
    // Some are hidden, and some come back under another name.
    await api.db.write({ sql: 'UPDATE products SET active = FALSE WHERE id % 10 = 3' })
    await api.db.write({ sql: `UPDATE products SET deleted_at = updated_at WHERE id % 10 = 4` })
    const found = names
      .map((name, i) => ({ id: i + 1, key: lower(name) }))
      .filter(({ id }) => id % 10 !== 3 && id % 10 !== 4)
      .toSorted(byKeyThenId)
    const inactive = names.map((name, i) => ({ id: i + 1, key: lower(name) })).filter(({ id }) => id % 10 === 3)
    const listed = [...found, ...inactive].toSorted(byKeyThenId)
    const index = engine === 'sqlite' ? createSqliteNameIndex(api.db) : createPostgresNameIndex(api.db)
    const fromNames = fc.sample(
      fc.tuple(fc.constantFrom(...names), fc.nat(), fc.integer({ min: 1, max: 6 })),
      amount({ full: 200, otherwise: 30 }),
    )
    const terms = [
      ...fc.sample(termArbitrary, { numRuns: amount({ full: 500, otherwise: 60 }), seed: 5 }),
      ...fromNames.map(([name, start, length]) => {
        const characters = [...name]
        const from = start % characters.length
        return characters.slice(from, from + length).join('')
      }),
      ...names.slice(0, amount({ full: 20, otherwise: 10 })),
    ].filter((term) => term.trim() !== '')
    for (const [i, term] of terms.entries()) {
      const wanted = lower(term)
      const expected = found.filter(({ key }) => key.includes(wanted)).map(({ id }) => id)
      // Both ways must find the same, whichever the service would choose.
      for (const way of [index.byGrams, index.alongNames]) {
        const products = await way(toTerm(term), 200)
        assert.deepEqual(
          products.map(({ id }) => id),
          expected.slice(0, 200),
          `${JSON.stringify(term)} by ${way.name}`,
        )
      }
      if (i % 10 === 0) {
        const response = await api.get(`${productsPath}?q=${encodeURIComponent(term)}`)
        assert.deepEqual(
          response.body.data.map(({ id }: { id: number }) => id),
          expected.slice(0, 1000),
          JSON.stringify(term),
        )
        const sorted = await api.get(`${productsPath}?sort=name&per_page=100&q=${encodeURIComponent(term)}`)
        const inList = listed.filter(({ key }) => key.includes(wanted)).map(({ id }) => id)
        assert.deepEqual(
          [idsOf(sorted), sorted.body.meta.total],
          [inList.slice(0, 100), inList.length],
          JSON.stringify(term),
        )
      }
    }
  })

  test('combines with sort, filters and cursors, in which it finds inactive products by their present names', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    const ids: number[] = []
    for (const [name, price] of [
      ['Desk Lamp', 30],
      ['Floor lamp', 20],
      ['Chair', 5],
      ['LAMPSHADE', 10],
    ] as const) {
      ids.push(await createProduct(api, access, { name, price }))
    }
    const [desk = 0, floor = 0] = ids
    const change = (id: number, values: object) => api.put(`${productsPath}/${id}`, values, access)
    const search = async (query: string) => namesOf(await api.get(`${productsPath}?${query}`))
    await change(floor, { active: false })
    const page = await api.get(`${productsPath}?q=lamp&sort=price&per_page=2`)
    assert.deepEqual(namesOf(page), ['LAMPSHADE', 'Floor lamp'])
    assert.deepEqual([page.body.meta.total, page.body.meta.per_page, page.body.meta.prev], [3, 2, null])
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String(page.headers.get('link'))) ?? []
    assert.match(next, /q=lamp/)
    assert.deepEqual(namesOf(await api.get(next)), ['Desk Lamp'])
    assert.deepEqual(await search(`q=lamp&sort=price&cursor=${page.body.meta.next}`), ['Desk Lamp'])
    assert.deepEqual(await search('q=LAMP&filter[active]=false'), ['Floor lamp'])
    assert.deepEqual(await search('q=lamp&filter[price][lte]=20'), ['Floor lamp', 'LAMPSHADE'])
    await change(floor, { name: 'Floor light' })
    assert.deepEqual(await search('q=floor%20lamp&sort=name'), [])
    assert.deepEqual(await search('q=or%20li&sort=name'), ['Floor light'])
    assert.deepEqual(await search('q=li&filter[active]=false'), ['Floor light'])
    await change(floor, { active: true })
    assert.deepEqual(await search('q=or%20li&sort=name'), ['Floor light'])
    assert.deepEqual(await search('q=li&filter[active]=false'), [])
    await change(floor, { active: false })
    await api.delete(`${productsPath}/${floor}`, access)
    assert.deepEqual(await search('q=floor&sort=name'), [])
    // Alone, a search is as specified.
    await change(desk, { active: false })
    const alone = await api.get(`${productsPath}?q=lamp&count=exact&category=none`)
    assert.deepEqual([namesOf(alone), alone.body.meta], [['LAMPSHADE'], { total: 1 }])
    assert.deepEqual(await search('q=%20&sort=id'), ['Desk Lamp', 'Chair', 'LAMPSHADE'])
  })

  test('ignores case, in any alphabet, and has no wildcards', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    for (const name of ['Éclair au chocolat', '100% cotton', 'snake_case', 'ΟΔΥΣΣΕΥΣ', 'O\'Brien "quoted"', '😀 mug']) {
      await createProduct(api, access, { name })
    }
    for (const [q, expected] of [
      ['ÉCLAIR', ['Éclair au chocolat']],
      ['éclair', ['Éclair au chocolat']],
      ['CHOCO', ['Éclair au chocolat']],
      ['t', ['100% cotton', 'O\'Brien "quoted"', 'Éclair au chocolat']],
      ['%', ['100% cotton']],
      ['_', ['snake_case']],
      ['0%', ['100% cotton']],
      ['e_c', ['snake_case']],
      ["'", ['O\'Brien "quoted"']],
      ['"q', ['O\'Brien "quoted"']],
      ['σσευσ', ['ΟΔΥΣΣΕΥΣ']],
      ['ΣΣΕΥΣ', ['ΟΔΥΣΣΕΥΣ']],
      ['😀', ['😀 mug']],
      ['😀 m', ['😀 mug']],
      ['nothing like it', []],
      ['x'.repeat(5000), []],
      ['a\0b', []],
    ] as const) {
      const response = await api.get(`${productsPath}?q=${encodeURIComponent(q)}`)
      assert.deepEqual([response.status, namesOf(response)], [200, expected], q.slice(0, 20))
      assert.deepEqual(response.body.meta, { total: expected.length })
    }
  })

  test('follows every change at once', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    const search = async (q: string) => namesOf(await api.get(`${productsPath}?q=${q}`))
    const id = await createProduct(api, access, { name: 'Umbrella' })
    assert.deepEqual(await search('brel'), ['Umbrella'])
    await api.put(`${productsPath}/${id}`, { name: 'Parasol' }, access)
    assert.deepEqual([await search('brel'), await search('aso')], [[], ['Parasol']])
    await api.put(`${productsPath}/${id}`, { active: false }, access)
    assert.deepEqual([await search('aso'), await search('p')], [[], []])
    await api.put(`${productsPath}/${id}`, { active: true }, access)
    assert.deepEqual([await search('aso'), await search('p')], [['Parasol'], ['Parasol']])
    await api.delete(`${productsPath}/${id}`, access)
    assert.deepEqual([await search('aso'), await search('p')], [[], []])
  })

  if (engine !== 'postgres') return
  test('returns a consistent result in parts, even if a product changes between two of them', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    await fill(api, engine, ['Lamp', ...Array.from({ length: 450 }, (_, i) => `Lamp ${i + 100}`)])
    const walk = (db: Database) => createPostgresNameIndex(db).alongNames(toTerm('lamp'), 1000)
    for (const change of [
      "SET name = 'Zebra', name_key = 'zebra' WHERE id = 400",
      "SET name = 'Lamp zzz', name_key = 'lamp zzz' WHERE id = 401",
      'SET deleted_at = updated_at WHERE id = 402',
      'SET active = FALSE WHERE id = 403',
    ]) {
      let asked = 0
      const scan: Database['scan'] = async (sql, params) => {
        // After the ids and the first part.
        if (asked++ === 2) await api.db.write({ sql: `UPDATE products ${change}` })
        return api.db.scan(sql, params)
      }
      const found = await walk({ ...api.db, scan })
      assert.ok(asked > 3, change)
      assert.deepEqual(found, await walk(api.db), change)
    }
    assert.equal((await walk(api.db)).length, 448)
  })
})
