/** Readers with different rights keep copies of collections from the change log, which then equal their lists. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { users } from '../../src/features/users/users.feature.ts'
import type { Feature } from '../../src/platform/feature.ts'
import {
  any,
  belongsTo,
  can,
  choice,
  collection,
  everybody,
  list,
  me,
  type Rule,
  row,
  signedIn,
  text,
  through,
} from '../../src/public/collections.ts'
import { type Api, type Owner, shareService, startApi } from '../support/api.ts'
import { onAnyEngine, onEachEngine, temporaryFolder } from '../support/databases.ts'
import { readBlocks } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { createRandom, type Random } from '../support/graphql-fuzz/random.ts'
import { startHelpdesk } from '../support/helpdesk.ts'
import { makeKey } from '../support/keys.ts'
import { type SignedIn, signIn } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

const rounds = amount({ full: 120, otherwise: 2 })
const stepsPerRound = amount({ full: 16, otherwise: 48 })
const seed = Number(process.env.SEED ?? 1)

/** Spaces have boards, boards have cards, and cards have notes, which are as visible as the space. */
function declare(t: Owner): Feature[] {
  const migrations = temporaryFolder(t)
  const writable = { create: signedIn, update: can('all.change'), delete: can('all.change') }
  const spaces = collection({
    name: 'spaces',
    migrations,
    fields: {
      name: text(),
      owner: belongsTo(users, { default: me }),
      members: list(belongsTo(users)),
    },
    rules: { read: any(row.owner.is(me), row.members.has(me), can('spaces.view')), ...writable },
    roles: { overseer: ['spaces.view'] },
  })
  const boards = collection({
    name: 'boards',
    migrations,
    fields: { title: text(), space: belongsTo(spaces, { onDelete: 'delete' }) },
    rules: { read: through('space', 'read'), ...writable },
  })
  const cards = collection({
    name: 'cards',
    migrations,
    fields: {
      title: text(),
      author: belongsTo(users, { default: me }),
      board: belongsTo(boards, { optional: true, onDelete: 'clear' }),
      space: belongsTo(spaces, { optional: true, onDelete: 'clear' }),
      status: choice(['draft', 'public'], { default: 'draft' }),
      secret: text({ optional: true, readable: any(row.author.is(me), row.space.owner.is(me)) }),
    },
    rules: {
      read: any(row.status.is('public'), row.author.is(me), row.space.members.has(me), through('board', 'read')),
      ...writable,
    },
    filter: ['status'],
  })
  const notes = collection({
    name: 'notes',
    migrations,
    fields: { text: text(), card: belongsTo(cards, { onDelete: 'delete' }) },
    rules: { read: through('card', 'read'), ...writable },
  })
  const posters = collection({
    name: 'posters',
    migrations,
    fields: { title: text() },
    rules: { read: everybody, ...writable },
    keepDeleted: false,
  })
  return [spaces, boards, cards, notes, posters]
}

const names = ['spaces', 'boards', 'cards', 'notes', 'posters'] as const

interface Resource {
  id: number
  attributes?: Record<string, unknown>
}

/** What one reader has of one collection. */
class Copy {
  readonly rows = new Map<number, Resource>()
  cursor = ''
  resets = 0
  readonly reader: string
  readonly name: string
  readonly #api: ApiWithRoles
  readonly #token: string | undefined

  constructor(api: ApiWithRoles, { reader, name, token }: { reader: string; name: string; token: string | undefined }) {
    this.#api = api
    this.reader = reader
    this.name = name
    this.#token = token
  }

  async list(): Promise<{ rows: Resource[]; cursor: string }> {
    const rows: Resource[] = []
    let cursor = ''
    for (let next: string | null = ''; next !== null; ) {
      const page = await this.#api.get(`/api/${this.name}?per_page=100&cursor=${next}`, this.#token)
      assert.equal(page.status, 200, JSON.stringify(page.body))
      cursor ||= page.headers.get('x-cursor') as string
      rows.push(...page.body.data)
      next = page.body.meta.next
    }
    return { rows, cursor }
  }

  async begin(): Promise<void> {
    const { rows, cursor } = await this.list()
    this.rows.clear()
    for (const each of rows) this.rows.set(each.id, each)
    this.cursor = cursor
  }

  /** Returns whether there is more. */
  async readPage(limit: number): Promise<boolean> {
    const { status, body } = await this.#api.get(
      `/api/${this.name}/changes?after=${this.cursor}&limit=${limit}`,
      this.#token,
    )
    assert.equal(status, 200, JSON.stringify(body))
    assert.ok(body.data.length <= limit)
    for (const { type, data } of body.data) {
      if (this.apply(type, data)) {
        await this.begin()
        return true
      }
    }
    this.cursor = body.meta.cursor
    return body.meta.more
  }

  /** Returns whether to begin anew. */
  apply(type: string, data: Resource | null): boolean {
    if (type === `${this.name}.reset`) {
      this.resets += 1
      return true
    }
    assert.ok(data)
    if (type.endsWith('.left') || type.endsWith('.deleted')) this.rows.delete(data.id)
    else this.rows.set(data.id, data)
    return false
  }

  async readToEnd(random: Random): Promise<void> {
    while (await this.readPage(1 + random.below(60)));
  }

  get sorted(): Resource[] {
    return [...this.rows.values()].sort((a, b) => a.id - b.id)
  }
}

onEachEngine('a copy of a collection', (engine) => {
  const shared = shareService((owner, options) =>
    startApiWithRoles(owner, { ...options, engine, extensions: declare(owner) }),
  )
  const helpdesk = shareService((owner, options) => startHelpdesk(owner, engine, options))

  /** A help desk with users of the test's own. */
  async function enter() {
    const api = await helpdesk()
    const [ada, grace, chief] = [await api.signInAs('user'), await api.signInAs('user'), await api.signInAs('admin')]
    const create = async (path: string, body: object): Promise<number> => {
      const created = await api.post(path, body, ada.access)
      assert.equal(created.status, 201, JSON.stringify(created.body))
      return created.body.data.id
    }
    const cursorOf = async (path: string) =>
      (await api.get(path, chief.access)).headers.get('x-cursor') ?? assert.fail('no cursor')
    return { ...api, ada, grace, chief, create, cursorOf }
  }

  test('equals the list of its reader, whatever is written, granted and taken', async () => {
    const random = createRandom(seed)
    const api = await shared()
    const chief = await api.signInAs('admin')
    const people = {
      author: await api.signInAs('user'),
      member: await api.signInAs('user'),
      overseer: await api.signInAs('user', 'overseer'),
      promoted: await api.signInAs('user'),
      joining: await api.signInAs('user'),
      stranger: await api.signInAs('user'),
    }
    const { key } = await makeKey(api, people.member.access, { permissions: names.map((name) => `${name}.read`) })
    const tokens = {
      ...Object.fromEntries(Object.entries(people).map(([name, { access }]) => [name, access])),
      'key of the member': key,
      chief: chief.access,
      nobody: undefined,
    }
    const copies = Object.entries(tokens).flatMap(([reader, token]) =>
      names
        .filter((name) => token !== undefined || ['cards', 'posters'].includes(name))
        .map((name) => new Copy(api, { reader, name, token })),
    )
    const write = createWriter(api, { random, chief, people })
    for (let i = 0; i < 20; i++) await write()
    for (const copy of copies) await copy.begin()

    for (let round = 0; round < rounds; round++) {
      for (let step = 0; step < stepsPerRound; step++) {
        await Promise.all([write(), random.pick(copies).readPage(1 + random.below(20))])
      }
      for (const copy of copies) {
        await copy.readToEnd(random)
        const { rows } = await copy.list()
        assert.deepEqual(copy.sorted, rows, `${copy.name} of ${copy.reader}, round ${round}, seed ${seed}`)
      }
    }
    // Those who see everything have nothing to begin anew.
    assert.ok(copies.every(({ reader, resets, name }) => reader !== 'stranger' || name !== 'spaces' || resets === 0))
  })

  test('has lost a row that its reader may no longer see, of which only the id is told', async () => {
    const { ada, grace, chief, create, cursorOf, get, request } = await enter()
    const theirs = await create('/api/teams', { name: `Team of ${grace.id}`, members: [grace.id] })
    const another = await create('/api/teams', { name: `Not of ${grace.id}`, members: [] })
    const cursor = await cursorOf('/api/tickets')
    const printer = await create('/api/tickets', { title: 'Printer', team: theirs })
    const elsewhere = await create('/api/tickets', { title: 'Elsewhere', team: another })
    await request('PATCH', `/api/tickets/${elsewhere}`, { json: { body: 'Never seen' }, token: ada.access })
    await request('PATCH', `/api/tickets/${printer}`, { json: { team: another }, token: ada.access })
    const read = (token: string) => get(`/api/tickets/changes?after=${cursor}`, token)
    const seen = (await read(grace.access)).body
    // It was created in a team of theirs, which now is another.
    const [created] = (await read(ada.access)).body.data
    assert.deepEqual(
      seen.data.map(({ type, data, version }: Received) => [type, data, version]),
      [
        ['ticket.created', created.data, 1],
        ['ticket.left', { id: printer, type: 'tickets' }, undefined],
      ],
    )
    assert.equal(created.data.id, printer)
    assert.equal(seen.meta.more, false)
    assert.equal((await read(chief.access)).body.data.length, 4)
    assert.equal((await get('/api/tickets/changes')).status, 401)
  })

  test('begins anew when its reader joins or leaves a team, or gets or loses a role', async () => {
    const { ada, grace, chief, create, put, get, request } = await enter()
    const team = await create('/api/teams', { name: `Support of ${ada.id}`, members: [] })
    await create('/api/tickets', { title: 'Printer', team })
    let cursor = (await get('/api/tickets', grace.access)).headers.get('x-cursor')
    const types = async (name = 'tickets') => {
      const { body } = await get(`/api/${name}/changes?after=${cursor}`, grace.access)
      return body.data.map(({ type, data }: Received) => `${type} ${data?.id ?? ''}`.trim())
    }
    const change = (json: object) => request('PATCH', `/api/teams/${team}`, { json, token: ada.access })
    await change({ name: `Help of ${ada.id}` })
    await change({ members: [ada.id] })
    assert.deepEqual(await types(), [])
    await change({ members: [ada.id, grace.id] })
    assert.deepEqual(await types(), ['tickets.reset'])
    assert.deepEqual(await types('comments'), ['comments.reset'])
    cursor = (await get('/api/tickets', grace.access)).headers.get('x-cursor')
    await change({ members: [] })
    assert.deepEqual(await types(), ['tickets.reset'])
    cursor = (await get('/api/tickets', grace.access)).headers.get('x-cursor')
    for (const roles of [['admin'], []]) {
      assert.equal((await put(`/api/admin/users/${grace.id}/roles`, { roles }, chief.access)).status, 200)
      assert.deepEqual((await types()).slice(0, 1), ['tickets.reset'])
    }
  })

  test('has neither fields that its reader may not read, nor who made a change without audit.view', async () => {
    const api = await enter()
    const { ada, chief, create, get, request } = api
    const team = await create('/api/teams', { name: `Costs of ${ada.id}` })
    const { key, id } = await makeKey(api, chief.access)
    const cursor = await api.cursorOf('/api/tickets')
    const ticket = await create('/api/tickets', { title: 'Printer', team })
    await request('PATCH', `/api/tickets/${ticket}`, { json: { cost: 9.5 }, token: key })
    const read = async (token: string) =>
      (await get(`/api/tickets/changes?after=${cursor}`, token)).body.data.map(({ data, actor }: Received) => [
        data?.attributes?.cost,
        actor,
      ])
    assert.deepEqual(await read(ada.access), [
      [undefined, undefined],
      [undefined, undefined],
    ])
    const [[before, author], [after, editor]] = await read(chief.access)
    assert.deepEqual([before, after], [null, 9.5])
    assert.deepEqual([author.id, Object.keys(author)], [ada.id, ['id', 'session']])
    assert.deepEqual(editor, { id: chief.id, key: id })
  })

  test('is told who made a change where everybody reads the same, too', async () => {
    const api = await shared()
    const [writer, auditor] = [await api.signInAs('user'), await api.signInAs('admin')]
    const cursor = (await api.get('/api/posters')).headers.get('x-cursor')
    await api.post('/api/posters', { title: 'Concert' }, writer.access)
    const [forAll, forAuditors] = await Promise.all(
      [undefined, auditor.access].map(
        async (token) => (await api.get(`/api/posters/changes?after=${cursor}`, token)).body.data[0],
      ),
    )
    assert.deepEqual([forAll.type, forAll.actor], ['poster.created', undefined])
    assert.equal(forAuditors.actor.id, writer.id)
    assert.deepEqual({ ...forAuditors, cursor: '', actor: undefined }, { ...forAll, cursor: '', actor: undefined })
  })

  test('waits and streams without a sign of rows that its reader may not see', async (t) => {
    const { ada, grace, url, create, get, request } = await enter()
    const theirs = await create('/api/teams', { name: `Stream of ${grace.id}`, members: [grace.id] })
    const another = await create('/api/teams', { name: `No stream of ${grace.id}`, members: [] })
    const cursor = (await get('/api/tickets', grace.access)).headers.get('x-cursor') as string
    const stream = await openStream(t, `${url}/api/tickets/changes`, grace.access, cursor)
    const waiting = get(`/api/tickets/changes?after=${cursor}&wait=30`, grace.access)
    for (let i = 0; i < 3; i++) await create('/api/tickets', { title: 'Elsewhere', team: another })
    const printer = await create('/api/tickets', { title: 'Printer', team: theirs })
    const { body } = await waiting
    assert.deepEqual(
      body.data.map(({ data }: Received) => data?.id),
      [printer],
    )
    await eventually(() => assert.deepEqual(stream.told(), [`ticket.created ${printer}`]))
    // Whoever goes on from the end of a page does not see the others again.
    assert.deepEqual((await get(`/api/tickets/changes?after=${body.meta.cursor}`, grace.access)).body.data, [])

    await request('PATCH', `/api/teams/${theirs}`, { json: { members: [] }, token: ada.access })
    await create('/api/tickets', { title: 'Not any more', team: theirs })
    await stream.ended
    assert.deepEqual(stream.told(), [`ticket.created ${printer}`, 'tickets.reset'])
  })
})

// What is kept of the rules is compared by the service, not by the database.
onAnyEngine('a copy of a collection', (engine) => {
  test('begins anew after a start with another rule, and goes on after one with the same', async (t) => {
    const migrations = temporaryFolder(t)
    const pages = (read: Rule, help: string) =>
      collection({ name: 'pages', migrations, fields: { title: text({ help }) }, rules: { read, create: signedIn } })
    const env: Record<string, string> = {}
    const start = async (feature: Feature) => {
      const api = await startApi(t, { engine, extensions: [feature], env })
      env.DATABASE_URL = api.databaseUrl
      return api
    }
    const first = await start(pages(everybody, ''))
    const { access } = await signIn(first)
    await first.post('/api/pages', { title: 'Home' }, access)
    const cursor = (await first.get('/api/pages', access)).headers.get('x-cursor')
    const types = async ({ get }: Api) =>
      (await get(`/api/pages/changes?after=${cursor}`, access)).body.data.map(({ type }: Received) => type)
    await first.app.close()
    const same = await start(pages(everybody, 'Short'))
    assert.deepEqual(await types(same), [])
    await same.app.close()
    const other = await start(pages(signedIn, 'Short'))
    await eventually(async () => assert.deepEqual(await types(other), ['pages.reset']))
    await other.app.close()
    const again = await start(pages(everybody, 'Short'))
    await eventually(async () => assert.deepEqual(await types(again), ['pages.reset', 'pages.reset']))
  })
})

interface Received {
  type: string
  version?: number
  data: Resource | null
  actor?: object
}

async function openStream(t: TestContext, address: string, token: string, lastEventId: string) {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}`, 'last-event-id': lastEventId }
  const sent = request(address, { agent: false, headers })
  sent.end()
  t.after(() => sent.destroy())
  const changes: Received[] = []
  const stream = await readBlocks(sent, (block) => {
    for (const line of block.split('\n')) if (line.startsWith('data: ')) changes.push(JSON.parse(line.slice(6)))
  })
  return { ...stream, told: () => changes.map(({ type, data }) => `${type} ${data?.id ?? ''}`.trim()) }
}

interface Writers {
  random: Random
  /** May do everything. */
  chief: SignedIn
  people: Readonly<Record<'author' | 'member' | 'overseer' | 'promoted' | 'joining' | 'stranger', SignedIn>>
}

/** One random write with each call; some are refused. */
function createWriter(api: ApiWithRoles, { random, chief, people }: Writers): () => Promise<unknown> {
  const { post, put, request, db } = api
  const made = { spaces: 0, boards: 0, cards: 0, notes: 0, posters: 0 }
  const token = chief.access
  const some = (name: keyof typeof made) => 1 + random.below(Math.max(1, made[name]))
  const maybe = (name: keyof typeof made) => (random.chance(0.7) ? some(name) : null)
  const members = () =>
    [people.author, people.member, people.joining, chief].flatMap(({ id }) => (random.chance(0.4) ? [id] : []))
  const create = async (name: keyof typeof made, body: object, by = chief) => {
    const created = await post(`/api/${name}`, body, by.access)
    if (created.status === 201) made[name] = created.body.data.id
  }
  const change = (name: keyof typeof made, json: object) =>
    request('PATCH', `/api/${name}/${some(name)}`, { json, token })
  const sql = (text: string, ...params: (string | number)[]) => db.write({ sql: text, params })
  const now = () => new Date(api.clock.now()).toISOString()
  const card = () => ({
    title: `Card ${random.below(100)}`,
    board: maybe('boards'),
    space: maybe('spaces'),
    secret: random.chance(0.5) ? 'hidden' : null,
    status: random.chance(0.2) ? 'public' : 'draft',
  })
  const kinds: [weight: number, write: () => Promise<unknown>][] = [
    [3, () => create('spaces', { name: `Space ${random.below(100)}`, members: members() })],
    [3, () => create('boards', { title: `Board ${random.below(100)}`, space: some('spaces') })],
    [6, () => create('cards', card(), random.pick([chief, people.author, people.joining]))],
    [6, () => create('notes', { text: `Note ${random.below(100)}`, card: some('cards') })],
    [1, () => create('posters', { title: `Poster ${random.below(100)}` })],
    [6, () => change('spaces', { members: members() })],
    [1, () => change('spaces', { owner: random.pick([people.member, people.author, chief]).id })],
    [2, () => change('spaces', { name: 'Renamed' })],
    [3, () => change('boards', { space: some('spaces') })],
    [8, () => change('cards', card())],
    [3, () => change('cards', { title: 'Renamed' })],
    [3, () => change('notes', { card: some('cards') })],
    [1, () => change('posters', { title: 'Renamed' })],
    ...names.flatMap((name): typeof kinds => [
      [1, () => request('DELETE', `/api/${name}/${some(name)}`, { token })],
      [2, () => post(`/api/${name}/${some(name)}/restore`, {}, token)],
    ]),
    [
      2,
      () =>
        put(
          `/api/admin/users/${people.promoted.id}/roles`,
          { roles: random.pick([['overseer'], ['admin'], []]) },
          token,
        ),
    ],
    // Of a database shell.
    [1, () => sql('UPDATE cards SET status = $1 WHERE id = $2', random.pick(['public', 'draft']), some('cards'))],
    [1, () => sql('UPDATE spaces SET deleted_at = $1 WHERE id = $2', now(), some('spaces'))],
    [1, () => sql('UPDATE spaces SET deleted_at = NULL WHERE id = $1', some('spaces'))],
    [1, () => sql('DELETE FROM notes WHERE id = $1', some('notes'))],
  ]
  const bag = kinds.flatMap(([weight, write]) => Array.from({ length: weight }, () => write))
  return () => random.pick(bag)()
}
