/** Rows of collections in parallel requests, with hooks, and with those that refer to them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onRacingEngine } from '../support/databases.ts'
import { makeKey } from '../support/keys.ts'
import { again, many, password } from '../support/people.ts'
import { shareWorkshop } from '../support/workshop.ts'

onRacingEngine('a row of a collection', (engine) => {
  const shared = shareWorkshop(engine)

  test('is changed once for an idempotency key, also at the same time', async () => {
    const { signInAs, post, patch, get, request } = await shared()
    const { access: token } = await signInAs('user')
    const [one, other] = [
      await post('/api/parts', { name: 'Bolt' }, token),
      await post('/api/parts', { name: 'Nut' }, token),
    ]
    const change = (json: object, { id = one.body.data.id, key = 'one' } = {}) =>
      request('PATCH', `/api/parts/${id}`, {
        json,
        token,
        headers: {
          'idempotency-key': key,
          ...(id === one.body.data.id && { 'if-match': one.headers.get('etag') ?? '' }),
        },
      })
    for (const { status, body } of await many(8, () => change({ name: 'Screw' })))
      assert.deepEqual([status, body.data?.attributes.name], [200, 'Screw'], JSON.stringify(body))
    assert.equal((await change({ name: 'Nail' }, { id: other.body.data.id })).body.data.attributes.name, 'Nail')
    assert.deepEqual((await change({ name: 'Rivet' })).body.details, {
      idempotency_key: ['Was used with another body'],
    })
    assert.equal((await change({ name: 'Rivet' }, { key: 'two' })).status, 412)
    // What somebody else has changed since stays.
    await patch(`/api/parts/${one.body.data.id}`, { name: 'Pin' }, token)
    assert.equal((await change({ name: 'Screw' })).body.data.attributes.name, 'Pin')
    const { body } = await get(`/api/parts/${one.body.data.id}/versions`, token)
    assert.equal(body.data.length, 3)
  })

  test('is created once for an idempotency key, whatever becomes of it', async () => {
    const api = await shared()
    const { signInAs, request, patch, get, clock } = api
    const [ada, grace] = [await signInAs('user'), await signInAs('user')]
    const send = (json: object, key = 'one', token = ada.access, path = '/api/parts') =>
      request('POST', path, { json, token, headers: { 'idempotency-key': key } })
    const body = { name: 'Bolt', note: 'mine', tags: ['a'] }
    const [first, ...rest] = await many(8, () => send(body))
    assert.equal(first?.status, 201, JSON.stringify(first?.body))
    for (const each of rest) {
      assert.equal(each.status, 201, JSON.stringify(each.body))
      assert.deepEqual(each.body, first?.body)
      for (const name of ['etag', 'location']) assert.equal(each.headers.get(name), first?.headers.get(name))
    }
    assert.equal((await get('/api/parts?count=exact', ada.access)).body.meta.total, 1)
    for (const other of [
      { ...body, name: 'Nut' },
      { ...body, made_at: '2026-01-01T00:00:00Z' },
    ]) {
      const refused = await send(other)
      assert.deepEqual(
        [refused.status, refused.body.details],
        [422, { idempotency_key: ['Was used with another body'] }],
      )
    }
    assert.equal((await send({ ...body, unknown: 1 })).status, 201)
    assert.equal((await send({ ...body, name: '' })).body.details.name[0], 'Must not be blank')
    assert.deepEqual((await send(body, 'x'.repeat(256))).body.details, {
      idempotency_key: ['Must be at most 255 characters'],
    })
    // Of another user, or another collection, it is another key.
    assert.notEqual((await send(body, 'one', grace.access)).body.data.id, first?.body.data.id)
    assert.equal((await send({ name: 'Leaf' }, 'one', ada.access, '/api/nodes')).status, 201)
    // The first response again, of a row that has changed since, or is gone.
    const path = first?.headers.get('location') as string
    await patch(path, { name: 'Changed' }, ada.access)
    assert.deepEqual((await send(body)).body, first?.body)
    await request('DELETE', path, { token: ada.access })
    const repeated = await send(body)
    assert.deepEqual([repeated.status, repeated.body], [201, first?.body])
    assert.equal((await get(path, ada.access)).status, 404)
    clock.advance(24 * 3600 + 1)
    const later = await send(body, 'one', (await again(api, ada)).access)
    assert.notEqual(later.body.data.id, first?.body.data.id)
  })

  test('is read and changed under conditions', async () => {
    const { signInAs, make, get, request, patch, grant } = await shared()
    const ada = await signInAs('user')
    const { access } = ada
    const maker = await make('/api/makers', { name: `Conditions ${access.slice(-8)}` }, access)
    const { path, etag } = await make('/api/parts', { name: 'Bolt', maker: maker.id }, access)
    const read = (query: string, known: string) =>
      request('GET', path + query, { token: access, headers: { 'if-none-match': known } })
    assert.equal((await read('', etag)).status, 304)
    assert.equal((await read('', `W/${etag}`)).headers.get('etag'), `W/${etag}`)
    assert.equal((await read('', '"other"')).status, 200)
    const tags: string[] = []
    for (const query of ['?fields=name', '?fields=grade', '?include=maker', '?include=maker,owner']) {
      const tag = (await get(path + query, access)).headers.get('etag') as string
      assert.equal((await read(query, tag)).status, 304, query)
      assert.equal((await read('', tag)).status, 200)
      tags.push(tag)
    }
    assert.equal(new Set([...tags, etag]).size, 5)
    // Another reader sees other fields, and so does the same one with another role.
    await grant(ada, 'accountant')
    assert.equal((await read('', etag)).status, 200)
    await grant(ada, 'user')
    assert.equal((await read('', etag)).status, 304)
    // The tag of an included row's state changes, that of the version stays.
    await patch(maker.path, { name: `Renamed ${access.slice(-8)}` }, access)
    assert.equal((await read('?include=maker', tags[2] as string)).status, 200)
    for (const tag of tags.slice(0, 2)) {
      const current = (await get(path, access)).headers.get('etag') as string
      const selected = (await get(`${path}?fields=name`, access)).headers.get('etag') as string
      assert.equal((await patch(path, { name: `With ${tag.length}` }, access, { 'if-match': selected })).status, 200)
      for (const stale of [current, selected, `W/${current}`, 'none', '""']) {
        assert.equal((await patch(path, { name: 'Stale' }, access, { 'if-match': stale })).status, 412, stale)
      }
    }
    assert.equal((await patch(path, { name: 'Any' }, access, { 'if-match': '*' })).status, 200)
    const current = (await get(path, access)).headers.get('etag') as string
    const parallel = await many(10, (i) =>
      patch(path, { name: `Race ${i}` }, access, { 'if-match': `"x", ${current}` }),
    )
    assert.deepEqual(parallel.map(({ status }) => status).sort(), [200, ...Array(9).fill(412)])
    const any = await many(4, (i) => patch(path, { name: `Any ${i}` }, access, { 'if-match': '*' }))
    assert.deepEqual(
      any.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    const removals = await many(5, () => request('DELETE', path, { token: access }))
    assert.deepEqual(removals.map(({ status }) => status).sort(), [204, 404, 404, 404, 404])
    const restores = await many(5, () => request('POST', `${path}/restore`, { token: access }))
    assert.deepEqual(
      restores.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
  })

  test('that others refer to stays, clears them or takes them along', async () => {
    const { signInAs, make, request, get, post, patch } = await shared()
    const { access, id } = await signInAs('user')
    const remove = (path: string) => request('DELETE', path, { token: access })
    const restore = (path: string) => post(`${path}/restore`, {}, access)
    const isThere = async (path: string) => (await get(path, access)).status === 200
    const maker = await make('/api/makers', { name: `Maker ${id}` }, access)
    const part = await make('/api/parts', { name: 'Bolt', maker: maker.id }, access)
    const refused = await remove(maker.path)
    assert.deepEqual([refused.status, refused.body], [409, { error: 'Is still referred to' }])
    const banned = await make('/api/makers', { name: 'Banned' }, access)
    const refusedOne = await post('/api/reviews', { part: part.id, text: 'x', about: banned.id }, access)
    assert.deepEqual([refusedOne.status, refusedOne.body.details], [422, { about: ['Must not be banned'] }])
    assert.equal((await post('/api/reviews', { part: part.id, text: 'About nothing' }, access)).status, 201)
    const reviews = await many(3, (i) =>
      make('/api/reviews', { part: part.id, text: `Review ${i}`, about: maker.id }, access),
    )
    const [one, two, three] = reviews as [typeof part, typeof part, typeof part]
    await remove(two.path)
    assert.equal((await remove(part.path)).status, 204)
    for (const { path } of [part, ...reviews]) assert.equal(await isThere(path), false)
    // Nothing refers to it any more, and what is deleted is not cleared.
    assert.deepEqual((await restore(one.path)).body.details, { part: ['Does not exist'] })
    assert.equal((await restore(part.path)).status, 200)
    assert.deepEqual(await Promise.all([part, one, two, three].map(({ path }) => isThere(path))), [
      true,
      true,
      false,
      true,
    ])
    const types = (await get(`${one.path}/versions`, access)).body.data.map(({ type }: { type: string }) => type)
    assert.deepEqual(types, ['review.restored', 'review.deleted', 'review.created'])
    assert.equal((await restore(two.path)).status, 200)
    assert.equal((await restore(two.path)).status, 200)
    await patch(part.path, { maker: null }, access)
    assert.equal((await remove(maker.path)).status, 204)
    assert.equal((await get(one.path, access)).body.data.attributes.about, null)
    const versions = (await get(`${one.path}/versions`, access)).body.data
    assert.deepEqual([versions[0].type, versions[0].changes], ['review.updated', { about: [maker.id, null] }])
    assert.equal((await post('/api/reviews', { part: part.id, text: 'x', about: maker.id }, access)).status, 422)
    // Users too.
    const leaving = await request('DELETE', '/api/auth/me', { json: { password }, token: access })
    assert.deepEqual([leaving.status, leaving.body], [409, { error: 'User is still referred to' }])
  })

  test('is deleted and restored with the tree below it', async () => {
    const api = await shared()
    const { signInAs, make, request, get, post, clock } = api
    const user = await signInAs('user')
    const { access } = user
    const node = (parent?: { id: number }) => make('/api/nodes', { name: 'Node', parent: parent?.id }, access)
    const root = await node()
    const [left, right] = [await node(root), await node(root)]
    const deep = await node(await node(await node(left)))
    const alone = await node(left)
    const leaf = await make('/api/leaves', { node: deep.id, other: right.id }, access)
    const copy = await make('/api/nodes', { name: 'Copy', source: deep.id }, access)
    const all = [root, left, right, deep, leaf, copy]
    const isThere = async ({ path }: { path: string }) => (await get(path, access)).status === 200
    // A leaf of elsewhere holds the tree; one that is deleted along does not.
    const outside = await make('/api/leaves', { other: deep.id }, access)
    assert.equal((await request('DELETE', root.path, { token: access })).status, 409)
    assert.deepEqual(
      await Promise.all(all.map(isThere)),
      all.map(() => true),
    )
    await request('DELETE', outside.path, { token: access })
    await request('DELETE', alone.path, { token: access })
    assert.equal((await request('DELETE', root.path, { token: access })).status, 204)
    assert.deepEqual(
      await Promise.all(all.map(isThere)),
      all.map(() => false),
    )
    const restored = await post(`${root.path}/restore`, {}, access)
    assert.equal(restored.status, 200, JSON.stringify(restored.body))
    assert.deepEqual(
      await Promise.all(all.map(isThere)),
      all.map(() => true),
    )
    assert.equal(await isThere(alone), false)
    await request('DELETE', root.path, { token: access })
    clock.advance(2 * 86_400 + 1)
    assert.equal((await post(`${root.path}/restore`, {}, (await again(api, user)).access)).status, 404)
  })

  test('goes with a user together with the tree below it, unless something else refers to that', async () => {
    const { signInAs, make, request, get } = await shared()
    const [admin, ada, keeper] = [await signInAs('admin'), await signInAs('user'), await signInAs('user')]
    for (const leave of [
      (user: typeof ada) => request('DELETE', `/api/admin/users/${user.id}`, { token: admin.access }),
      (user: typeof ada) => request('DELETE', '/api/auth/me', { json: { password }, token: user.access }),
    ]) {
      const user = await signInAs('user')
      const send = (path: string, json: object) => make(path, json, ada.access)
      const root = await send('/api/nodes', { name: 'Root', keeper: user.id })
      const child = await send('/api/nodes', { name: 'Child', parent: root.id })
      const leaf = await send('/api/leaves', { node: child.id })
      const near = await send('/api/leaves', { near: child.id })
      const other = await send('/api/nodes', { name: 'Other', keeper: keeper.id })
      const holding = await send('/api/leaves', { other: child.id })
      const statusOf = async ({ path }: { path: string }) => (await get(path, ada.access)).status
      const refused = await leave(user)
      assert.deepEqual([refused.status, refused.body], [409, { error: 'User is still referred to' }])
      assert.deepEqual(await Promise.all([root, child, leaf, near, other].map(statusOf)), [200, 200, 200, 200, 200])
      await request('DELETE', holding.path, { token: ada.access })
      assert.equal((await leave(user)).status, 204)
      assert.deepEqual(await Promise.all([root, child, leaf, near, other].map(statusOf)), [404, 404, 404, 200, 200])
      assert.equal((await get(near.path, ada.access)).body.data.attributes.near, null)
      const entries = (await get('/api/leaves/changes?after=0&limit=1000', ada.access)).body.data
      const typesOf = (id: number) =>
        entries.flatMap(({ type, data }: { type: string; data: { id: number } }) => (data.id === id ? [type] : []))
      assert.deepEqual(typesOf(leaf.id), ['leaf.created', 'leaf.deleted'])
      assert.deepEqual(typesOf(near.id), ['leaf.created', 'leaf.updated'])
    }
  })

  test('is taken by nobody else while it is restored with others', async () => {
    const { signInAs, make, request, post, get } = await shared()
    const { access, id } = await signInAs('user')
    const node = await make('/api/nodes', { name: 'Node' }, access)
    const leaf = await make('/api/leaves', { name: `leaf ${id}`, node: node.id }, access)
    await request('DELETE', node.path, { token: access })
    const other = await make('/api/leaves', { name: `leaf ${id}` }, access)
    assert.equal((await post(`${node.path}/restore`, {}, access)).status, 409)
    assert.equal((await get(node.path, access)).status, 404)
    await request('DELETE', other.path, { token: access })
    assert.equal((await post(`${node.path}/restore`, {}, access)).status, 200)
    assert.equal((await get(leaf.path, access)).status, 200)
  })

  test('has no children that outlive it, however many are created and restored meanwhile', async () => {
    const { signInAs, make, request, post, db } = await shared()
    const { access } = await signInAs('user')
    for (let round = 0; round < 3; round++) {
      const node = await make('/api/nodes', { name: 'Node' }, access)
      const other = await make('/api/nodes', { name: 'Other' }, access)
      const leaf = await make('/api/leaves', { node: node.id }, access)
      await request('DELETE', leaf.path, { token: access })
      const changed = await make('/api/leaves', { node: other.id }, access)
      const responses = await Promise.all([
        ...Array.from({ length: 6 }, () => post('/api/leaves', { node: node.id }, access)),
        request('DELETE', node.path, { token: access }),
        post(`${leaf.path}/restore`, {}, access),
        request('PATCH', changed.path, { json: { node: node.id }, token: access }),
        ...Array.from({ length: 6 }, () => post('/api/leaves', { node: node.id }, access)),
      ])
      assert.deepEqual(
        responses.filter(({ status }) => ![200, 201, 204, 422].includes(status)),
        [],
      )
      assert.equal(responses[6]?.status, 204)
      const orphans = await db.all('SELECT id FROM leaves WHERE node = $1 AND deleted_at IS NULL', [node.id])
      assert.deepEqual(orphans, [])
    }
  })

  test('never refers to one that is deleted, whatever is changed at the same time', async () => {
    const { signInAs, make, request, db } = await shared()
    const { access } = await signInAs('user')
    const nodes = await many(6, () => make('/api/nodes', { name: 'Node' }, access))
    const leaves = await many(6, (i) => make('/api/leaves', { node: nodes[i]?.id, other: nodes[5 - i]?.id }, access))
    const idOf = (i: number) => nodes[i % nodes.length]?.id
    const pathOf = (rows: typeof nodes, i: number) => rows[i % rows.length]?.path as string
    const send = (method: string, path: string, json?: object) => request(method, path, { json, token: access })
    const changes = [
      (i: number) => send('DELETE', pathOf(nodes, i)),
      (i: number) => send('POST', `${pathOf(nodes, i)}/restore`),
      (i: number) => send('DELETE', pathOf(leaves, i)),
      (i: number) => send('POST', `${pathOf(leaves, i)}/restore`),
      (i: number) => send('PATCH', pathOf(leaves, i), { node: idOf(i + 1), other: idOf(i + 3) }),
      (i: number) => send('PATCH', pathOf(leaves, i), { other: null }),
      (i: number) => send('PATCH', pathOf(nodes, i), { parent: idOf(i + 1 + (i % 4)) }),
      (i: number) => send('PATCH', pathOf(nodes, i), { parent: null }),
      (i: number) => send('POST', '/api/leaves', { node: idOf(i), other: idOf(i + 2) }),
    ]
    const responses = await many(300, (i) => (changes[(i * 7) % changes.length] as (typeof changes)[0])((i * 5) % 11))
    const failed = responses.filter(({ status }) => ![200, 201, 204, 404, 409, 422].includes(status))
    assert.deepEqual(failed, [])
    const isGone = (column: string) =>
      `EXISTS (SELECT 1 FROM nodes related WHERE related.id = target.${column} AND related.deleted_at IS NOT NULL)`
    const orphans = [
      await db.all(
        `SELECT id FROM leaves target WHERE deleted_at IS NULL AND (${isGone('node')} OR ${isGone('other')})`,
      ),
      await db.all(`SELECT id FROM nodes target WHERE deleted_at IS NULL AND ${isGone('parent')}`),
    ]
    assert.deepEqual(orphans, [[], []])
  })

  test('is written with what a hook makes of it, and not if statements decide against it', async () => {
    const { signInAs, make, patch, get, post, request, db, interruption } = await shared()
    const { access } = await signInAs('user')
    const tally = await make('/api/tallies', { name: 'Sum', add: 5 }, access)
    const totalOf = async () => (await get(tally.path, access)).body.data.attributes.total
    assert.equal(await totalOf(), 5)
    assert.equal((await patch(tally.path, { add: 20 }, access)).body.data.attributes.total, 25)
    assert.equal((await patch(tally.path, { total: 99 }, access)).status, 403)
    assert.equal((await patch(tally.path, { limit: 1001 }, access)).status, 403)
    const rejected = await patch(tally.path, { name: 'Forbidden' }, access)
    assert.deepEqual([rejected.status, rejected.body], [409, { error: 'Not this one' }])
    assert.equal((await post('/api/tallies', { name: 'Forbidden' }, access)).status, 409)
    assert.equal((await patch(tally.path, { add: 80 }, access)).status, 409)
    assert.equal((await post('/api/tallies', { name: 'Much', add: 101 }, access)).status, 409)
    assert.equal(await totalOf(), 25)
    const once = { json: { name: 'Once', add: 7 }, token: access, headers: { 'idempotency-key': 'tally' } }
    const [first, second] = [await request('POST', '/api/tallies', once), await request('POST', '/api/tallies', once)]
    assert.deepEqual([first.body.data.attributes.total, second.body], [7, first.body])
    assert.equal((await request('DELETE', tally.path, { token: access })).status, 409)
    const none = await make('/api/tallies', { name: 'None' }, access)
    assert.equal((await request('DELETE', none.path, { token: access })).status, 204)
    const setLimit = (limit: number) =>
      db.write({ sql: 'UPDATE tallies SET "limit" = $1 WHERE id = $2', params: [limit, none.id] })
    await setLimit(-1)
    assert.equal((await post(`${none.path}/restore`, {}, access)).status, 409)
    await setLimit(1)
    assert.equal((await post(`${none.path}/restore`, {}, access)).status, 200)
    // The row changes while the hook of another change runs: it runs again, with the new one.
    let runs = 0
    interruption.beforeWrite = async () => {
      if (runs++ > 0) return
      assert.equal((await patch(tally.path, { add: 30 }, access)).status, 200)
    }
    const retried = await patch(tally.path, { add: 1 }, access)
    assert.deepEqual([retried.status, retried.body.data.attributes.total], [200, 56], JSON.stringify(retried.body))
    const etag = retried.headers.get('etag') as string
    runs = 0
    const outrun = await patch(tally.path, { add: 2 }, access, { 'if-match': etag })
    assert.equal(outrun.status, 412)
    assert.equal(await totalOf(), 86)
    // It never stays as it was read.
    let depth = 0
    interruption.beforeWrite = async () => {
      if (depth > 0) return
      depth++
      await patch(tally.path, { name: `Name ${runs++}` }, access)
      depth--
    }
    assert.equal((await patch(tally.path, { name: 'Mine' }, access)).status, 409)
    delete interruption.beforeWrite
  })

  test('of an anonymous client is read, created and changed where the rules say everybody', async () => {
    const { signInAs, post, get, patch, request } = await shared()
    const { access, id } = await signInAs('user')
    const made = await post('/api/board/notices', { text: 'Hello' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.equal(made.body.data.attributes.author, null)
    const path = made.headers.get('location') as string
    assert.match(path, /^\/api\/board\/notices\/\d+$/)
    assert.deepEqual((await get(path)).body, made.body)
    await post('/api/board/notices', { text: 'Second' })
    const paged = await get('/api/board/notices?per_page=1')
    assert.match(paged.headers.get('link') ?? '', /^<\/api\/board\/notices\?per_page=1&cursor=[\w-]+>; rel="next"$/)
    const searched = await request('GET', '/api/board/notices?q=x', { headers: { accept: 'application/problem+json' } })
    assert.deepEqual([searched.status, searched.body.rule], [403, 'you have the permission notices.drafts'])
    assert.equal((await get('/api/board/notices?sort=-text')).status, 200)
    assert.equal((await post('/api/board/notices', { text: 'Hello', author: id })).status, 403)
    assert.equal((await post('/api/board/notices', {})).body.details.text[0], 'Must not be blank')
    assert.equal((await patch(path, { text: 'Changed' })).status, 200)
    assert.equal((await patch(path, { is_open: false })).status, 200)
    assert.equal((await patch(path, { text: 'Closed' })).status, 403)
    assert.equal((await get(`${path}/versions`)).body.data[0].actor, null)
    assert.equal((await get(path, 'no token')).status, 401)
    assert.equal((await request('DELETE', path)).status, 401)
    assert.equal((await request('DELETE', path, { token: access })).status, 403)
    // Nothing is kept of what is deleted.
    const own = await post('/api/board/notices', { text: 'Mine' }, access)
    const ownPath = own.headers.get('location') as string
    assert.equal((await request('DELETE', ownPath, { token: access })).status, 204)
    assert.equal((await post(`${ownPath}/restore`, {}, access)).status, 404)
    assert.equal((await get('/api/parts')).status, 401)
    assert.equal((await post('/api/parts', { name: '' })).status, 401)
  })

  test('is reached by a limited key only with the permission of the collection', async () => {
    const { signInAs, make, post, get, request } = await shared()
    const chief = await signInAs('admin')
    const other = await signInAs('user')
    const maker = await make('/api/makers', { name: `Keys ${chief.id}`, members: [other.id] }, chief.access)
    const { path } = await make('/api/parts', { name: 'Bolt', maker: maker.id }, other.access)
    const keyFor = async (...permissions: string[]) =>
      (await makeKey({ post } as never, chief.access, { permissions })).key
    const [reader, creator, updater, deleter, all] = await Promise.all(
      [['parts.read'], ['parts.create'], ['parts.update'], ['parts.delete'], ['parts.*']].map((each) =>
        keyFor(...each),
      ),
    )
    const statusesOf = async (token: string | undefined) => [
      (await get(path, token)).status,
      (await get('/api/parts', token)).status,
      (await get(`${path}/versions`, token)).status,
      (await post('/api/parts', { name: 'Nut' }, token)).status,
      (await request('PATCH', path, { json: { name: 'Nut' }, token })).status,
      (await request('DELETE', '/api/parts/999999', { token })).status,
      (await post(`${path}/restore`, {}, token)).status,
    ]
    assert.deepEqual(await statusesOf(reader), [200, 200, 200, 403, 403, 403, 403])
    assert.deepEqual(await statusesOf(creator), [403, 403, 403, 201, 403, 403, 403])
    assert.deepEqual(await statusesOf(updater), [403, 403, 403, 403, 200, 403, 403])
    assert.deepEqual(await statusesOf(deleter), [403, 403, 403, 403, 403, 404, 200])
    assert.deepEqual(await statusesOf(all), [200, 200, 200, 201, 200, 404, 200])
    // Rules, and fields, are about the owner.
    const { attributes } = (await get(path, reader)).body.data
    assert.equal(attributes.cost, null)
    // What is included needs the permission of its own collection.
    const included = async (token: string | undefined) =>
      (await get(`${path}?include=maker,owner`, token)).body.data.included
    const none = await included(reader)
    assert.equal(none.maker, null)
    assert.deepEqual(none.owner.attributes, { name: 'Ada' })
    const both = await included(await keyFor('parts.read', 'makers.read', 'users.view'))
    assert.equal(both.maker.id, maker.id)
    assert.deepEqual(both.owner.attributes, { name: 'Ada', email: other.email })
  })
})
