/** Several writes in one transaction, all or nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService } from '../support/api.ts'
import { onEachEngine } from '../support/databases.ts'
import { startHelpdesk } from '../support/helpdesk.ts'

interface Operation {
  method: string
  path: string
  body?: object
  if_match?: string
}

onEachEngine('a batch', (engine) => {
  const service = shareService((t) => startHelpdesk(t, engine), {})
  let teams = 0

  async function begin() {
    const api = await service()
    const { ada, chief } = api
    const batch = (operations: Operation[], token: string | undefined = chief.access) =>
      api.request('POST', '/api/batch', { json: { operations }, token })
    const team = await api.post('/api/teams', { name: `Team ${++teams}`, members: [ada.id] }, chief.access)
    const count = async (path: string) => (await api.get(`${path}?count=exact`, chief.access)).body.meta.total as number
    const ticket = async (title: string) =>
      (await api.post('/api/tickets', { title, team: team.body.data.id }, chief.access)).body.data.id as number
    return { api, batch, team: team.body.data.id as number, count, ticket, ada, chief }
  }

  test('writes rows that refer to each other, and changes, deletes and restores others', async () => {
    const { api, batch, team, ticket, chief } = await begin()
    const [one, other, gone] = [await ticket('One'), await ticket('Other'), await ticket('Gone')]
    await api.delete(`/api/tickets/${gone}`, chief.access)
    const etag = (await api.get(`/api/tickets/${one}`, chief.access)).headers.get('etag') as string
    const { status, body } = await batch([
      { method: 'POST', path: '/api/teams', body: { name: `New ${engine}` } },
      { method: 'POST', path: '/api/tickets', body: { title: 'First', team: { $ref: '0.data.id' } } },
      { method: 'POST', path: '/api/comments', body: { ticket: { $ref: '1.data.id' }, text: 'Hello' } },
      {
        method: 'PATCH',
        path: `/api/tickets/${one}`,
        body: { priority: 5, team: { $ref: '0.data.id' } },
        if_match: etag,
      },
      { method: 'PUT', path: `/api/tickets/${one}`, body: { priority: 4 } },
      { method: 'DELETE', path: `/api/tickets/${other}` },
      { method: 'POST', path: `/api/tickets/${gone}/restore` },
      { method: 'POST', path: '/api/comments/', body: { ticket: { $ref: '6.data.id' }, text: 'Back again' } },
    ])
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(
      body.results.map((each: { status: number }) => each.status),
      [201, 201, 201, 200, 200, 204, 200, 201],
    )
    const [made, first, comment, changed, again, removed, restored, onRestored] = body.results.map(
      (each: { body: unknown }) => each.body,
    )
    assert.equal(first.data.attributes.team, made.data.id)
    assert.equal(comment.data.attributes.ticket, first.data.id)
    assert.deepEqual([changed.data.attributes.priority, changed.data.attributes.team], [5, made.data.id])
    assert.deepEqual([again.data.attributes.priority, removed, restored.data.id], [4, null, gone])
    assert.equal(onRestored.data.attributes.ticket, gone)
    assert.equal((await api.get(`/api/tickets/${other}`, chief.access)).status, 404)
    const read = await api.get(`/api/tickets/${first.data.id}?include=team,comments`, chief.access)
    assert.equal(read.body.data.included.team.attributes.name, `New ${engine}`)
    assert.equal(read.body.data.included.comments.length, 1)
    assert.ok(team > 0)
  })

  test('writes nothing if an operation is rejected, and says which one and why', async () => {
    const { api, batch, team, count, ticket, ada, chief } = await begin()
    const [mine, closed] = [await ticket('Mine'), await ticket('Closed')]
    const before = [await count('/api/teams'), await count('/api/tickets')]
    const fine: Operation = { method: 'POST', path: '/api/tickets', body: { title: 'Fine', team } }
    const cases: [rejected: Operation, token: string, status: number, body: object][] = [
      [
        { method: 'POST', path: '/api/tickets', body: { title: 'x', team } },
        ada.access,
        422,
        { details: { title: ['Must be between 2 and 200 characters'] } },
      ],
      [
        { method: 'POST', path: '/api/tickets', body: { title: 'No team', team: 99_999 } },
        ada.access,
        422,
        { details: { team: ['Does not exist'] } },
      ],
      [
        { method: 'POST', path: '/api/teams', body: { name: `Team ${teams}` } },
        ada.access,
        422,
        { details: { name: ['Is already taken'] } },
      ],
      [
        { method: 'PATCH', path: `/api/tickets/${mine}`, body: { title: 'Stolen' } },
        ada.access,
        403,
        { error: 'Forbidden' },
      ],
      [{ method: 'DELETE', path: `/api/tickets/${mine}` }, ada.access, 403, { error: 'Forbidden' }],
      [{ method: 'DELETE', path: `/api/teams/${team}` }, chief.access, 409, { error: 'Is still referred to' }],
      [
        { method: 'PATCH', path: '/api/tickets/99999', body: { title: 'None' } },
        chief.access,
        404,
        { error: 'Not found' },
      ],
      [
        { method: 'PATCH', path: `/api/tickets/${closed}`, body: { priority: 1 }, if_match: '"0-x"' },
        chief.access,
        412,
        { error: 'Ticket has changed' },
      ],
      [
        { method: 'POST', path: '/api/comments', body: { ticket: { $ref: '9.data.id' }, text: 'Hi' } },
        ada.access,
        422,
        { details: { ticket: ['Must refer to the id of an earlier operation that returns a row'] } },
      ],
      [{ method: 'POST', path: '/api/v2/products', body: {} }, chief.access, 404, { error: 'Not found' }],
      [{ method: 'POST', path: `/api/tickets/${mine}`, body: {} }, chief.access, 404, { error: 'Not found' }],
    ]
    for (const [rejected, token, status, expected] of cases) {
      const { status: found, body } = await batch([fine, fine, rejected, fine], token)
      assert.deepEqual([found, body.operation], [status, 2], JSON.stringify([rejected, body]))
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(body[name], value)
    }
    // What an earlier operation of the same batch has taken, or closed.
    const twice = await batch([
      { method: 'POST', path: '/api/teams', body: { name: 'Twice' } },
      { method: 'POST', path: '/api/teams', body: { name: 'Twice' } },
    ])
    assert.deepEqual([twice.status, twice.body.operation, twice.body.details], [422, 1, { name: ['Is already taken'] }])
    const own = (await api.post('/api/tickets', { title: 'Own', team }, ada.access)).body.data.id
    const late = await batch(
      [
        { method: 'PATCH', path: `/api/tickets/${own}`, body: { status: 'closed' } },
        { method: 'PATCH', path: `/api/tickets/${own}`, body: { title: 'Late' } },
      ],
      ada.access,
    )
    assert.deepEqual([late.status, late.body.operation], [403, 1])
    // What refers to a rejected one is not the one to blame.
    const chain = await batch([
      { method: 'POST', path: '/api/teams', body: { name: `Team ${teams}` } },
      { method: 'POST', path: '/api/tickets', body: { title: 'Chained', team: { $ref: '0.data.id' } } },
    ])
    assert.deepEqual([chain.status, chain.body.operation], [422, 0])
    assert.deepEqual([await count('/api/teams'), await count('/api/tickets')], [before[0], (before[1] as number) + 1])
    const problem = await api.request('POST', '/api/batch', {
      json: { operations: [{ method: 'PATCH', path: `/api/tickets/${mine}`, body: { title: 'Stolen' } }] },
      token: ada.access,
      headers: { accept: 'application/problem+json' },
    })
    assert.deepEqual(
      [problem.body.operation, problem.body.rule],
      [0, '(author is you and status is not closed) or you have the permission tickets.update'],
    )
  })

  test('needs a token, a list of at most 100 operations, and the permissions of a key', async () => {
    const { api, batch, team, chief } = await begin()
    const one: Operation = { method: 'POST', path: '/api/tickets', body: { title: 'Many', team } }
    assert.equal((await api.post('/api/batch', { operations: [one] })).status, 401)
    assert.equal((await batch(Array.from({ length: 101 }, () => one))).status, 422)
    assert.equal((await batch(Array.from({ length: 100 }, () => one))).status, 200)
    assert.deepEqual((await batch([])).body, { results: [] })
    const wrong = await api.post('/api/batch', { operations: [{ method: 'GET', path: 5 }] }, chief.access)
    assert.deepEqual(wrong.body.details, {
      'operations.0.method': ['Must be one of POST, PATCH, PUT, DELETE'],
      'operations.0.path': ['Must be a string'],
    })
    const key = async (...permissions: string[]) =>
      (await api.post('/api/auth/keys', { name: 'Program', permissions }, chief.access)).body.key as string
    assert.equal((await batch([one], await key('tickets.read'))).status, 403)
    assert.equal((await batch([one], await key('tickets.create', 'teams.read'))).status, 200)
  })
})
