/** The REST API that a declaration of collections gives. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collection } from '../../src/collections/collection.ts'
import { boolean, integer, text } from '../../src/collections/declare/fields.ts'
import { everybody, signedIn } from '../../src/collections/declare/rules.ts'
import { principalOf } from '../../src/platform/access/route-guards.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { query } from '../../src/platform/graphql/schema/elements.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/graphql.ts'
import { startHelpdesk } from '../support/helpdesk.ts'
import { startApiWithRoles } from '../support/roles.ts'

onAnyEngine('a collection', (engine) => {
  test('is created, read, changed, deleted and restored', async (t) => {
    const { ada, grace, chief, post, get, request } = await startHelpdesk(t, engine)
    const team = await post('/api/teams', { name: 'Support', members: [ada.id] }, ada.access)
    assert.equal(team.status, 201, JSON.stringify(team.body))
    assert.equal(team.headers.get('location'), '/api/teams/1')
    const { created_at, updated_at, ...attributes } = team.body.data.attributes
    assert.deepEqual(attributes, { name: 'Support', owner: ada.id, members: [ada.id] })
    assert.equal(created_at, updated_at)

    const ticket = await post(
      '/api/tickets',
      { title: 'Printer', team: 1, tags: ['paper'], due: '2026-12-24' },
      ada.access,
    )
    assert.equal(ticket.status, 201, JSON.stringify(ticket.body))
    assert.deepEqual(Object.keys(ticket.body.data.attributes), [
      'title',
      'body',
      'team',
      'author',
      'assignee',
      'status',
      'priority',
      'tags',
      'due',
      'created_at',
      'updated_at',
    ])
    assert.equal(ticket.body.data.attributes.priority, 3)
    assert.equal(ticket.body.data.attributes.author, ada.id)
    const path = ticket.headers.get('location') as string

    const read = await get(path, ada.access)
    assert.equal(read.status, 200)
    assert.deepEqual(read.body, ticket.body)
    assert.equal(read.headers.get('etag'), ticket.headers.get('etag'))
    assert.equal((await get(path, grace.access)).status, 404)
    assert.equal((await get(path)).status, 401)
    assert.equal((await get(path, chief.access)).body.data.attributes.cost, null)

    const patched = await request('PATCH', path, { json: { body: 'It burns', priority: 5 }, token: ada.access })
    assert.equal(patched.status, 200, JSON.stringify(patched.body))
    assert.equal(patched.body.data.attributes.body, 'It burns')
    const cleared = await request('PUT', path, { json: { body: null }, token: ada.access })
    assert.equal(cleared.body.data.attributes.body, null)
    assert.equal(cleared.body.data.attributes.priority, 5)

    const closed = await request('PATCH', path, { json: { status: 'closed' }, token: ada.access })
    assert.equal(closed.status, 200)
    assert.equal((await request('PATCH', path, { json: { title: 'Other' }, token: ada.access })).status, 403)
    assert.equal((await request('DELETE', path, { token: ada.access })).status, 403)
    const gone = await request('DELETE', path, { token: chief.access })
    assert.equal(gone.status, 204, JSON.stringify(gone.body))
    assert.equal((await get(path, ada.access)).status, 404)
    const restored = await post(`${path}/restore`, {}, chief.access)
    assert.equal(restored.status, 200, JSON.stringify(restored.body))
    assert.equal((await get(path, ada.access)).body.data.attributes.status, 'closed')

    const versions = await get(`${path}/versions`, ada.access)
    assert.equal(versions.status, 200, JSON.stringify(versions.body))
    assert.deepEqual(
      versions.body.data.map(({ type, version }: { type: string; version: number }) => `${type} ${version}`),
      [
        'ticket.restored 6',
        'ticket.deleted 5',
        'ticket.updated 4',
        'ticket.updated 3',
        'ticket.updated 2',
        'ticket.created 1',
      ],
    )
    assert.deepEqual(versions.body.data[4].changes, { body: [null, 'It burns'], priority: [3, 5] })
    assert.deepEqual(versions.body.data[4].actor, { id: ada.id, name: 'Ada' })
  })

  test('shows no version of a time when its reader could not see the row', async (t) => {
    const { ada, grace, chief, post, get, request } = await startHelpdesk(t, engine)
    const [own, other] = [
      (await post('/api/teams', { name: 'Own', members: [ada.id] }, chief.access)).body.data.id,
      (await post('/api/teams', { name: 'Other', members: [grace.id] }, chief.access)).body.data.id,
    ]
    const { id } = (await post('/api/tickets', { title: 'Secret plan', team: other }, chief.access)).body.data
    const change = (json: object) => request('PATCH', `/api/tickets/${id}`, { json, token: chief.access })
    await change({ title: 'Public', team: own })
    await change({ title: 'Published' })
    const seen = (await get(`/api/tickets/${id}/versions`, ada.access)).body.data
    assert.deepEqual(
      seen.map(({ version, changes }: { version: number; changes: object }) => [version, changes]),
      [
        [3, { title: ['Public', 'Published'] }],
        [2, {}],
      ],
    )
    assert.equal((await get(`/api/tickets/${id}/versions`, chief.access)).body.data.length, 3)
  })

  test('is a typed service for features that need it, and has routes, elements and commands of its own', async (t) => {
    const memos = collection({
      name: 'memos',
      migrations: temporaryFolder(t),
      fields: { title: text(), done: boolean({ default: false }), stars: integer({ default: 0 }) },
      rules: { read: everybody, create: signedIn, update: signedIn },
      filter: ['done', 'stars'],
      sort: ['stars'],
      routes: (service) => (app) =>
        void app.post('/api/memos/:id/star', { config: { access: 'authenticated' } }, async (request) => {
          const id = Number((request.params as { id: string }).id)
          const { stars } = await service.get(id)
          return { data: await service.update(id, { stars: stars + 1 }, { as: principalOf(request) }) }
        }),
      elements: (service) => [
        query({
          name: 'openMemos',
          type: 'Int',
          access: 'public',
          resolve: async () => (await service.list({ filter: { done: false } })).total,
        }),
      ],
    })
    const digest = defineFeature({
      name: 'digest',
      needs: { memos },
      create: (_infrastructure, { memos: service }) => ({
        async finish(): Promise<string[]> {
          const { rows } = await service.list({
            filter: { done: [false], stars: { gte: 1 } },
            sort: '-stars',
            perPage: 5,
          })
          for (const { id } of rows) await service.update(id, { done: true })
          return rows.map(({ title }) => title)
        },
      }),
    })
    const api = await startApiWithRoles(t, { engine, extensions: [memos, digest] })
    const { access } = await api.signInAs('user')
    for (const title of ['One', 'Two']) assert.equal((await api.post('/api/memos', { title }, access)).status, 201)
    assert.equal((await api.post('/api/memos/2/star', {}, access)).body.data.stars, 1)
    assert.equal((await api.post('/api/memos/2/star')).status, 401)
    assert.deepEqual(await api.serviceOf(digest).finish(), ['Two'])
    assert.equal((await ask(api, '{ openMemos }')).data.openMemos, 1)
    assert.equal((await api.get('/api/memos/2')).body.data.attributes.done, true)
    assert.equal((await api.get('/api/memos?filter[done]=true')).body.meta.total, 1)
  })

  test('deletes for good what can no longer be restored', async (t) => {
    const memos = collection({
      name: 'memos',
      migrations: temporaryFolder(t),
      keepDeleted: '2h',
      fields: { title: text() },
      rules: { read: everybody, create: signedIn, delete: signedIn },
    })
    const api = await startApiWithRoles(t, { engine, extensions: [memos] })
    const { access } = await api.signInAs('user')
    for (const title of ['One', 'Two']) await api.post('/api/memos', { title }, access)
    await api.delete('/api/memos/1', access)
    const count = async () => (await api.db.get<{ n: number }>('SELECT count(*) AS n FROM memos'))?.n
    await eventually(async () => assert.ok(await api.db.get("SELECT 1 AS one FROM jobs WHERE name = 'purge-memos'")))
    api.clock.advance(3 * 3600)
    await eventually(async () => assert.equal(await count(), 1))
  })
})
