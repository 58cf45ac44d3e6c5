/** The GraphQL schema that a declaration of collections gives. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { any, collection, everybody, integer, row, signedIn, text, time } from '../../src/public/collections.ts'
import { shareService } from '../support/api.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { type OpenStream, openStream } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { ask, send } from '../support/graphql.ts'
import { startHelpdesk } from '../support/helpdesk.ts'
import { startApiWithRoles } from '../support/roles.ts'

onAnyEngine('a collection over GraphQL', (engine) => {
  const service = shareService((t) => startHelpdesk(t, engine), {})

  test('is created, read with its relations, changed, deleted and restored', async () => {
    const api = await service()
    const { ada, grace, chief } = api
    const as = (token: string) => (query: string, variables?: Record<string, unknown>) =>
      send(api, query, { token, ...(variables && { variables }) })
    const team = await as(ada.access)(
      `mutation { createTeam(input: { name: "GraphQL", members: [${grace.id}] }) { id name owner { id name email } members { id } memberIds } }`,
    )
    assert.equal(team.body.errors, undefined, JSON.stringify(team.body))
    const { id, ...made } = team.body.data.createTeam
    assert.deepEqual(made, {
      name: 'GraphQL',
      owner: { id: String(ada.id), name: 'Ada', email: null },
      members: [{ id: String(grace.id) }],
      memberIds: [String(grace.id)],
    })
    const input = { title: 'Printer', team: id, tags: ['paper'], due: '2026-12-24' }
    const ticket = await as(ada.access)(
      'mutation ($input: CreateTicketInput!) { createTicket(input: $input, idempotencyKey: "one") { id title priority createdAt team { id name } author { name } assignee { name } comments { id } etag } }',
      { input },
    )
    assert.equal(ticket.body.errors, undefined, JSON.stringify(ticket.body))
    const { id: ticketId, etag, createdAt, ...rest } = ticket.body.data.createTicket
    assert.match(createdAt, /Z$/)
    assert.deepEqual(rest, {
      title: 'Printer',
      priority: 3,
      team: { id, name: 'GraphQL' },
      author: { name: 'Ada' },
      assignee: null,
      comments: [],
    })
    const again = await as(ada.access)(
      'mutation ($input: CreateTicketInput!) { createTicket(input: $input, idempotencyKey: "one") { id } }',
      { input },
    )
    assert.equal(again.body.data.createTicket.id, ticketId)

    const comment = await as(grace.access)(
      `mutation { createComment(input: { ticket: ${ticketId}, text: "On it" }) { id ticket { title comments { text author { name } } } } }`,
    )
    assert.deepEqual(
      comment.body.data?.createComment.ticket,
      { title: 'Printer', comments: [{ text: 'On it', author: { name: 'Ada' } }] },
      JSON.stringify(comment.body),
    )

    const denied = await as(grace.access)(`mutation { updateTicket(id: ${ticketId}, input: { title: "Mine" }) { id } }`)
    assert.equal(denied.body.errors[0].extensions.code, 'FORBIDDEN')
    const wrong = await as(ada.access)(
      `mutation { updateTicket(id: ${ticketId}, input: { status: "lost", priority: 9 }) { id } }`,
    )
    assert.deepEqual(wrong.body.errors[0].extensions.details, {
      status: ['Must be one of open, pending, closed'],
      priority: ['Must be at most 5'],
    })
    const changed = await as(ada.access)(
      `mutation { updateTicket(id: ${ticketId}, input: { due: null, priority: 5 }, ifMatch: ${JSON.stringify(etag)}) { due priority } }`,
    )
    assert.deepEqual(changed.body.data?.updateTicket, { due: null, priority: 5 }, JSON.stringify(changed.body))
    const late = await as(ada.access)(
      `mutation { updateTicket(id: ${ticketId}, input: { priority: 1 }, ifMatch: ${JSON.stringify(etag)}) { id } }`,
    )
    assert.equal(late.body.errors[0].message, 'Ticket has changed')

    const { headers } = await api.get(`/api/tickets/${ticketId}`, ada.access)
    const byRest = await as(ada.access)(
      `mutation ($etag: String) { updateTicket(id: ${ticketId}, input: { priority: 4 }, ifMatch: $etag) { priority } }`,
      { etag: `"0-other", ${headers.get('etag')}` },
    )
    assert.deepEqual(byRest.body.data?.updateTicket, { priority: 4 }, JSON.stringify(byRest.body))

    const hidden = await as(ada.access)(`{ ticket(id: ${ticketId}) { title cost } }`)
    assert.deepEqual(hidden.body.data, { ticket: { title: 'Printer', cost: null } })
    assert.deepEqual(hidden.body.errors[0].path, ['ticket', 'cost'])
    const seen = await as(chief.access)(`mutation { updateTicket(id: ${ticketId}, input: { cost: 12.5 }) { cost } }`)
    assert.deepEqual(seen.body.data, { updateTicket: { cost: 12.5 } })

    assert.deepEqual((await as(chief.access)(`mutation { deleteTicket(id: ${ticketId}) }`)).body.data, {
      deleteTicket: true,
    })
    assert.equal((await as(ada.access)(`{ ticket(id: ${ticketId}) { id } }`)).body.errors[0].message, 'Not found')
    const restored = await as(chief.access)(`mutation { restoreTicket(id: ${ticketId}) { title comments { text } } }`)
    assert.deepEqual(
      restored.body.data?.restoreTicket,
      { title: 'Printer', comments: [{ text: 'On it' }] },
      JSON.stringify(restored.body),
    )
  })

  test('is listed with sort, filters, search, cursors and counts', async () => {
    const api = await service()
    const { chief } = api
    const team = await api.post('/api/teams', { name: `Lists ${engine}` }, chief.access)
    const made = [
      { title: 'Alpha', priority: 1, status: 'open', due: '2026-01-01' },
      { title: 'beta', priority: 2, status: 'pending', tags: ['x'] },
      { title: 'Gamma', priority: 5, status: 'closed', assignee: chief.id },
    ]
    for (const each of made) {
      const { status, body } = await api.post('/api/tickets', { ...each, team: team.body.data.id }, chief.access)
      assert.equal(status, 201, JSON.stringify(body))
    }
    const list = async (args: string) => {
      const body = await ask(api, `{ tickets(${args}) { data { title } meta { total next prev perPage } } }`, {
        token: chief.access,
      })
      assert.equal(body.errors, undefined, JSON.stringify(body))
      const { data, meta } = body.data.tickets
      return { titles: data.map(({ title }: { title: string }) => title), meta }
    }
    const of = (filter: string) => `sort: "title", filter: { team: ${team.body.data.id}${filter} }`
    assert.deepEqual((await list(of(''))).titles, ['Alpha', 'beta', 'Gamma'])
    assert.deepEqual((await list(of(', status: "open"'))).titles, ['Alpha'])
    assert.deepEqual((await list(of(', status: ["open", "closed"]'))).titles, ['Alpha', 'Gamma'])
    assert.deepEqual((await list(of(', assignee: null'))).titles, ['Alpha', 'beta'])
    assert.deepEqual((await list(of(', priority: { gte: 2, lt: 5 }'))).titles, ['beta'])
    assert.deepEqual((await list(of(', priority: { eq: [1, 5] }'))).titles, ['Alpha', 'Gamma'])
    assert.deepEqual((await list(of(', due: { isNull: true }'))).titles, ['beta', 'Gamma'])
    assert.deepEqual((await list(of(', due: { isNull: false }'))).titles, ['Alpha'])
    assert.deepEqual((await list(of(', tags: "x"'))).titles, ['beta'])
    assert.deepEqual((await list(`${of('')}, q: "BET"`)).titles, ['beta'])
    const first = await list(`${of('')}, perPage: 2`)
    assert.deepEqual(
      [first.titles, first.meta.total, first.meta.perPage, first.meta.prev],
      [['Alpha', 'beta'], 3, 2, null],
    )
    const second = await list(`${of('')}, perPage: 2, cursor: "${first.meta.next}", count: "exact"`)
    assert.deepEqual([second.titles, second.meta.total, second.meta.next], [['Gamma'], 3, null])
    const wrong = await ask(api, '{ tickets(sort: "nothing", filter: { priority: { gte: 1.5 } }) { data { id } } }', {
      token: chief.access,
    })
    assert.deepEqual(Object.keys(wrong.errors[0].extensions.details), ['sort', 'filter.priority.gte'])
  })

  test('sends the changes of what a subscriber may read, from a cursor and live', async (t) => {
    const api = await service()
    const { ada, grace, chief } = api
    const team = await api.post('/api/teams', { name: `Live ${engine}`, members: [ada.id] }, chief.access)
    const create = (title: string, token: string, of = team) =>
      api.post('/api/tickets', { title, team: of.body.data.id }, token)
    const other = await api.post('/api/teams', { name: `Other ${engine}` }, grace.access)
    const cursor = (await api.get('/api/tickets', ada.access)).headers.get('x-cursor') as string
    await create('For the team', ada.access)
    const query =
      'subscription ($after: String) { ticketChanges(after: $after) { type id version actor { id key } ticket { title team { name } } } }'
    const subscribe = (token: string) => openStream(t, api.url, query, { token, variables: { after: cursor } })
    const [member, stranger] = [await subscribe(ada.access), await subscribe(grace.access)]
    await eventually(() => assert.equal(member.events.length, 1))
    const second = await create('Later', chief.access)
    assert.equal((await create('Of a stranger', grace.access)).status, 422)
    await create('Of a stranger', grace.access, other)
    await eventually(() => assert.equal(stranger.events.length, 1))
    await eventually(() => assert.equal(member.events.length, 2))
    const titles = ({ events }: OpenStream) => events.map(({ data }) => data.data.ticketChanges.ticket.title)
    assert.deepEqual(titles(member), ['For the team', 'Later'])
    assert.deepEqual(titles(stranger), ['Of a stranger'])
    assert.equal(stranger.events[0]?.data.data.ticketChanges.actor, null)
    const auditor = await subscribe(chief.access)
    await eventually(() => assert.equal(auditor.events.length, 3))
    const actors = auditor.events.map(({ data }) => data.data.ticketChanges.actor)
    assert.deepEqual(
      actors,
      [ada, chief, grace].map(({ id }) => ({ id: String(id), key: null })),
    )
    assert.deepEqual(member.events[0]?.data.data.ticketChanges.ticket.team, { name: `Live ${engine}` })

    await api.request('PATCH', `/api/teams/${team.body.data.id}`, { json: { members: [] }, token: chief.access })
    await eventually(() => assert.equal(member.events.length, 3))
    assert.deepEqual(member.events[2]?.data.data.ticketChanges, {
      type: 'tickets.reset',
      id: null,
      version: null,
      actor: null,
      ticket: null,
    })
    assert.equal((await api.get(`/api/tickets/${second.body.data.id}`, ada.access)).status, 404)
    assert.equal(stranger.events.length, 1)
  })
})

test('names, descriptions and details of errors are those of the schema', async (t) => {
  const plans = collection({
    name: 'project-plans',
    migrations: temporaryFolder(t),
    fields: {
      plan_name: text({ min: 2, label: 'Name of the plan' }),
      starts_at: time({ optional: true, help: 'When work begins' }),
      sort_key: integer({ optional: true, unique: true }),
    },
    rules: { read: everybody, create: signedIn, update: any(signedIn, row.plan_name.is('Open')) },
    filter: ['starts_at'],
  })
  const api = await startApiWithRoles(t, { extensions: [plans] })
  const { access: token } = await api.signInAs('user')
  const create = (input: string, args = '') =>
    send(api, `mutation { createProjectPlan(input: { ${input} }${args}) { id } }`, { token })
  const detailsOf = async (sent: ReturnType<typeof send>) => Object.keys((await sent).body.errors[0].extensions.details)
  assert.deepEqual(await detailsOf(create('planName: "x", startsAt: "soon"')), ['planName', 'startsAt'])
  assert.equal(
    (await create('planName: "One", sortKey: 1', ', idempotencyKey: "k"')).body.data.createProjectPlan.id,
    '1',
  )
  assert.deepEqual(await detailsOf(create('planName: "Two", sortKey: 1')), ['sortKey'])
  assert.deepEqual(await detailsOf(create('planName: "Two"', ', idempotencyKey: "k"')), ['idempotencyKey'])
  const list = send(api, '{ projectPlans(filter: { startsAt: { gte: "soon" } }) { data { id } } }')
  assert.deepEqual(await detailsOf(list), ['filter.startsAt.gte'])

  const described = await send(
    api,
    `{ type: __type(name: "ProjectPlan") { description fields { name description } }
      input: __type(name: "CreateProjectPlanInput") { inputFields { name description } }
      mutations: __type(name: "Mutation") { fields { name description } } }`,
  )
  const { type, input, mutations } = described.body.data
  type Named = { name: string; description: string }
  const of = (fields: Named[], wanted: string) => fields.find(({ name }) => name === wanted)?.description
  assert.equal(type.description, 'A row of the collection project-plans. Rule: everyone.')
  assert.equal(of(type.fields, 'planName'), 'Name of the plan')
  assert.equal(of(input.inputFields, 'startsAt'), 'When work begins')
  assert.match(of(mutations.fields, 'updateProjectPlan') ?? '', /Rule: you are signed in or plan name is Open\.$/)
})
