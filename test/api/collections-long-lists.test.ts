/** Lists of collections with many rows, of which a reader sees few: what is read is bounded, and nothing is left out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { onEachEngine } from '../support/databases.ts'
import { plansOf, recordStatements } from '../support/query-plans.ts'
import { amount } from '../support/tiers.ts'
import { shareWorkshop } from '../support/workshop.ts'

const rows = 12_000
/** Of one user, in the order of ids and at the end of that of names. */
const own = 1500

onEachEngine('a long list of a collection', (engine) => {
  const shared = shareWorkshop(engine)

  async function fill() {
    const api = await shared()
    const [ada, other, nobody, few] = [
      await api.signInAs('user'),
      await api.signInAs('user'),
      await api.signInAs('user'),
      await api.signInAs('user'),
    ]
    const maker = await api.make('/api/makers', { name: `Few ${few.id}`, members: [few.id] }, ada.access)
    const time = engine === 'sqlite' ? 'TEXT' : 'TIMESTAMPTZ'
    const at = `CAST('2026-01-01T00:00:00.000Z' AS ${time})`
    const isOwn = `i % ${rows / own} = 0`
    const name = `CASE WHEN ${isOwn} THEN 'z' ELSE 'a' END || (i * 7919 % 10007)`
    await api.db.write({
      sql: `INSERT INTO parts (name, name__key, owner, maker, grade, slug, slug__key, tags, active, made_at, created_at, updated_at)
        WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${rows})
        SELECT ${name}, ${name}, CAST(CASE WHEN ${isOwn} THEN ${ada.id} ELSE ${other.id} END AS BIGINT),
          CAST(CASE WHEN i % 5000 = 3 THEN ${maker.id} END AS BIGINT), CASE i / 100 % 3 WHEN 0 THEN 'a' ELSE 'b' END,
          'part ' || i, 'part ' || i, CASE WHEN i % 400 = 0 THEN '["red"]' ELSE '[]' END, TRUE, ${at}, ${at}, ${at} FROM numbers`,
    })
    await api.db.write({ sql: 'ANALYZE parts' })
    return { ...api, ada, nobody, few, inspector: await api.signInAs('inspector') }
  }

  let filled: ReturnType<typeof fill> | undefined
  const stock = () => (filled ??= fill())

  test('has all rows that its reader may see, on pages of any order, filter and search', async () => {
    const { db, get, ada, few, nobody, inspector } = await stock()
    const members =
      'maker IN (SELECT id FROM makers WHERE deleted_at IS NULL AND id IN (SELECT row_id FROM makers__members WHERE value = $1))'
    const cases = [
      { query: 'sort=name', where: 'TRUE' },
      { query: 'sort=-name', where: 'TRUE' },
      { query: '', where: 'TRUE' },
      { query: 'filter[grade]=a&sort=name', where: `grade = 'a'` },
      { query: 'filter[grade]=a,b&filter[tags]=red', where: `tags = '["red"]'` },
      { query: 'q=part%2011', where: `slug LIKE '%part 11%'` },
      { query: 'q=part%2012000&sort=-updated_at', where: `slug = 'part 12000'` },
      { query: 'q=nowhere', where: 'FALSE' },
    ]
    const readers = [
      { reader: ada, sees: `(owner = $1 OR ${members})`, perPage: 100 },
      { reader: few, sees: `(owner = $1 OR ${members})`, perPage: 2 },
      { reader: nobody, sees: `(owner = $1 OR ${members})`, perPage: 2 },
      { reader: inspector, sees: `($1 > 0)`, perPage: 100 },
    ]
    for (const { reader, sees, perPage } of readers) {
      for (const { query, where } of cases) {
        const isLong = reader === inspector && !query.includes('q=')
        const field = /sort=(-?)(\w+)/.exec(query)
        const order = field ? `${field[2] === 'name' ? 'name__key' : field[2]} ${field[1] ? 'DESC' : 'ASC'}, ` : ''
        const expected = await db.all<{ id: number }>(
          `SELECT id FROM parts WHERE deleted_at IS NULL AND ${sees} AND ${where} ORDER BY ${order} id ${field?.[1] ? 'DESC' : 'ASC'}`,
          [reader.id],
        )
        const found: number[] = []
        let cursor = ''
        const mostPages = isLong ? 5 : amount({ full: 100, otherwise: 6 })
        for (let pages = 0; pages === 0 || (cursor !== '' && pages < mostPages); pages++) {
          const { status, body } = await get(`/api/parts?${query}&per_page=${perPage}${cursor}`, reader.access)
          assert.equal(status, 200, JSON.stringify(body))
          assert.equal(body.data.length === perPage || body.meta.next === null, true, 'no page ends early')
          found.push(...body.data.map(({ id }: { id: number }) => id))
          cursor = body.meta.next === null ? '' : `&cursor=${body.meta.next}`
        }
        const ids = expected.map(({ id }) => id)
        assert.deepEqual(found, cursor === '' ? ids : ids.slice(0, found.length), `user ${reader.id}: ${query}`)
        const page = await get(`/api/parts?${query}&per_page=20&page=4&count=exact`, reader.access)
        assert.deepEqual(
          page.body.data.map(({ id }: { id: number }) => id),
          ids.slice(60, 80),
          query,
        )
        assert.equal(page.body.meta.total, ids.length, query)
      }
    }
  })

  test('counts up to a bound of rows that its reader may see', async () => {
    const { get, ada, few, nobody, inspector } = await stock()
    const totalOf = async (query: string, token: string) => (await get(`/api/parts?${query}`, token)).body.meta.total
    assert.equal(await totalOf('', ada.access), null)
    assert.equal(await totalOf('count=exact', ada.access), own)
    assert.equal(await totalOf('', few.access), 3)
    assert.equal(await totalOf('filter[grade]=c', few.access), 0)
    assert.equal(await totalOf('', nobody.access), 0)
    assert.equal(await totalOf('', inspector.access), null)
    assert.equal(await totalOf('filter[tags]=red', inspector.access), rows / 400)
    // A page that has all of them.
    assert.equal(await totalOf('filter[tags]=red&per_page=50', ada.access), rows / 400)
  })

  test('reads a bounded number of rows in each statement, by indexes', async () => {
    const api = await stock()
    const statements = recordStatements(api.db, { withScans: true })
    for (const reader of [api.ada, api.few, api.nobody]) {
      for (const query of [
        '',
        'sort=name',
        'sort=-name&filter[grade]=a',
        'filter[tags]=red',
        'filter[weight][gte]=5',
      ]) {
        assert.equal((await api.get(`/api/parts?${query}`, reader.access)).status, 200)
      }
    }
    const all = statements().filter(({ sql }) => /"parts" AS (target|found_0)/.test(sql))
    assert.ok(all.length >= 8, `${all.length}`)
    const plans = await plansOf(api, all)
    for (const [i, { sql }] of all.entries()) {
      const plan = (plans[i] ?? []).join('\n')
      assert.doesNotMatch(plan, wholeTable[engine], `${sql}\n${plan}`)
      const isWalk = /\bending\b/.test(sql)
      if (isWalk) assert.match(sql, /LIMIT 4000\b/)
      else assert.match(sql, /LIMIT (1001|2000|8001|16000)\b/)
    }
  })

  test('looks up the position of a cursor', async () => {
    const api = await stock()
    const { next } = (await api.get('/api/parts?sort=name&per_page=2', api.inspector.access)).body.meta
    const statements = recordStatements(api.db, { withScans: true })
    assert.equal((await api.get(`/api/parts?sort=name&cursor=${next}`, api.inspector.access)).status, 200)
    const walks = statements().filter(({ sql }) => sql.startsWith('WITH page'))
    assert.equal(walks.length, 1)
    const [plan = []] = await plansOf(api, walks)
    assert.match(
      plan.join('\n'),
      engine === 'sqlite'
        ? /SEARCH target .*\(<expr>=\? AND id>\?\)[\s\S]*SEARCH target .*\(<expr>>\?\)/
        : /Index Cond: \(ROW\(/,
    )
  })
})

/** Rows that are scanned, but not in the order of an index. */
const wholeTable: Readonly<Record<Dialect, RegExp>> = {
  sqlite: /SCAN (found_\d|item_\d)$/m,
  postgres: /Seq Scan on (parts|makers|parts__tags|makers__members)\b/,
}
