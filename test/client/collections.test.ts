/** Collections by @latchkey/client: reads, writes, and live copies that survive lost connections. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLatchkey } from '../../packages/client/src/index.ts'
import { shareService } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { startHelpdesk } from '../support/helpdesk.ts'
import { everyThird, lossyProxy } from '../support/lossy-proxy.ts'
import { password } from '../support/people.ts'

type Module = typeof import('../../examples/helpdesk/helpdesk.ts')

const service = shareService((t) => startHelpdesk(t, 'sqlite'), {})

async function connect(person: 'ada' | 'grace' | 'chief', url?: string) {
  const api = await service()
  const client = createLatchkey<Module>({ url: url ?? api.url })
  await client.login({ email: api[person].email, password })
  return { api, client }
}

test('rows are created, listed with what they refer to, read, changed, deleted and restored', async () => {
  const { client, api } = await connect('chief')
  const [teams, tickets] = [client.collection('teams'), client.collection('tickets')]
  const team = await teams.create({ name: 'Support', members: [api.ada.id] })
  const ticket = await tickets.create({ title: 'Printer', team: team.id, tags: ['paper'], due: '2026-12-24' })
  assert.deepEqual([ticket.status, ticket.priority, ticket.author], ['open', 3, api.chief.id])
  await client.collection('comments').create({ ticket: ticket.id, text: 'On it' })
  const { data, meta } = await tickets.list({
    filter: { team: team.id, status: ['open', 'closed'], priority: { gte: 3, lt: 4 }, assignee: null, tags: 'paper' },
    sort: '-priority',
    include: ['team', 'comments.author'],
  })
  assert.equal(meta.total, 1)
  assert.equal(data[0]?.included.team?.name, 'Support')
  assert.deepEqual(
    data[0]?.included.comments.map(({ text }) => text),
    ['On it'],
  )
  const changed = await tickets.update(
    ticket.id,
    { due: null },
    ticket.etag === undefined ? {} : { ifMatch: ticket.etag },
  )
  assert.equal(changed.due, null)
  await assert.rejects(tickets.update(ticket.id, { priority: 1 }, { ifMatch: ticket.etag ?? '' }), { status: 412 })
  await assert.rejects(tickets.update(ticket.id, { priority: 9 }), {
    status: 422,
    details: { priority: ['Must be at most 5'] },
  })
  assert.deepEqual(
    (await tickets.versions(ticket.id)).map(({ type }) => type),
    ['ticket.updated', 'ticket.created'],
  )
  await tickets.delete(ticket.id)
  await assert.rejects(tickets.get(ticket.id), { status: 404 })
  assert.equal((await tickets.restore(ticket.id)).title, 'Printer')
  assert.equal((await tickets.get(ticket.id, { include: ['author'] })).included.author?.name, 'Ada')
})

test('the log of a collection is followed by its path, with what it says of rows that have left', async () => {
  const { client, api } = await connect('ada')
  const { cursor } = await client.collection('tickets').list()
  const team = (await api.post('/api/teams', { name: 'Log', members: [api.ada.id] }, api.chief.access)).body.data.id
  const ticket = (await api.post('/api/tickets', { title: 'Seen', team }, api.chief.access)).body.data.id
  const other = (await api.post('/api/teams', { name: 'Closed' }, api.chief.access)).body.data.id
  await api.request('PATCH', `/api/tickets/${ticket}`, { json: { team: other }, token: api.chief.access })
  const seen: string[] = []
  for await (const { type, id, row } of client.collection('tickets').changes(cursor)) {
    seen.push(`${type} ${id} ${row?.title}`)
    if (type === 'ticket.left') break
  }
  assert.deepEqual(seen, [`ticket.created ${ticket} Seen`, `ticket.left ${ticket} undefined`])
  for await (const { type } of client.changes('/api/tickets', cursor)) {
    assert.equal(type, 'ticket.created')
    break
  }
})

test('a copy follows what changes, and sends writes in order through a connection that loses every third answer', async (t) => {
  const { api } = await connect('chief')
  const proxy = await lossyProxy(t, {
    target: api.url,
    isLost: (path, n) => path.startsWith('/api/teams') && everyThird(path, n),
  })
  const { client } = await connect('chief', proxy.url)
  const teams = client.collection('teams')
  const copy = teams.copy()
  t.after(() => copy.close())
  await copy.ready
  const before = copy.rows.size
  const made = await Promise.all(Array.from({ length: 12 }, (_, i) => copy.create({ name: `Copied ${i}` })))
  assert.equal(copy.pending(), 0)
  const ids = made.map((row) => (row as { id: number }).id)
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  await Promise.all(ids.slice(2, 8).map((id, i) => copy.update(id, { name: `Copied again ${i}` })))
  for (const id of ids.slice(2, 8)) assert.equal((await teams.versions(id)).length, 2)
  await copy.update(ids[0] as number, { name: 'Renamed' })
  await copy.delete(ids[1] as number)
  await assert.rejects(copy.create({ name: 'Renamed' }), { status: 422 })
  await eventually(() => assert.equal(copy.rows.size, before + 11))
  await eventually(() => assert.equal(copy.rows.get(ids[0] as number)?.name, 'Renamed'))
  const { data } = await teams.list({ per_page: 100 })
  await eventually(() =>
    assert.deepEqual(
      [...copy.rows.keys()].sort((a, b) => a - b),
      data.map(({ id }) => id).sort((a, b) => a - b),
    ),
  )
})
