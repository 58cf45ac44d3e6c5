/** The REST API that a declaration of collections gives. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from '../support/databases.ts'
import { startHelpdesk } from '../support/helpdesk.ts'

onEachEngine('a collection', (engine) => {
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
})
