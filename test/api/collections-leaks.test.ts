/** Whatever is asked, and whoever asks, responses have nothing of rows that the reader may not see. */
import assert from 'node:assert/strict'
import { request as send } from 'node:http'
import { type TestContext, test } from 'node:test'
import { defineFeature } from '../../src/platform/feature.ts'
import { unlimitedRates } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { readBlocks } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { createRandom, type Random } from '../support/graphql-fuzz/random.ts'
import { type Helpdesk, startHelpdesk } from '../support/helpdesk.ts'
import { makeKey } from '../support/keys.ts'
import { amount } from '../support/tiers.ts'

const requests = amount({ full: 8000, otherwise: 500 })
const seed = Number(process.env.SEED ?? 1)
/** In every text of rows that the readers may not see; no request has more than its beginning. */
const marker = 'zqsecret'
const beginning = 'zqsec'
/** The cost of every ticket, for those who may not read it. */
const cost = 87_654.32

/** Somebody who may see neither the marked rows nor costs. */
interface Reader {
  name: string
  token?: string
}

/** Tickets 1 to 3 are marked, 4 to 6 are of a team of most readers. The marked team is the first one. */
async function addRows(
  { ada, chief, ...api }: Helpdesk,
  insiders: Record<'former' | 'commenter', Person>,
  members: Person[],
) {
  const { post, request } = api
  const made = async (path: string, body: object, { access } = ada) => {
    const { status, body: made } = await post(path, body, access)
    assert.equal(status, 201, JSON.stringify(made))
    return made.data.id as number
  }
  const change = async (path: string, json: object, { access } = ada) =>
    assert.equal((await request('PATCH', path, { json, token: access })).status, 200)
  const ids = (people: Person[]) => people.map(({ id }) => id)
  await made('/api/teams', { name: 'Not marked yet', members: ids([ada, insiders.former, insiders.commenter]) })
  await made('/api/teams', { name: 'Open team', members: ids(members) })
  const marked = { title: marker, body: marker, tags: [marker], due: '2026-12-24', priority: 5, team: 1 }
  await made('/api/tickets', { ...marked, assignee: members[0]?.id })
  await made('/api/tickets', { ...marked, title: 'To be seen by nobody' })
  // Was visible once.
  await made('/api/tickets', { title: 'Moved', team: 2 })
  for (let i = 0; i < 3; i++)
    await made('/api/tickets', { title: `Printer ${i}`, team: 2, tags: ['paper'] }, members[i])
  await made('/api/comments', { ticket: 1, text: marker })
  await made('/api/comments', { ticket: 1, text: 'By somebody who has left' }, insiders.commenter)
  await made('/api/comments', { ticket: 4, text: 'Open' }, members[0])
  await change('/api/teams/1', { members: [ada.id] })
  await change('/api/teams/1', { name: marker })
  await change('/api/tickets/3', { team: 1 })
  await change('/api/tickets/3', { title: marker })
  for (let id = 1; id <= 6; id++) await change(`/api/tickets/${id}`, { cost }, chief)
  await api.delete('/api/tickets/2', chief.access)
}

type Person = Helpdesk['ada']

async function findReaders(
  api: Helpdesk,
): Promise<{ readers: Reader[]; members: Person[]; insiders: Record<'former' | 'commenter', Person> }> {
  const { signInAs } = api
  const members = [await signInAs('user'), await signInAs('user'), await signInAs('updater')]
  const insiders = { former: await signInAs('user'), commenter: await signInAs('user') }
  const strangers = ['user', 'editor', 'viewer', 'updater', 'deleter', 'auditor'] as const
  const people: Record<string, Person> = { ...insiders, grace: api.grace }
  for (const [i, member] of members.entries()) people[`member ${i}`] = member
  for (const role of strangers) people[role] = await signInAs(role)
  const keys = {
    'key of a member': [members[0], {}],
    'limited key of a member': [members[1], { permissions: ['tickets.read', 'comments.read'] }],
    'key of a member for nothing': [members[0], { permissions: [] }],
    'key of a stranger for all': [api.grace, { permissions: ['*'] }],
    'key of the administrator for posts': [api.chief, { permissions: ['posts.view'] }],
    'key of the owner for comments': [api.ada, { permissions: ['posts.view'] }],
  } as const
  const readers: Reader[] = Object.entries(people).map(([name, { access }]) => ({ name, token: access }))
  for (const [name, [owner, body]] of Object.entries(keys)) {
    readers.push({ name, token: (await makeKey(api, (owner as Person).access, body)).key })
  }
  return {
    members,
    insiders,
    readers: [
      ...readers,
      { name: 'nobody' },
      { name: 'no token', token: 'x' },
      { name: 'a cut token', token: api.ada.access.slice(0, -4) },
    ],
  }
}

/** Ids from before the first row until after the last. */
const id = (random: Random) => random.below(8)
const collections = ['tickets', 'comments', 'teams'] as const
const words = [beginning, 'printer', 'o', '', 'null', '2026-12-24', '5', '1', 'open', '87654.32', '-1', "'", '%', '\0']

/** One of the parameters of a list, valid or not. */
function parameter(random: Random): [string, string] {
  const field = random.pick([
    'status',
    'priority',
    'team',
    'assignee',
    'author',
    'tags',
    'due',
    'ticket',
    'cost',
    'title',
    'x',
  ])
  return random.pick<[string, string]>([
    ['q', random.pick(words)],
    [`filter[${field}]`, random.pick(words)],
    [`filter[${field}][${random.pick(['gte', 'lt', 'x'])}]`, random.pick(words)],
    ['sort', random.pick(['title', '-title', 'priority', '-due', 'updated_at', 'cost', 'body', 'id', '-x'])],
    [
      'include',
      random.pick([
        'team',
        'comments',
        'team,comments',
        'author',
        'ticket',
        'ticket.team',
        'ticket.comments',
        'owner',
        'members',
        'x',
      ]),
    ],
    ['fields', random.pick(['title', 'body,tags', 'cost', 'text', 'name,members', 'x'])],
    ['count', random.pick(['exact', 'x'])],
    ['per_page', random.pick(['1', '2', '100'])],
    ['page', random.pick(['1', 'x', '9'])],
    ['cursor', random.pick(['', 'x'])],
  ])
}

interface Asked {
  method: string
  path: string
  json?: object
  headers?: Record<string, string>
}

function question(random: Random): Asked {
  const name = random.pick(collections)
  const query = new URLSearchParams(Array.from({ length: random.below(4) }, () => parameter(random)))
  const change = random.pick<object>([
    { team: 1 },
    { title: 'Mine' },
    { ticket: id(random), text: 'Mine' },
    { name: 'Mine', members: [1, 2, 3] },
    { title: 'New', team: id(random), tags: ['a'] },
    { cost: 1 },
    {},
  ])
  const headers = random.chance(0.2) ? { accept: 'application/problem+json' } : {}
  const changes = `after=${random.pick(['0', '', 'x'])}&limit=${random.pick(['1', '1000'])}`
  return random.pick<() => Asked>([
    () => ({ method: 'GET', path: `/api/${name}?${query}` }),
    () => ({ method: 'GET', path: `/api/${name}?${query}` }),
    () => ({ method: 'HEAD', path: `/api/${name}?${query}` }),
    () => ({ method: 'GET', path: `/api/${name}/${id(random)}?${query}` }),
    () => ({ method: 'GET', path: `/api/${name}/${id(random)}?${query}`, headers }),
    () => ({ method: 'GET', path: `/api/${name}/${id(random)}/versions`, headers }),
    () => ({ method: 'GET', path: `/api/${name}/changes?${changes}` }),
    () => ({
      method: 'POST',
      path: `/api/${name}`,
      json: change,
      headers: { ...headers, 'idempotency-key': 'shared' },
    }),
    () => ({ method: 'PATCH', path: `/api/${name}/${1 + random.below(3)}`, json: change, headers }),
    () => ({ method: 'DELETE', path: `/api/${name}/${1 + random.below(2)}`, headers }),
    () => ({ method: 'POST', path: `/api/${name}/${1 + random.below(3)}/restore`, json: {}, headers }),
    () => ({
      method: 'POST',
      path: '/graphql',
      json: { query: random.pick(queries), variables: { id: id(random), q: random.pick(words) } },
    }),
  ])()
}

const queries = [
  'query ($id: ID!) { ticket(id: $id) { title body tags cost team { name } comments { text } } }',
  'query ($id: ID!) { comment(id: $id) { text ticket { title team { name members { name } } } } }',
  'query ($q: String) { tickets(q: $q, count: true) { data { title body cost team { name } } meta { total next prev } } }',
  '{ comments { data { text ticket { title } } meta { total } } }',
  '{ teams { data { name owner { email } } } }',
  'mutation ($id: ID!) { updateTicket(id: $id, input: { title: "Mine" }) { title body } }',
]

onAnyEngine('what readers get of a collection', (engine) => {
  test('has nothing of rows that they may not see', async (t) => {
    const random = createRandom(seed)
    const api = await startHelpdesk(t, engine, { env: unlimitedRates, extensions: [roles] })
    const { readers, members, insiders } = await findReaders(api)
    await addRows(api, insiders, members)
    const streams = await Promise.all(readers.map((reader) => follow(t, api.url, reader)))
    const found: string[] = []
    let successes = 0
    const note = (reader: Reader, what: string, text: string) => {
      if (text.includes(marker) || text.includes(String(cost))) found.push(`${reader.name}: ${what}\n${text}`)
    }
    for (let i = 0; i < requests; i++) {
      const reader = random.pick(readers)
      const { method, path, ...rest } = question(random)
      const response = await api.request(method, path, {
        ...rest,
        ...(reader.token !== undefined && { token: reader.token }),
      })
      if (response.status < 300) successes += 1
      assert.ok(response.status < 500, `${method} ${path}: ${response.status}`)
      const text = `${JSON.stringify(response.body)} ${JSON.stringify([...response.headers])}`
      note(reader, `${method} ${path}`, text)
      const { meta, data } = (response.body ?? {}) as {
        meta?: { total?: number; next?: unknown; prev?: unknown }
        data?: unknown[]
      }
      if (meta?.next === null && meta.prev === null && !path.includes('page=9'))
        assert.equal(meta.total, data?.length, `${path} of ${reader.name}`)
    }
    await api.request('PATCH', '/api/tickets/1', { json: { body: `${marker} again` }, token: api.ada.access })
    const last = await api.post('/api/tickets', { title: 'The last one', team: 2 }, members[0]?.access)
    assert.equal(last.status, 201)
    const stream = streams[readers.findIndex(({ name }) => name === 'member 1')]
    await eventually(() => assert.match(stream?.told.join() ?? '', /The last one/))
    assert.ok(successes > requests / 5, `${successes} requests were successful`)
    for (const [i, { told }] of streams.entries()) note(readers[i] as Reader, 'server-sent events', told.join('\n'))
    assert.deepEqual(found, [])
  })
})

/** May do something with tickets, but not see those of others. */
const roles = defineFeature({
  name: 'roles-of-the-test',
  roles: { updater: ['tickets.update'], deleter: ['tickets.delete'], auditor: ['audit.view', 'users.view'] },
  create: () => undefined,
})

async function follow(t: TestContext, url: string, { token }: Reader) {
  const sent = send(`${url}/api/tickets/changes?after=0`, {
    agent: false,
    headers: { accept: 'text/event-stream', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  })
  sent.end()
  t.after(() => sent.destroy())
  const told: string[] = []
  await readBlocks(sent, (block) => void told.push(block))
  return { told }
}
