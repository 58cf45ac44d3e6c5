/** Lists of collections: order, pages, filters, search, and what they include. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientResponse } from '../../src/testing/client.ts'
import { anyEngines, onEachEngine } from '../support/databases.ts'
import { chosen } from '../support/tiers.ts'
import { shareWorkshop } from '../support/workshop.ts'

interface Listed {
  id: number
  attributes: Record<string, never>
}

onEachEngine('a list of a collection', (engine) => {
  const shared = shareWorkshop(engine)

  /** A user with eight parts of their own. */
  async function stock() {
    const api = await shared()
    const { signInAs, make, get } = api
    const ada = await signInAs('user')
    const makers = [
      await make('/api/makers', { name: `One ${ada.id}`, members: [ada.id] }, ada.access),
      await make('/api/makers', { name: `Two ${ada.id}` }, ada.access),
    ]
    const [one, two] = makers.map(({ id }) => id) as [number, number]
    const given = [
      { name: 'Äpfel', due: '2026-03-01', weight: 1.5, tags: ['red', 'blue'], maker: one, sizes: [1, 2] },
      { name: 'bolt', due: '2026-01-01', grade: 'a', active: false, tags: ['red'], maker: two },
      { name: 'Bolt', grade: 'c', weight: -2, maker: one },
      { name: 'anchor', due: '2026-02-01', weight: 0.001, helpers: [ada.id] },
      { name: '100% _x_', due: '2026-02-01', active: false, tags: ['blue', 'blue'], grade: 'a' },
      { name: 'Zebra 😀', made_at: '2000-01-01T00:00:00Z', sizes: [2] },
      { name: 'zebra', made_at: '2999-12-31T23:59:59.999Z', due: '0001-01-01' },
      { name: 'Last, one', weight: 9_000_000_000_000.123, due: '9999-12-31' },
    ]
    const ids: number[] = []
    for (const each of given) ids.push((await make('/api/parts', each, ada.access)).id)
    const list = (query: string, token = ada.access) => get(`/api/parts?${query}`, token)
    const namesOf = ({ status, body }: ClientResponse) => {
      assert.equal(status, 200, JSON.stringify(body))
      return body.data.map(({ id }: Listed) => given[ids.indexOf(id)]?.name)
    }
    const find = async (query: string) => namesOf(await list(query)).sort()
    const [first] = makers
    return { ...api, ada, one, two, makerPath: first?.path as string, ids, given, list, find }
  }

  test('is sorted both ways, and read in pages forward and back', async () => {
    const { list, get, given, ada } = await stock()
    const keys = ['name', 'grade', 'weight', 'active', 'made_at', 'due', 'slug', 'maker', 'updated_at', 'id']
    for (const key of keys) {
      for (const sort of [key, `-${key}`]) {
        const whole = await list(`sort=${sort}&per_page=100`)
        assert.equal(whole.body.meta.total, given.length, sort)
        const ids = whole.body.data.map(({ id }: Listed) => id)
        assert.equal(new Set(ids).size, given.length)
        const shownOf = ({ id, attributes }: Listed) => {
          const value: unknown = key === 'id' ? id : attributes[key]
          return typeof value === 'string' ? value.toLowerCase() : value
        }
        const values = whole.body.data.map(shownOf).filter((value: unknown) => value !== null)
        const ordered = [...values].sort((a, b) => (a === b ? 0 : Number(a > b) - Number(a < b)))
        assert.deepEqual(values, sort === key ? ordered : ordered.reverse(), sort)
        // Null comes before everything else.
        const places = whole.body.data.map((each: Listed) => shownOf(each) === null)
        assert.deepEqual(
          places,
          [...places].sort((a, b) => (sort === key ? Number(b) - Number(a) : Number(a) - Number(b))),
          sort,
        )
        for (const perPage of chosen([2, 3], (rows) => rows === 3)) {
          const found: number[][] = []
          let url = `/api/parts?sort=${sort}&per_page=${perPage}`
          let last: ClientResponse | undefined
          while (url !== '') {
            last = await get(url, ada.access)
            assert.equal(last.status, 200, JSON.stringify(last.body))
            found.push(last.body.data.map(({ id }: Listed) => id))
            url = linkOf(last, 'next')
          }
          assert.deepEqual(found.flat(), ids, `${sort} by ${perPage}`)
          for (let i = found.length - 2; i >= 0; i--) {
            last = await get(linkOf(last as ClientResponse, 'prev'), ada.access)
            assert.deepEqual(
              last.body.data.map(({ id }: Listed) => id),
              found[i],
              `${sort} back by ${perPage}`,
            )
          }
          assert.equal(last?.body.meta.prev, null)
          if (perPage === 3) {
            const page = await get(`/api/parts?sort=${sort}&per_page=3&page=2`, ada.access)
            assert.deepEqual(
              page.body.data.map(({ id }: Listed) => id),
              found[1],
            )
          }
        }
      }
    }
  })

  test('is filtered in all the ways of its fields', async () => {
    const { find, one, two, ada, list } = await stock()
    const cases: [query: string, names: string[]][] = [
      ['filter[grade]=a', ['bolt', '100% _x_']],
      ['filter[grade]=a,c', ['bolt', '100% _x_', 'Bolt']],
      ['filter[active]=false', ['bolt', '100% _x_']],
      ['filter[weight]=1.5', ['Äpfel']],
      ['filter[weight]=1.50', ['Äpfel']],
      ['filter[weight]=null,-2', ['bolt', '100% _x_', 'Bolt', 'Zebra 😀', 'zebra']],
      ['filter[weight][gt]=0.001', ['Äpfel', 'Last, one']],
      ['filter[weight][gte]=0.001&filter[weight][lt]=1.5', ['anchor']],
      ['filter[weight][lte]=-2', ['Bolt']],
      ['filter[due]=null', ['Bolt', 'Zebra 😀']],
      ['filter[due]=2026-02-01', ['anchor', '100% _x_']],
      ['filter[due][gt]=2026-02-01', ['Äpfel', 'Last, one']],
      ['filter[due][gte]=2026-02-01&filter[due][lt]=2026-03-01', ['anchor', '100% _x_']],
      ['filter[made_at][lt]=2000-01-02', ['Zebra 😀']],
      ['filter[made_at]=2000-01-01T01:00:00%2B01:00', ['Zebra 😀']],
      ['filter[made_at][gte]=2999-12-31', ['zebra']],
      ['filter[tags]=red', ['Äpfel', 'bolt']],
      ['filter[tags]=red,blue', ['Äpfel', 'bolt', '100% _x_']],
      ['filter[tags]=red&filter[sizes]=2', ['Äpfel']],
      ['filter[sizes]=null,1', ['Äpfel', 'bolt', 'Bolt', 'anchor', '100% _x_', 'zebra', 'Last, one']],
      [`filter[helpers]=${ada.id}`, ['anchor']],
      [`filter[maker]=${one}`, ['Äpfel', 'Bolt']],
      [`filter[maker]=${one},${two}`, ['Äpfel', 'Bolt', 'bolt']],
      ['filter[maker]=0', []],
      ['filter[maker]=9007199254740991', []],
      ['filter[maker]=-5', []],
      ['filter[slug]=bolt', ['Bolt', 'bolt']],
      ['filter[name]=bolt', ['bolt']],
      ['q=BOLT', ['Bolt', 'bolt']],
      ['q=%25', ['100% _x_']],
      ['q=_', ['100% _x_']],
      ['q=ä', ['Äpfel']],
      ['q=😀', ['Zebra 😀']],
      ['q=o&filter[grade]=a&sort=-name', ['bolt']],
      ['q=-', ['100% _x_', 'Zebra 😀', 'Last, one']],
    ]
    for (const [query, names] of cases) {
      assert.deepEqual(await find(query), [...names].sort(), query)
      const counted = await list(`${query}&count=exact&per_page=1`)
      assert.deepEqual(
        [counted.body.meta.total, counted.body.data.length],
        [names.length, Math.min(1, names.length)],
        query,
      )
    }
    assert.equal((await list('q=%20%20&sort=&cursor=&count=&fields=&include=')).body.meta.total, 8)
    const fifty = Array.from({ length: 50 }, (_, i) => i + 1).join()
    assert.equal((await list(`filter[slot]=${fifty}`)).status, 200)
    assert.deepEqual((await list(`filter[slot]=${fifty},51`)).body.details, {
      'filter[slot]': ['Must be at most 50 values'],
    })
  })

  test('shows, counts and links only rows that its reader may see', async () => {
    const { list, request, signInAs, ids, one, ada, makerPath, patch, given } = await stock()
    const grace = await signInAs('user')
    const nothing = await list('count=exact', grace.access)
    assert.deepEqual(nothing.body, { data: [], meta: { total: 0, per_page: 20, next: null, prev: null } })
    for (const query of [
      `filter[maker]=${one}`,
      'q=bolt',
      `filter[owner]=${ada.id}`,
      'per_page=1&page=2',
      'filter[tags]=red',
    ]) {
      const { body, headers } = await list(query, grace.access)
      assert.deepEqual([body.data, body.meta.total, body.meta.next], [[], 0, null], query)
      assert.doesNotMatch(headers.get('link') ?? '', /next/)
    }
    await patch(makerPath, { members: [grace.id] }, ada.access)
    const two = await list('per_page=1&sort=name', grace.access)
    assert.deepEqual([two.body.meta.total, two.body.data[0].id], [2, ids[2]])
    const last = await list(`per_page=1&sort=name&cursor=${two.body.meta.next}`, grace.access)
    assert.deepEqual([last.body.data[0].id, last.body.meta.next], [ids[0], null])
    const tag = last.headers.get('etag') as string
    // What others write, and cannot be seen, changes nothing.
    await patch(`/api/parts/${ids[7]}`, { name: 'Aaa' }, ada.access)
    const again = await list(`per_page=1&sort=name&cursor=${two.body.meta.next}`, grace.access)
    assert.equal(again.headers.get('etag'), tag)
    const known = await request('GET', `/api/parts?per_page=1&sort=name&cursor=${two.body.meta.next}`, {
      token: grace.access,
      headers: { 'if-none-match': tag },
    })
    assert.deepEqual([known.status, known.body], [304, ''])
    await patch(makerPath, { members: [] }, ada.access)
    assert.equal((await list('', grace.access)).body.meta.total, 0)
    assert.equal((await list('')).body.meta.total, given.length)
  })

  test('includes rows of up to three levels, as far as its reader may see them', async () => {
    const { list, get, make, signInAs, request, ids, ada, one, two, patch, makerPath } = await stock()
    const [grace, viewer] = [await signInAs('user'), await signInAs('inspector')]
    await patch(makerPath, { members: [grace.id, ada.id] }, ada.access)
    const maker = await make('/api/makers', { name: `Of ${grace.id}` }, grace.access)
    const review = await make('/api/reviews', { part: ids[0], text: 'Good', about: maker.id }, grace.access)
    const hidden = await make('/api/reviews', { part: ids[0], text: 'Hush', is_private: true }, grace.access)
    const dropped = await make('/api/reviews', { part: ids[0], text: 'Gone' }, grace.access)
    await request('DELETE', dropped.path, { token: grace.access })
    const query = 'include=maker.parts.reviews,reviews.author,owner,helpers&fields=name&sort=id&per_page=4'
    const { body, status } = await list(query)
    assert.equal(status, 200, JSON.stringify(body))
    const [first, second, , fourth] = body.data
    assert.deepEqual(Object.keys(first.attributes), ['name'])
    assert.deepEqual(
      first.included.maker.included.parts.map(({ id }: Listed) => id),
      [ids[0], ids[2]],
    )
    assert.deepEqual(
      first.included.maker.included.parts[0].included.reviews.map(({ id }: Listed) => id),
      [review.id],
    )
    assert.deepEqual(
      first.included.reviews.map(({ id }: Listed) => id),
      [review.id],
    )
    assert.deepEqual(first.included.reviews[0].included.author, {
      id: grace.id,
      type: 'users',
      attributes: { name: 'Ada' },
    })
    assert.deepEqual([first.included.owner.id, first.included.helpers], [ada.id, []])
    assert.deepEqual(
      fourth.included.helpers.map(({ id }: Listed) => id),
      [ada.id],
    )
    assert.equal(fourth.included.maker, null)
    assert.equal(second.included.maker.id, two)
    const own = (await get(`/api/parts/${ids[0]}?include=reviews.about`, grace.access)).body.data.included.reviews
    assert.deepEqual(
      own.map(({ id }: Listed) => id),
      [review.id, hidden.id],
    )
    assert.equal(own[0].included.about.id, maker.id)
    const [other] = (await get(`/api/parts/${ids[0]}?include=reviews.about`, ada.access)).body.data.included.reviews
    assert.deepEqual([other.attributes.about, other.included.about], [maker.id, null])
    // Fields that may not be read stay hidden, and so do emails.
    const included = (await get(`/api/reviews/${review.id}?include=part,author`, viewer.access)).body.data.included
    assert.equal('note' in included.part.attributes, false)
    assert.equal('cost' in included.part.attributes, false)
    assert.equal('email' in included.author.attributes, false)
    const chief = await signInAs('admin')
    const seen = (await get(`/api/reviews/${review.id}?include=part,author`, chief.access)).body.data.included
    assert.deepEqual([seen.author.attributes.email, seen.part.attributes.cost], [grace.email, null])
    assert.equal((await get(`/api/parts/${ids[0]}?include=maker`, viewer.access)).body.data.included.maker, null)
    assert.deepEqual((await get(`/api/parts/${ids[0]}?fields=id`, ada.access)).body.data.attributes, {})
    assert.equal((await get(`/api/makers/${one}?include=members`, ada.access)).body.data.included.members.length, 2)
  })

  // The rest does not depend on the engine.
  if (!anyEngines.includes(engine)) return

  test('refuses what it does not know, and says what there is', async () => {
    const { list, given } = await stock()
    const sorts = 'id, name, grade, weight, active, made_at, due, slug, cost, maker, updated_at'
    const filters =
      'grade, weight, active, made_at, due, maker, owner, tags, sizes, helpers, slug, cost, note, name, slot'
    const fields =
      'name, code, maker, slot, owner, origin, grade, cost, note, secret, weight, active, made_at, due, sold, contact, site, data, tags, sizes, helpers, slug, title, created_at, updated_at'
    const sort = { sort: [`Must be one of ${sorts}, with - in front for descending`] }
    const cases: [query: string, details: object][] = [
      ['sort=code', sort],
      ['sort=--name', sort],
      ['sort=name&sort=due', sort],
      ['sort=__proto__', sort],
      ['filter[code]=x', { 'filter[code]': [`Unknown filter; there are ${filters}`] }],
      ['filter=x', { filter: [`Unknown filter; there are ${filters}`] }],
      ['filter[__proto__]=x', { 'filter[__proto__]': [`Unknown filter; there are ${filters}`] }],
      ['filter[grade]=d', { 'filter[grade]': ['Must be one of a, b, c'] }],
      ['filter[grade]=a,,b', { 'filter[grade]': ['Must be one of a, b, c'] }],
      ['filter[grade][gte]=a', { 'filter[grade][gte]': ['Takes no operator'] }],
      ['filter[due][is]=2026-01-01', { 'filter[due][is]': ['The operator must be one of gt, gte, lt, lte'] }],
      ['filter[due][gte]=null', { 'filter[due][gte]': ['Must be a date'] }],
      ['filter[due]=2026-02-30', { 'filter[due]': ['Must be a date'] }],
      ['filter[made_at]=yesterday', { 'filter[made_at]': ['Must be a date or a time of ISO 8601 with its zone'] }],
      ['filter[maker]=x', { 'filter[maker]': ['Must be an integer'] }],
      ['filter[maker]=1.5', { 'filter[maker]': ['Must be an integer'] }],
      ['filter[maker]=99999999999999999999', { 'filter[maker]': ['Must be an integer'] }],
      ['filter[weight]=1.0001', { 'filter[weight]': ['Must be a number with at most 3 decimals'] }],
      ['filter[active]=1', { 'filter[active]': ['Must be true or false'] }],
      ['filter[name]=%00', { 'filter[name]': ['Must not be blank'] }],
      ['filter[grade]=a&filter[grade]=b', { 'filter[grade]': ['Must be given once'] }],
      ['q=a&q=b', { q: ['Must be given once'] }],
      [`q=${'x'.repeat(256)}`, { q: ['Must be at most 255 characters of text'] }],
      ['count=all', { count: ['Must be exact'] }],
      ['cursor=x', { cursor: ['Must be a cursor of this list in the same order'] }],
      ['page=200', { page: ['Must be within the first 2000 items; go on by cursor'] }],
      ['include=code', { include: ['Must be among maker, owner, helpers, reviews'] }],
      ['include=maker.x', { include: ['Must be among owner, members, parts'] }],
      ['include=owner.x', { include: ['There is nothing to include with users'] }],
      ['include=maker.parts.reviews.part', { include: ['Must be at most 3 levels deep'] }],
      ['fields=name,reviews', { fields: [`Must be among ${fields}`] }],
      ['fields=name&fields=due', { fields: [`Must be among ${fields}`] }],
      ['sort=x&q=a&q=b', { ...sort, q: ['Must be given once'] }],
    ]
    for (const [query, details] of cases) {
      const { status, body } = await list(query)
      assert.deepEqual([status, body.details], [422, details], query)
    }
    const { next } = (await list('sort=name&per_page=3')).body.meta
    assert.deepEqual((await list(`sort=due&cursor=${next}`)).body.details, {
      cursor: ['Must be a cursor of this list in the same order'],
    })
    assert.deepEqual((await list(`sort=name&cursor=${next}&page=2`)).body.details, {
      page: ['Cannot be combined with cursor'],
    })
    for (const query of ['page=0', 'page=x', 'per_page=1000', 'per_page=-1', 'page=99']) {
      const { status, body } = await list(query)
      assert.deepEqual([status, body.meta.total], [200, given.length], query)
    }
    // Cursors that were made up.
    for (const parts of [
      ['name', 0, 'x', 1e300],
      ['name', 0, 5, 1],
      ['name', 0, 'a\u0000', 1],
      ['name', 0, '\ud800', 1],
      [],
      'x',
      null,
    ]) {
      const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url')
      assert.equal((await list(`sort=name&cursor=${cursor}`)).status, 422)
    }
    for (const [sort, value] of [
      ['due', 'x'],
      ['maker', Number.MAX_SAFE_INTEGER],
      ['made_at', '9999-12-31T23:59:59.999Z'],
      ['active', true],
    ]) {
      const cursor = Buffer.from(JSON.stringify([sort, 1, value, Number.MAX_SAFE_INTEGER])).toString('base64url')
      assert.equal((await list(`sort=${sort}&cursor=${cursor}`)).status, 200, `${sort}`)
    }
  })

  test('refuses to sort, filter and search by fields that may not be read', async () => {
    const { list, signInAs, get, patch, ada, ids } = await stock()
    const accountant = await signInAs('accountant')
    for (const query of ['sort=cost', 'sort=-cost', 'filter[cost]=5', 'filter[cost][gte]=0', 'filter[cost]=null']) {
      const refused = await list(query)
      assert.deepEqual([refused.status, refused.body], [403, { error: 'Forbidden' }], query)
      assert.equal((await list(query, accountant.access)).status, 200, query)
    }
    // A note is for the owner of the row, so it finds only rows of theirs.
    await patch(`/api/parts/${ids[0]}`, { note: `secret ${ada.id}` }, ada.access)
    const query = `filter[note]=secret%20${ada.id}&count=exact`
    assert.equal((await list(query)).body.meta.total, 1)
    assert.equal((await get(`/api/parts?${query}`, accountant.access)).body.meta.total, 0)
  })

  test('counts what a reader may see, however many rows there are of others', async () => {
    const { list, db, signInAs, make, ada } = await stock()
    const grace = await signInAs('user')
    await make('/api/parts', { name: 'Mine', grade: 'a' }, grace.access)
    const columns = 'name, owner, grade, active, made_at, slug, created_at, updated_at'
    const rows = Array.from({ length: 10_100 }, (_, i) => `('Row ${i}', $1, 'a', TRUE, $2, 'row', $2, $2)`)
    await db.write({
      sql: `INSERT INTO parts (${columns}) VALUES ${rows.join()}`,
      params: [ada.id, '2026-01-01T00:00:00.000Z'],
    })
    for (const query of ['', 'filter[grade]=a', 'q=mine', 'sort=name']) {
      assert.equal((await list(query, grace.access)).body.meta.total, 1, query)
    }
    assert.equal((await list('')).body.meta.total, null)
    assert.equal((await list('count=exact')).body.meta.total, 10_108)
    await db.write({ sql: "DELETE FROM parts WHERE slug = 'row' AND owner = $1", params: [ada.id] })
  })

  test('refuses to include more rows than a response can hold', async () => {
    const { get, db, ada, one } = await stock()
    const at = '2026-01-01T00:00:00.000Z'
    const insert = (table: string, columns: string, rows: string[]) =>
      db.write<{ id: number }>({
        sql: `INSERT INTO ${table} (${columns}, created_at, updated_at) VALUES ${rows.map((row) => `(${row}, $1, $1)`).join()} RETURNING id`,
        params: [at],
      })
    const part = `'Part', ${one}, ${ada.id}, 'a', TRUE, $1, 'part'`
    const [parts] = await insert('parts', 'name, maker, owner, grade, active, made_at, slug', Array(100).fill(part))
    const reviews = parts.flatMap(({ id }) => Array(2).fill(`${id}, ${ada.id}, 'Good', FALSE`))
    await insert('reviews', 'part, author, text, is_private', reviews)
    const list = (perPage: number) =>
      get(`/api/parts?sort=-id&per_page=${perPage}&include=maker.parts.reviews&fields=name`, ada.access)
    const refused = await list(100)
    const details = { include: ['Must be at most 20000 rows in all; ask for fewer per page'] }
    assert.deepEqual([refused.status, refused.body.details], [422, details])
    const { status, body } = await list(50)
    assert.equal(status, 200, JSON.stringify(body.details))
    assert.equal(body.data[0].included.maker.included.parts.length, 100)
  })
})

/** The path of a page that a list links to; empty if there is none. */
function linkOf({ headers }: ClientResponse, rel: 'next' | 'prev'): string {
  const found = (headers.get('link') ?? '').split(', ').find((each) => each.endsWith(`rel="${rel}"`))
  return found?.slice(1, found.indexOf('>')) ?? ''
}
