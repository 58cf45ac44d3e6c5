/** How collections answer writes: which check comes first, and with what message. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyEngines, onEachEngine } from '../support/databases.ts'
import { makeKey } from '../support/keys.ts'
import { many } from '../support/people.ts'
import { shareWorkshop } from '../support/workshop.ts'

onEachEngine('writing a row', (engine) => {
  const shared = shareWorkshop(engine)

  test('takes what is given, defaults for the rest, and null to clear', async () => {
    const { signInAs, make, get, patch, clock } = await shared()
    const { access, id } = await signInAs('user')
    const { path } = await make(
      '/api/parts',
      { name: 'Bolt', id: 99, created_at: 'x', slug: 'y', unknown: {}, title: 5 },
      access,
    )
    const { created_at, updated_at, made_at, ...attributes } = (await get(path, access)).body.data.attributes
    assert.deepEqual(attributes, {
      name: 'Bolt',
      code: null,
      maker: null,
      slot: null,
      owner: id,
      origin: null,
      grade: 'b',
      note: null,
      weight: null,
      active: true,
      due: null,
      sold: null,
      contact: null,
      site: null,
      data: null,
      tags: [],
      sizes: [],
      helpers: [],
      slug: 'bolt',
      title: 'Bolt (b)',
    })
    assert.equal(made_at, created_at)
    assert.equal(updated_at, created_at)
    assert.ok(Math.abs(Date.parse(created_at) - clock.now()) < 10_000)
    const full = {
      code: `c${id}`,
      slot: 3,
      grade: 'a',
      note: 'mine',
      weight: -1.234,
      active: false,
      made_at: '2026-01-31T13:00:00+01:00',
      due: '2024-02-29',
      sold: '2024-02-29',
      contact: 'ada@example.com',
      site: 'https://example.com/a?b',
      data: [1],
      tags: ['a', 'b'],
      sizes: [3, 1, 3],
      helpers: [id],
    }
    const changed = await patch(path, full, access)
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    const {
      owner,
      origin,
      name,
      maker,
      slug,
      title,
      created_at: _,
      updated_at: at,
      ...now
    } = changed.body.data.attributes
    assert.deepEqual(now, { ...full, made_at: '2026-01-31T12:00:00.000Z' })
    const nulls = Object.fromEntries(Object.keys(full).map((field) => [field, null]))
    const { grade: _g, active: _a, made_at: _m, ...optional } = nulls
    const cleared = (await patch(path, optional, access)).body.data.attributes
    for (const field of Object.keys(optional)) {
      assert.deepEqual(cleared[field], ['tags', 'sizes', 'helpers'].includes(field) ? [] : null, field)
    }
    assert.deepEqual((await patch(path, nulls, access)).body.details, {
      grade: ['Must not be blank'],
      active: ['Must not be blank'],
      made_at: ['Must not be blank'],
    })
    // Half up, by the digits that were sent.
    const rounded = await patch(path, { weight: 1.0005 }, access)
    assert.equal(rounded.body.data.attributes.weight, 1.001)
  })

  test('keeps unique values unique, also when rows are restored, and in parallel', async () => {
    const { signInAs, make, post, patch, request } = await shared()
    const { access, id } = await signInAs('user')
    const taken = { code: ['Is already taken'] }
    const code = `u${id}`
    const first = await make('/api/parts', { name: 'Bolt', code }, access)
    assert.deepEqual((await post('/api/parts', { name: 'Nut', code }, access)).body.details, taken)
    const second = await make('/api/parts', { name: 'Nut' }, access)
    assert.deepEqual((await patch(second.path, { code }, access)).body.details, taken)
    assert.equal((await patch(first.path, { code }, access)).status, 200)
    await request('DELETE', first.path, { token: access })
    assert.equal((await patch(second.path, { code }, access)).status, 200)
    const restored = await post(`${first.path}/restore`, {}, access)
    assert.deepEqual([restored.status, restored.body.details], [422, taken])
    await patch(second.path, { code: null }, access)
    assert.equal((await post(`${first.path}/restore`, {}, access)).status, 200)
    // Among rows that agree in another field.
    const makers = [
      await make('/api/makers', { name: `One ${id}` }, access),
      await make('/api/makers', { name: `Two ${id}` }, access),
    ]
    const [one, two] = makers.map((each) => each.id)
    await make('/api/parts', { name: 'In one', slot: 1, maker: one }, access)
    const inTwo = await make('/api/parts', { name: 'In two', slot: 1, maker: two }, access)
    await make('/api/parts', { name: 'In none', slot: 1 }, access)
    await make('/api/parts', { name: 'In none either', slot: 1 }, access)
    const inOne = await post('/api/parts', { name: 'Again', slot: 1, maker: one }, access)
    assert.deepEqual([inOne.status, inOne.body.details], [422, { slot: ['Is already taken'] }])
    assert.deepEqual((await patch(inTwo.path, { maker: one }, access)).body.details, { slot: ['Is already taken'] })
    const parallel = await many(10, () => post('/api/parts', { name: 'Race', code: `r${id}` }, access))
    assert.deepEqual(parallel.map(({ status }) => status).sort(), [201, ...Array(9).fill(422)])
    assert.ok(parallel.every(({ status, body }) => status === 201 || body.details.code[0] === 'Is already taken'))
  })

  // The rest does not depend on the engine.
  if (!anyEngines.includes(engine)) return

  test('is refused with 401, 403, 404, 422, 403 and 412, in this order', async () => {
    const { signInAs, make, patch, post, request, get } = await shared()
    const [ada, grace, inspector] = [await signInAs('user'), await signInAs('user'), await signInAs('inspector')]
    const own = await make('/api/parts', { name: 'Bolt' }, ada.access)
    const wrong = { name: 1, cost: 'x' }
    const stale = { 'if-match': '"0-x"' }
    // Nobody, for whom nothing is read.
    assert.equal((await patch(own.path, wrong)).status, 401)
    assert.equal(
      (await request('POST', '/api/parts', { body: '{', headers: { 'content-type': 'application/json' } })).status,
      401,
    )
    const key = await makeKey({ post } as never, ada.access, { permissions: ['parts.read'] })
    const malformed = { body: '{', headers: { 'content-type': 'application/json' }, token: key.key }
    for (const method of ['PATCH', 'PUT']) assert.equal((await request(method, own.path, malformed)).status, 403)
    assert.equal((await request('POST', '/api/parts', malformed)).status, 403)
    // What may not be read is not there, whatever is wrong.
    for (const headers of [{}, stale]) {
      assert.equal((await patch(own.path, wrong, grace.access, headers)).status, 404)
      assert.equal((await patch('/api/parts/999999', wrong, ada.access, headers)).status, 404)
      assert.equal((await request('DELETE', own.path, { token: grace.access, headers })).status, 404)
    }
    const hidden = await patch(own.path, { name: 'Nut' }, grace.access)
    assert.deepEqual([hidden.status, hidden.body], [404, { error: 'Not found' }])
    assert.deepEqual((await patch('/api/parts/999999', { name: 'Nut' }, grace.access)).body, hidden.body)
    assert.equal((await get('/api/parts/99999999999999999999', ada.access)).status, 404)
    // A row that may be read, and not be changed by its owner.
    await patch(own.path, { grade: 'c' }, ada.access)
    assert.deepEqual((await patch(own.path, wrong, ada.access, stale)).body.details, {
      name: ['Must be a string'],
      cost: ['Must be a number'],
    })
    assert.equal((await patch(own.path, { name: 'Nut' }, ada.access, stale)).status, 403)
    assert.equal((await patch(own.path, {}, ada.access)).status, 403)
    const early = await patch(own.path, { due: '2026-02-02', sold: '2026-02-01' }, ada.access)
    assert.deepEqual([early.status, early.body.details], [422, { sold: ['Must not be before it is due'] }])
    const changed = await patch(own.path, { name: 'Nut' }, inspector.access, stale)
    assert.deepEqual([changed.status, changed.body], [412, { error: 'Part has changed' }])
    assert.equal((await patch(own.path, {}, inspector.access, stale)).status, 412)
    assert.equal((await request('DELETE', own.path, { token: inspector.access, headers: stale })).status, 403)
    assert.equal((await request('DELETE', own.path, { token: ada.access, headers: stale })).status, 412)
  })

  test('needs the row to be readable, whatever else one may do', async () => {
    const { signInAs, make, patch, post, request, get } = await shared()
    const [ada, remover] = [await signInAs('user'), await signInAs('remover')]
    const { path } = await make('/api/parts', { name: 'Bolt' }, ada.access)
    assert.equal((await patch(path, { name: 'Mine' }, remover.access)).status, 404)
    assert.equal((await request('DELETE', path, { token: remover.access })).status, 404)
    assert.equal((await get(path, ada.access)).body.data.attributes.name, 'Bolt')
    await request('DELETE', path, { token: ada.access })
    assert.equal((await post(`${path}/restore`, {}, remover.access)).status, 404)
    assert.equal((await post(`${path}/restore`, {}, ada.access)).status, 200)
  })

  test('says what is wrong with each field', async () => {
    const { signInAs, make, post, patch } = await shared()
    const { access } = await signInAs('user')
    const problemsOf = async (body: object) => {
      const { status, body: found } = await post('/api/parts', { name: 'Bolt', ...body }, access)
      assert.equal(status, 422, JSON.stringify(body))
      assert.equal(found.error, 'Validation failed')
      return found.details
    }
    const cases: [body: object, details: object][] = [
      [{ name: '' }, { name: ['Must not be blank'] }],
      [{ name: null }, { name: ['Must not be blank'] }],
      [{ name: 'x' }, { name: ['Must be between 2 and 50 characters'] }],
      [{ name: 5 }, { name: ['Must be a string'] }],
      [{ name: 'a\u0000b' }, { name: ['Must be valid text'] }],
      [{ code: 'x'.repeat(21) }, { code: ['Must be at most 20 characters'] }],
      [{ slot: 0 }, { slot: ['Must be at least 1'] }],
      [{ slot: 10 }, { slot: ['Must be at most 9'] }],
      [{ slot: 1.5 }, { slot: ['Must be an integer'] }],
      [{ slot: '5' }, { slot: ['Must be an integer'] }],
      [{ grade: 'd' }, { grade: ['Must be one of a, b, c'] }],
      [{ weight: '1' }, { weight: ['Must be a number'] }],
      [{ active: 1 }, { active: ['Must be true or false'] }],
      [{ due: '2026-02-30' }, { due: ['Must be a date'] }],
      [{ due: '2026-2-3' }, { due: ['Must be a date'] }],
      [{ due: 20260203 }, { due: ['Must be a date'] }],
      [{ made_at: '2026-01-31T12:00:00' }, { made_at: ['Must be a time of ISO 8601 with its zone'] }],
      [{ made_at: '2026-02-30T12:00:00Z' }, { made_at: ['Must be a time of ISO 8601 with its zone'] }],
      [{ made_at: '2026-01-31T12:61:00Z' }, { made_at: ['Must be a time of ISO 8601 with its zone'] }],
      [{ contact: 'ada' }, { contact: ['Must be a valid email address'] }],
      [{ site: 'javascript:alert(1)' }, { site: ['Must be a valid URL'] }],
      [{ tags: 'a' }, { tags: ['Must be a list'] }],
      [
        { tags: ['a', 'x'.repeat(11), ''] },
        { 'tags.1': ['Must be at most 10 characters'], 'tags.2': ['Must not be blank'] },
      ],
      [{ tags: ['a', null, 5] }, { 'tags.1': ['Must not be blank'], 'tags.2': ['Must be a string'] }],
      [{ tags: ['a', 'b', 'c', 'd'] }, { tags: ['Must have at most 3 items'] }],
      [{ sizes: [1, 0] }, { 'sizes.1': ['Must be at least 1'] }],
      [{ maker: 999999 }, { maker: ['Does not exist'] }],
      [{ maker: -1 }, { maker: ['Does not exist'] }],
      [{ maker: -1e300 }, { maker: ['Does not exist'] }],
      [{ maker: '1' }, { maker: ['Must be an integer'] }],
      [{ helpers: [1, 999999, 1, 888888] }, { 'helpers.1': ['Does not exist'], 'helpers.3': ['Does not exist'] }],
      [
        { maker: 999999, helpers: [999999] },
        { maker: ['Does not exist'], 'helpers.0': ['Does not exist'] },
      ],
      [
        { name: '', slot: 0, due: 'x' },
        { name: ['Must not be blank'], slot: ['Must be at least 1'], due: ['Must be a date'] },
      ],
      [{ due: '2026-02-02', sold: '2026-02-01' }, { sold: ['Must not be before it is due'] }],
    ]
    for (const [body, details] of cases) assert.deepEqual(await problemsOf(body), details, JSON.stringify(body))
    const { path } = await make('/api/parts', { name: 'Bolt', due: '2026-02-02' }, access)
    for (const [body, details] of cases.slice(1, -1)) {
      assert.deepEqual((await patch(path, body, access)).body.details, details, JSON.stringify(body))
    }
    assert.deepEqual((await patch(path, { sold: '2026-02-01' }, access)).body.details, {
      sold: ['Must not be before it is due'],
    })
    assert.equal((await patch(path, { sold: '2026-02-01', due: null }, access)).status, 200)
    // Somebody else's row is like one that is not there.
    const grace = await signInAs('user')
    const hidden = await make('/api/makers', { name: `Hidden ${grace.id}` }, grace.access)
    assert.deepEqual(await problemsOf({ maker: hidden.id }), { maker: ['Does not exist'] })
  })

  test('of deeply nested JSON is refused, or stored as it was sent', async () => {
    const { signInAs, request, make, get } = await shared()
    const { access } = await signInAs('user')
    const headers = { 'content-type': 'application/json' }
    for (const depth of [1001, 8000, 30_000]) {
      const body = `{"name": "Deep", "data": ${'['.repeat(depth)}${']'.repeat(depth)}}`
      const { status, body: found } = await request('POST', '/api/parts', { body, headers, token: access })
      assert.equal(status, 422, `${depth}: ${JSON.stringify(found)}`)
    }
    const data = { a: [1, { b: null }], c: 'ä"\\u0000', d: 1.5, e: false }
    const { path } = await make('/api/parts', { name: 'Flat', data }, access)
    assert.deepEqual((await get(path, access)).body.data.attributes.data, data)
  })

  test('sets only fields that may be written, and shows only those that may be read', async () => {
    const { signInAs, make, get, post, patch } = await shared()
    const [ada, grace, accountant] = [await signInAs('user'), await signInAs('user'), await signInAs('accountant')]
    const maker = await make('/api/makers', { name: `Makers ${ada.id}`, members: [grace.id] }, ada.access)
    const { path } = await make(
      '/api/parts',
      { name: 'Bolt', maker: maker.id, origin: 'Essen', note: 'mine' },
      ada.access,
    )
    assert.equal((await post('/api/parts', { name: 'Nut', owner: grace.id }, ada.access)).status, 403)
    assert.equal((await post('/api/parts', { name: 'Nut', owner: ada.id }, ada.access)).status, 201)
    assert.equal((await post('/api/parts', { name: 'Nut', cost: 5 }, ada.access)).status, 403)
    assert.equal((await post('/api/parts', { name: 'Nut', cost: null }, ada.access)).status, 201)
    const attributesFor = async (access: string) => (await get(path, access)).body.data.attributes
    const [own, other, paid] = [
      await attributesFor(ada.access),
      await attributesFor(grace.access),
      await attributesFor(accountant.access),
    ]
    assert.deepEqual([own.note, 'cost' in own, 'secret' in own], ['mine', false, false])
    assert.deepEqual(['note' in other, 'cost' in other, 'secret' in other], [false, false, false])
    assert.deepEqual(['note' in paid, paid.cost, 'secret' in paid], [false, null, false])
    // The same value is no change.
    assert.equal((await patch(path, { owner: ada.id, origin: 'Essen', name: 'Bolt 2' }, ada.access)).status, 200)
    assert.equal((await patch(path, { owner: grace.id }, ada.access)).status, 403)
    assert.equal((await patch(path, { origin: 'Bonn' }, ada.access)).status, 403)
    assert.equal((await patch(path, { origin: null }, ada.access)).status, 403)
    await patch(path, { cost: 5 }, (await signInAs('admin')).access)
    const changesFor = async (access: string) =>
      (await get(`${path}/versions`, access)).body.data.flatMap(({ changes }: { changes: object }) =>
        Object.keys(changes),
      )
    const [ownChanges, paidChanges] = [await changesFor(ada.access), await changesFor(accountant.access)]
    assert.deepEqual(
      [ownChanges.includes('note'), ownChanges.includes('cost'), ownChanges.includes('secret')],
      [true, false, false],
    )
    assert.deepEqual([paidChanges.includes('note'), paidChanges.includes('cost')], [false, true])
    // Nor does it tell what cannot be read.
    for (const secret of [7, 8, null])
      assert.equal((await patch(path, { secret }, ada.access)).status, 403, `${secret}`)
    for (const cost of [5, 6, null]) assert.equal((await patch(path, { cost }, ada.access)).status, 403, `${cost}`)
    const accept = { accept: 'application/problem+json' }
    const problem = await patch(path, { origin: 'Bonn' }, ada.access, accept)
    assert.deepEqual([problem.status, problem.body.rule], [403, 'no one'])
    assert.equal((await patch(path, { cost: 1 }, ada.access, accept)).body.rule, 'you have the permission parts.costs')
    const forbidden = await patch(path, { name: 'Nut' }, accountant.access, accept)
    assert.equal(forbidden.headers.get('content-type')?.split(';')[0], 'application/problem+json')
    assert.equal(forbidden.body.rule, '(owner is you and grade is not c) or you have the permission parts.update')
    assert.deepEqual((await patch(path, { name: 'Nut' }, accountant.access)).body, { error: 'Forbidden' })
  })

  test('has values of a hook and calculated ones, which may be hidden like others', async () => {
    const { signInAs, make, post, get, patch, request } = await shared()
    const [ada, grace, weigher] = [await signInAs('user'), await signInAs('user'), await signInAs('weigher')]
    const name = `Gauge ${ada.id}`
    const made = await post('/api/gauges', { name, is_public: true }, ada.access)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { attributes, id } = made.body.data
    const shown = ({ slug, gross, parts, nothing, number, margin, own_rate }: Record<string, unknown>) => [
      slug,
      gross,
      parts,
      nothing,
      number,
      margin,
      own_rate,
    ]
    const calculated = [name.toLowerCase(), 1.49, ['G', 'a'], null, `No. ${name}`]
    assert.deepEqual(shown(attributes), [...calculated, undefined, 7])
    for (const [reader, margin, ownRate] of [
      [ada, undefined, 7],
      [grace, undefined, undefined],
      [weigher, 42, undefined],
    ] as const) {
      const read = (await get(`/api/gauges/${id}`, reader.access)).body.data.attributes
      assert.deepEqual(shown(read), [...calculated, margin, ownRate])
      const [listed] = (await get(`/api/gauges?filter[owner]=${ada.id}`, reader.access)).body.data
      assert.deepEqual(listed.attributes, read)
    }
    // Nobody but the hook sets its field, which needs a value.
    assert.equal((await post('/api/gauges', { name: 'Other', number: 'Mine' }, ada.access)).status, 403)
    const incomplete = await post('/api/gauges', { name: 'Unnumbered' }, ada.access)
    assert.deepEqual([incomplete.status, incomplete.body.details], [422, { number: ['Must not be blank'] }])
    const operations = [{ method: 'POST', path: '/api/gauges', body: { name: 'Unnumbered' } }]
    const batched = await request('POST', '/api/batch', { json: { operations }, token: ada.access })
    assert.deepEqual([batched.status, batched.body.details], [422, { number: ['Must not be blank'] }])
    // A calculated value that is stored can be unique.
    const taken = { slug: ['Is already taken'] }
    assert.deepEqual((await post('/api/gauges', { name: name.toUpperCase() }, ada.access)).body.details, taken)
    const other = await make('/api/gauges', { name: `Other ${ada.id}` }, ada.access)
    assert.deepEqual((await patch(other.path, { name: name.toUpperCase() }, ada.access)).body.details, taken)
    // What JSON cannot hold is no value of it.
    const large = await request('POST', '/api/gauges', {
      body: '{"name":"Large","data":{"a":[1e400]}}',
      headers: { 'content-type': 'application/json' },
      token: ada.access,
    })
    assert.deepEqual(large.body.details, { data: ['Must not have numbers that are too large'] })
  })

  test('by a batch takes references for relations, and for nothing else', async () => {
    const { signInAs, make, request, get } = await shared()
    const { access, id } = await signInAs('user')
    const first = await make('/api/gauges', { name: `First ${id}` }, access)
    const reference = { $ref: '0.data.id' }
    const schema = { $ref: '#/definitions/gauge' }
    const send = (...operations: object[]) => request('POST', '/api/batch', { json: { operations }, token: access })
    const rename = { method: 'PATCH', path: first.path, body: { name: `Renamed ${id}` } }
    const { status, body } = await send(rename, {
      method: 'POST',
      path: '/api/gauges',
      body: { name: `Second ${id}`, gauge: reference, related: [first.id, reference], data: schema },
    })
    assert.equal(status, 200, JSON.stringify(body))
    const { gauge, related, data } = body.results[1].body.data.attributes
    assert.deepEqual([gauge, related, data], [first.id, [first.id, first.id], schema])
    // Ids of rows that are not written yet, in a list too.
    const create = (name: string, values: object) => ({
      method: 'POST',
      path: '/api/gauges',
      body: { name: `${name} ${id}`, ...values },
    })
    const made = await send(
      create('Third', {}),
      create('Fourth', { gauge: reference, related: [first.id, reference, reference] }),
    )
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const thirdId = made.body.results[0].body.data.id
    assert.deepEqual(made.body.results[1].body.data.attributes.related, [first.id, thirdId, thirdId])
    const { included } = (await get(`/api/gauges/${thirdId}?include=children.related`, access)).body.data
    assert.equal(included.children[0].included.related.length, 3)
    const cases: [unknown, details: object][] = [
      [999_999, { 'related.2': ['Does not exist'] }],
      ['x', { 'related.2': ['Must be an integer'] }],
      [{ $ref: '1.data.id' }, { 'related.2': ['Must refer to the id of an earlier operation that returns a row'] }],
    ]
    for (const [item, details] of cases) {
      const refused = await send(create('Fifth', {}), create('Sixth', { related: [first.id, reference, item] }))
      assert.deepEqual([refused.status, refused.body.operation, refused.body.details], [422, 1, details])
    }
  })

  test('or reading one by a key needs its permission, unless anyone may read it', async () => {
    const { signInAs, make, post, get, patch } = await shared()
    const ada = await signInAs('user')
    const [open, own] = [
      await make('/api/gauges', { name: `Open ${ada.id}`, is_public: true }, ada.access),
      await make('/api/gauges', { name: `Own ${ada.id}`, gauge: null }, ada.access),
    ]
    await patch(open.path, { gauge: own.id, related: [own.id, open.id] }, ada.access)
    const keyFor = async (...permissions: string[]) =>
      (await makeKey({ post } as never, ada.access, { permissions })).key
    const [none, reader] = [await keyFor(), await keyFor('gauges.read')]
    const filter = `filter[owner]=${ada.id}`
    for (const [key, ids] of [
      [none, [open.id]],
      [reader, [open.id, own.id]],
    ] as const) {
      const listed = (await get(`/api/gauges?${filter}&count=exact`, key)).body
      assert.deepEqual(
        [listed.data.map(({ id }: { id: number }) => id), listed.meta.total],
        [ids, ids.length],
        `${ids}`,
      )
      const isReader = key === reader
      const read = (await get(`${open.path}?include=gauge,related,children`, key)).body.data
      assert.deepEqual(
        [read.included.gauge?.id, 'own_rate' in read.attributes],
        [isReader ? own.id : undefined, isReader],
      )
      assert.equal(read.included.related.length, ids.length)
      assert.equal((await get(own.path, key)).status, isReader ? 200 : 404)
      assert.equal((await get(`${own.path}/versions`, key)).status, isReader ? 200 : 404)
      const changes = (await get('/api/gauges/changes?after=0&limit=1000', key)).body.data
      const isOwn = ({ data }: { data: { id: number } | null }) => data?.id === own.id
      assert.equal(changes.some(isOwn), isReader)
      assert.equal((await post('/api/gauges', { name: 'By key' }, key)).status, 403)
      assert.equal((await patch(open.path, { name: 'By key' }, key)).status, 403)
      assert.equal((await get('/api/makers', key)).status, 403)
    }
    assert.equal((await get('/api/board/notices', none)).status, 200)
  })

  test('by forms takes texts for values of every kind', async () => {
    const { signInAs, request, get } = await shared()
    const { access, id } = await signInAs('user')
    const post = (form: Record<string, string>) => request('POST', '/api/parts', { form, token: access })
    const made = await post({
      name: 'Bolt',
      slot: '3',
      weight: '1.0005',
      active: 'off',
      due: '',
      helpers: String(id),
      data: '{"a":[1]}',
      made_at: '2026-01-31T12:00:00Z',
      grade: 'a',
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { slot, weight, active, due, helpers, data, tags } = made.body.data.attributes
    assert.deepEqual(
      { slot, weight, active, due, helpers, data, tags },
      { slot: 3, weight: 1.001, active: false, due: null, helpers: [id], data: { a: [1] }, tags: [] },
    )
    const two = await request('PATCH', `/api/parts/${made.body.data.id}`, {
      body: 'tags=a&tags=b&slot=',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      token: access,
    })
    assert.deepEqual([two.body.data.attributes.tags, two.body.data.attributes.slot], [['a', 'b'], null])
    assert.deepEqual((await post({ name: '', slot: 'x', weight: '1e999', active: 'maybe', grade: '' })).body.details, {
      name: ['Must not be blank'],
      slot: ['Must be an integer'],
      grade: ['Must not be blank'],
      weight: ['Must be a number'],
      active: ['Must be true or false'],
    })
    assert.deepEqual((await post({ name: 'Bolt', slot: '+5' })).body.data.attributes.slot, 5)
    assert.equal((await get('/api/parts', access)).body.meta.total, 2)
  })
})
