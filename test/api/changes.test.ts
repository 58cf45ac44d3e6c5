import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { changesPath, openChanges, readChanges, told, withoutCursors } from '../support/changes.ts'
import { forEngines, onAnyEngine, onEachEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { register, signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { shareWithRoles } from '../support/roles.ts'

const services = forEngines((engine) => shareWithRoles({ engine }))

onEachEngine('the change log over REST', (engine) => {
  const shared = services[engine].withRoles

  test('has every change in order, as GET answers the product, from any cursor on', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const first = await readChanges(api)
    assert.equal(first.status, 200, JSON.stringify(first.body))
    assert.deepEqual([first.body.data, first.body.meta.more], [[], false])
    await register(api)

    const id = await createProduct(api, access, { name: 'Lamp "1" \u{1F4A1}' })
    const made = (await api.get(`${productsPath}/${id}`)).body.data
    await api.put(`${productsPath}/${id}`, { name: 'Lamp 2', active: false, price: 5 }, access)
    const changed = (await api.get(`${productsPath}/${id}`)).body.data
    await api.delete(`${productsPath}/${id}`, access)

    const { body } = await readChanges(api, { after: first.body.meta.cursor })
    assert.deepEqual(
      body.data.map(({ type }) => type),
      ['product.created', 'product.updated', 'product.deleted'],
    )
    assert.deepEqual(body.data[0]?.data, made)
    assert.deepEqual(body.data[1]?.data, changed)
    assert.deepEqual(body.data[2]?.data, changed, 'a deleted one as it last was')
    assert.equal(body.data[0]?.at, made.attributes.created_at)
    assert.deepEqual(
      body.data.map(({ version }) => version),
      [1, 2, 3],
    )
    assert.equal(body.meta.more, false)

    const later = await readChanges(api, { after: body.data[0]?.cursor ?? '' })
    const rest = withoutCursors(body.data)
    assert.deepEqual(withoutCursors(later.body.data), rest.slice(1))
    assert.deepEqual(withoutCursors((await readChanges(api, { after: 0 })).body.data).slice(-3), rest)
    const short = await readChanges(api, { after: first.body.meta.cursor, limit: 1 })
    assert.deepEqual(withoutCursors(short.body.data), rest.slice(0, 1), 'entries of others make no page empty')
    assert.deepEqual((await readChanges(api, { after: body.meta.cursor })).body.data, [])
    assert.equal(later.headers.get('cache-control'), 'no-store')
  })

  test('knows what is refused: nothing that was not changed is in it', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const id = await createProduct(api, access)
    const { cursor } = (await readChanges(api)).body.meta
    await api.post(productsPath, {}, access)
    await api.post(productsPath, { name: 'No token', description: 'x', price: 1 })
    await api.put(`${productsPath}/${id}`, { price: -1 }, access)
    await api.request('PUT', `${productsPath}/${id}`, {
      json: { price: 2 },
      token: access,
      headers: { 'if-match': '"other"' },
    })
    await api.delete(`${productsPath}/999999`, access)
    const again = { json: { name: 'Once', description: 'x', price: 1 }, token: access }
    for (let i = 0; i < 2; i++) {
      await api.request('POST', productsPath, { ...again, headers: { 'idempotency-key': 'the same key twice' } })
    }
    assert.deepEqual(told((await readChanges(api, { after: cursor })).body.data), ['created Once'])
  })

  test('a listing tells the cursor from which to go on, whatever is listed', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    await createProduct(api, access, { name: 'Before' })
    for (const query of ['', '?q=before', '?category=home', '?page=9']) {
      const listed = await api.get(`${productsPath}${query}`)
      const cursor = listed.headers.get('x-cursor')
      assert.ok(cursor, query)
      assert.match(listed.headers.get('access-control-expose-headers') ?? '', /x-cursor/i)
      const name = `After ${query}`
      await createProduct(api, access, { name })
      const { body } = await readChanges(api, { after: cursor })
      assert.equal(told(body.data).at(-1), `created ${name}`)
      const etag = listed.headers.get('etag') ?? ''
      const again = await api.request('GET', `${productsPath}?q=before`, { headers: { 'if-none-match': etag } })
      assert.ok(again.headers.get('x-cursor'), String(again.status))
    }
  })

  test('pages are as long as asked for, and cursors that are none or have never been are refused', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const { cursor } = (await readChanges(api)).body.meta
    for (const name of ['One', 'Two', 'Three']) await createProduct(api, access, { name })
    const [one] = (await readChanges(api, { after: cursor })).body.data
    const page = await readChanges(api, { after: one?.cursor ?? '', limit: 1 })
    assert.deepEqual([told(page.body.data), page.body.meta.more], [['created Two'], true])
    const rest = await readChanges(api, { after: page.body.meta.cursor, limit: 1 })
    assert.deepEqual([told(rest.body.data), rest.body.meta.more], [['created Three'], false])

    for (const limit of ['0', '-1', 'x', '1.5', '']) {
      assert.equal((await readChanges(api, { after: cursor, limit })).body.data.length, 3, limit)
    }
    assert.equal((await readChanges(api, { after: cursor, limit: 99_999 })).body.data.length, 3)
    for (const after of [
      'x',
      '-1',
      '1.5',
      '1e3',
      '0x1',
      ' 1',
      '99999999999999999999',
      '9007199254740993',
      "1' OR 1=1",
    ]) {
      const refused = await readChanges(api, { after })
      assert.equal(refused.status, 422, after)
      assert.deepEqual(refused.body, { error: 'Validation failed', details: { after: ['Must be a cursor'] } })
    }
    const unknown = await readChanges(api, { after: 999_999 })
    assert.deepEqual([unknown.status, unknown.body], [410, { error: 'Cursor has expired' }])
    assert.deepEqual((await readChanges(api, { after: '' })).body.data, [], 'blank is absent: from now on')
  })

  test('entries of other topics make no page empty, however short it may be', async () => {
    const api = await shared()
    const { access } = await api.signInAs('admin')
    const { cursor } = (await readChanges(api)).body.meta
    const others = Array.from({ length: 2500 }, () => "('others', 'other.done', '2026-01-01T00:00:00.000Z', '{}')")
    await api.db.write({ sql: `INSERT INTO changes (topic, type, at, data) VALUES ${others.join()}` })
    for (const name of ['One', 'Two', 'Three']) await createProduct(api, access, { name })
    const page = await readChanges(api, { after: cursor, limit: 2 })
    assert.deepEqual([told(page.body.data), page.body.meta.more], [['created One', 'created Two'], true])
    const rest = await readChanges(api, { after: page.body.meta.cursor, limit: 2 })
    assert.deepEqual([told(rest.body.data), rest.body.meta.more], [['created Three'], false])
  })
})

onAnyEngine('the change log over REST', (engine) => {
  const { shared } = services[engine]

  test('a request waits for a change, and answers without one when its time is over', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const { cursor } = (await readChanges(api)).body.meta
    const held = [readChanges(api, { after: cursor, wait: 30 }), readChanges(api, { wait: 30 })]
    await eventually(async () => assert.equal(await waitingIn(api), 2))
    await createProduct(api, access, { name: 'New' })
    for (const { status, body } of await Promise.all(held)) {
      assert.deepEqual([status, told(body.data)], [200, ['created New']])
    }
    const { body } = await readChanges(api, { wait: 1 })
    assert.deepEqual([body.data, body.meta.more], [[], false])
    assert.equal((await api.request('HEAD', `${changesPath}?wait=30`)).status, 200)
  })

  test('a stream sends each change once with its cursor, and resumes from the last', async (t) => {
    const api = await shared()
    const { access } = await signIn(api)
    await createProduct(api, access, { name: 'Before' })
    const now = await openChanges(t, api.url)
    assert.match(now.response.headers['content-type'] ?? '', /^text\/event-stream/)
    assert.equal(now.response.headers['cache-control'], 'no-store')
    await eventually(() => assert.notEqual(now.lastId(), ''))
    const id = await createProduct(api, access, { name: 'New' })
    await eventually(() => assert.deepEqual(told(now.changes), ['created New']))
    assert.equal(now.lastId(), now.changes[0]?.cursor)
    assert.deepEqual(now.changes[0]?.data, (await api.get(`${productsPath}/${id}`)).body.data)
    now.close()

    await createProduct(api, access, { name: 'Missed' })
    const resumed = await openChanges(t, api.url, { query: '?after=0', lastEventId: now.lastId() })
    const all = await openChanges(t, api.url, { query: '?after=0' })
    await createProduct(api, access, { name: 'Last' })
    await eventually(() => assert.deepEqual(told(resumed.changes), ['created Missed', 'created Last']))
    await eventually(() => assert.equal(told(all.changes).at(-1), 'created Last'))
    assert.deepEqual(told(all.changes).slice(-4), ['created Before', 'created New', 'created Missed', 'created Last'])
    assert.equal(new Set(all.changes.map(({ cursor }) => cursor)).size, all.changes.length)
    for (const [lastEventId, status] of [
      ['999999', 410],
      ['nonsense', 422],
    ] as const) {
      const refused = await openChanges(t, api.url, { lastEventId })
      assert.equal(refused.response.statusCode, status)
    }
  })

  test('a stop ends what is held at once, with an answer', async (t) => {
    const api = await startApi(t, { engine })
    const held = readChanges(api, { wait: 30 })
    const stream = await openChanges(t, api.url)
    await eventually(async () => assert.equal(await waitingIn(api), 2))
    api.app.drain()
    const { status, headers, body } = await held
    assert.deepEqual([status, headers.get('connection'), body.data], [200, 'close', []])
    await stream.ended
    const later = await readChanges(api, { wait: 30 })
    assert.deepEqual([later.status, later.body.data], [200, []])
  })
})

async function waitingIn(api: { get(path: string): Promise<{ body: string }> }): Promise<number> {
  const { body } = await api.get('/metrics')
  return Number(/^change_log_readers (\d+)$/m.exec(body)?.[1])
}
