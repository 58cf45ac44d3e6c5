import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../support/api.ts'
import { addEntries, type GivenEntry } from '../support/audit-entries.ts'
import { onEachEngine } from '../support/databases.ts'
import { recordStatements } from '../support/query-plans.ts'
import { startApiWithRoles } from '../support/roles.ts'

const path = '/api/admin/audit'
const events = ['login', 'refresh', 'logout', 'lock']
const outcomes = ['success', 'success', 'failure', 'success', 'locked', 'success']

/** The same each time, with many equal values, and not quite in the order of time. */
function makeEntries(count: number): GivenEntry[] {
  return Array.from({ length: count }, (_, i) => ({
    at: new Date(Date.UTC(2026, 0, 1) + Math.floor(i / 3) * 60_000 - (i % 5) * 1000).toISOString(),
    event: i === 50 ? 'unlock' : (events[(i * 7) % 4] as string),
    outcome: outcomes[(i * 11) % 6] as string,
    user_id: i % 10 === 3 ? null : 1000 + ((i * 13) % 7),
    actor_id: i % 4 === 1 ? null : i % 9 === 0 ? 2000 : 1000 + ((i * 13) % 7),
    address: i === 70 ? '2001:db8::1' : `203.0.113.${(i * 3) % 5}`,
  }))
}

type Entry = GivenEntry & { id: number }

const filters: readonly [query: string, passes: (entry: Entry) => boolean][] = [
  ['', () => true],
  ['filter[event]=refresh', ({ event }) => event === 'refresh'],
  ['filter[event]=unlock', ({ event }) => event === 'unlock'],
  ['filter[event]=none', () => false],
  ['filter[outcome]=failure', ({ outcome }) => outcome === 'failure'],
  ['filter[outcome]=success', ({ outcome }) => outcome === 'success'],
  ['filter[user]=1003', ({ user_id }) => user_id === 1003],
  ['filter[actor]=2000', ({ actor_id }) => actor_id === 2000],
  ['filter[actor]=1003&filter[user]=1003', (e) => e.actor_id === 1003 && e.user_id === 1003],
  ['filter[address]=2001:db8::1', ({ address }) => address === '2001:db8::1'],
  ['filter[address]=203.0.113.4&filter[outcome]=locked', (e) => e.address === '203.0.113.4' && e.outcome === 'locked'],
  ['filter[at][gte]=2026-01-01T00:30:00Z', ({ at }) => at >= '2026-01-01T00:30:00.000Z'],
  [
    'filter[at][gt]=2026-01-01T00:30:00Z&filter[at][lte]=2026-01-01T01:40:00%2B01:00&filter[event]=login',
    ({ at, event }) => at > '2026-01-01T00:30:00.000Z' && at <= '2026-01-01T00:40:00.000Z' && event === 'login',
  ],
  [
    'filter[event]=login&filter[outcome]=success&filter[user]=1001&filter[at][lt]=2026-01-01T00:59:00Z',
    (e) => e.event === 'login' && e.outcome === 'success' && e.user_id === 1001 && e.at < '2026-01-01T00:59:00.000Z',
  ],
]

onEachEngine('the audit trail, sorted and filtered', (engine) => {
  const service = share(async (owner) => {
    const api = await startApiWithRoles(owner, { engine, env: { AUDIT_RETENTION_DAYS: '0' } })
    const { access } = await api.signInAs('admin')
    await api.db.write(...addEntries(makeEntries(240)))
    const stored = await api.db.all<Entry>('SELECT id, at, event, outcome, user_id, actor_id, address FROM audit')
    /** All pages from the first, by `meta.next`. */
    async function walk(query: string) {
      const entries: GivenEntry[] = []
      const totals = new Set<number | null>()
      let pages = 0
      for (let cursor: string | null = ''; cursor !== null; pages++) {
        const { status, body } = await api.get(`${path}?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`, access)
        assert.equal(status, 200, JSON.stringify(body))
        entries.push(...body.data)
        totals.add(body.meta.total)
        cursor = body.meta.next
        assert.ok(pages < 200, 'the pages end')
      }
      return { entries, totals, pages }
    }
    return { api, access, stored, walk }
  })

  test('by time, with all filters, page by page to the end', async () => {
    const { stored, walk } = await service()
    const inTime = stored.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id - b.id))
    for (const [query, passes] of filters) {
      const expected = inTime.filter(passes)
      for (const sort of ['at', '-at']) {
        const { entries, totals } = await walk(`sort=${sort}&${query}&per_page=40`)
        assert.deepEqual(entries.map(known), (sort === 'at' ? expected : expected.toReversed()).map(known), query)
        assert.deepEqual([...totals], [expected.length], query)
      }
    }
  })

  test('the newest first, unless asked for; pages lead on and back, and have links', async () => {
    const { api, access } = await service()
    const query = 'filter[event]=login&per_page=5'
    const first = await api.get(`${path}?${query}`, access)
    assert.deepEqual(first.body, (await api.get(`${path}?${query}&sort=-at`, access)).body)
    assert.equal(first.body.meta.prev, null)
    assert.deepEqual(Object.keys(first.body.data[0]).sort(), [
      'actor_id',
      'address',
      'at',
      'changes',
      'event',
      'outcome',
      'user_agent',
      'user_id',
    ])
    const second = await api.get(/<([^>]+)>; rel="next"/.exec(String(first.headers.get('link')))?.[1] as string, access)
    const back = await api.get(`${path}?${query}&cursor=${second.body.meta.prev}`, access)
    assert.deepEqual(back.body.data, first.body.data)
    assert.deepEqual((await api.get(`${path}?${query}&page=2`, access)).body.data, second.body.data)
  })

  test('refuses what it does not understand, and says why', async () => {
    const { api, access } = await service()
    const unknown = 'Unknown filter; there are at, event, outcome, user, actor, address'
    for (const [query, field, message] of [
      ['sort=event', 'sort', 'Must be one of at, with - in front for descending'],
      ['filter[device]=x', 'filter[device]', unknown],
      ['filter[user_agent]=x', 'filter[user_agent]', unknown],
      ['filter[user]=ada@example.com', 'filter[user]', 'Must be an integer'],
      ['filter[at][gte]=yesterday', 'filter[at][gte]', 'Must be a date or a time of ISO 8601 with its zone'],
      ['filter[event][gte]=login', 'filter[event][gte]', 'Takes no operator'],
      ['cursor=abc', 'cursor', 'Must be a cursor of this list in the same order'],
      ['sort=at&page=102', 'page', 'Must be within the first 2000 items; go on by cursor'],
      ['filter[event]=login&page=27', 'page', 'Must be within the first 500 items; go on by cursor'],
    ] as const) {
      const { status, body } = await api.get(`${path}?${query}`, access)
      assert.equal(status, 422, query)
      assert.deepEqual(body.details, { [field]: [message] }, query)
    }
    const user = await api.signInAs('viewer')
    assert.equal((await api.get(`${path}?sort=at`, user.access)).status, 403)
  })

  test('a page by cursor begins at the cursor or at the bound of a filter: no rows are read on the way from one to the other', async () => {
    const { api, access } = await service()
    const bound = '2026-01-01T00:30:00.000Z'
    const read = async (query: string) => {
      const { body } = await api.get(`${path}?${query}&filter[event]=login&per_page=5`, access)
      return { times: (body.data as Entry[]).map(({ at }) => at), next: body.meta.next as string }
    }
    const statements = recordStatements(api.db, { withScans: true })
    for (const [sort, filter] of [
      ['at', `filter[at][gte]=${bound}`],
      ['-at', `filter[at][lte]=${bound}`],
    ] as const) {
      const isBeyond = (at: string) => (sort === 'at' ? at >= bound : at <= bound)
      const first = await read(`sort=${sort}&${filter}`)
      const second = await read(`sort=${sort}&${filter}&cursor=${first.next}`)
      assert.ok([...first.times, ...second.times].every(isBeyond))
      assert.equal(first.times.length + second.times.length, 10)
      // A cursor of the list without this filter.
      const { next } = await read(`sort=${sort}`)
      assert.deepEqual((await read(`sort=${sort}&${filter}&cursor=${next}`)).times, first.times)
    }
    const withBoth = statements().filter(
      ({ sql }) => /\bat [<>]= \$/.test(sql) && /\(at, id\) [<>] \(/.test(sql) && !sql.includes('count(*)'),
    )
    assert.deepEqual(withBoth, [])
  })

  test('filters that no index settles together are looked up in parts, and nothing is left out', async () => {
    const { api, access, walk } = await service()
    // Two large groups: the newer entries are all of one, the older of the other.
    const many = Array.from({ length: 6000 }, (_, i) => ({
      at: new Date(Date.UTC(2027, 0, 1) + i * 1000).toISOString(),
      event: i % 2 === 0 ? 'twofold' : 'other',
      outcome: 'success',
      user_id: 5000,
      actor_id: i < 3000 ? 5001 : 5002,
      address: '198.51.100.1',
    }))
    await api.db.write(...addEntries(many))
    const query = 'filter[event]=twofold&filter[user]=5000&filter[actor]=5001&filter[address]=198.51.100.1&per_page=100'
    const first = await api.get(`${path}?${query}`, access)
    assert.deepEqual([first.body.data.length, typeof first.body.meta.next], [0, 'string'])
    assert.equal(first.body.meta.total, 1500)
    const { entries } = await walk(query)
    assert.deepEqual(
      entries.map(({ at }) => at),
      many
        .filter(({ event, actor_id }) => event === 'twofold' && actor_id === 5001)
        .map(({ at }) => at)
        .toReversed(),
    )
    assert.equal((await api.get(`${path}?${query}&count=exact`, access)).body.meta.total, 1500)
  })
})

function known({ at, event, outcome, user_id, actor_id, address }: GivenEntry): GivenEntry {
  return { at, event, outcome, user_id, actor_id, address }
}
