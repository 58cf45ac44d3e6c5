/** A feature is one value: everything it adds is served without further registration. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineEvent, on } from '../../src/platform/events/events.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { query } from '../../src/platform/graphql/schema/elements.ts'
import { html } from '../../src/platform/pages/html.ts'
import { startApi } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine, temporaryFolder } from '../support/databases.ts'
import { ask } from '../support/graphql.ts'
import { writeMigrations } from '../support/migrations.ts'
import { signIn } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

onAnyEngine('a feature', (engine) => {
  test('adds a table, a route, an element, a policy, an event, a page, a metric and background work', async (t) => {
    const migrations = writeMigrations(temporaryFolder(t), {
      '0001-visits': {
        sqlite: 'CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL);',
        postgres:
          'CREATE TABLE visits (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at TIMESTAMPTZ(3) NOT NULL);',
      },
    })
    const visited = defineEvent<number>('Visited')
    const heard: number[] = []
    const background: string[] = []
    const visits = defineFeature({
      name: 'visits',
      migrations,
      countedLists: ['visits'],
      auditEvents: { visited: 'Visited' },
      create: ({ db, clock, counts, events }) => ({
        total: () => counts.total('visits'),
        async add() {
          await db.write({ sql: 'INSERT INTO visits (at) VALUES ($1)', params: [clock.nowIso()] })
          await events.emit(visited, await counts.total('visits'))
        },
      }),
      start: () => {
        background.push('started')
        return { close: async () => void background.push('closed') }
      },
      policies: { visits: { view: (user) => user?.email === 'ada@example.com' } },
      routes: (service) => (app) => {
        app.post('/api/visits', { config: { access: 'public' } }, async (_request, reply) => {
          await service.add()
          return reply.code(204).send()
        })
        const access = { policy: 'visits', action: 'view', entity: async () => ({}) } as const
        app.get('/api/visits', { config: { access } }, async () => ({ data: await service.total() }))
      },
      elements: (service) => [query({ name: 'visits', type: 'Int', access: 'public', resolve: () => service.total() })],
      events: [visited],
      listeners: () => [on(visited, (count) => void heard.push(count))],
      pages: (service) => ({
        navigation: [{ path: '/console/visits', name: 'Visits' }],
        routes:
          ({ send }) =>
          (app) =>
            void app.get('/visits', { config: { access: 'authenticated', docs: false } }, async (request, reply) =>
              send(request, reply, { title: 'Visits', content: html`<h1>${await service.total()} visits</h1>` }),
            ),
      }),
    })
    const api = await startApi(t, { engine, extensions: [visits] })
    assert.deepEqual(background, ['started'])
    for (let i = 0; i < 3; i++) assert.equal((await api.post('/api/visits')).status, 204)
    assert.deepEqual(heard, [1, 2, 3])
    assert.equal((await ask(api, '{ visits }')).data.visits, 3)
    const ada = await signIn(api, 'ada@example.com')
    const bob = await signIn(api, 'bob@example.com')
    assert.deepEqual((await api.get('/api/visits', ada.access)).body, { data: 3 })
    assert.equal((await api.get('/api/visits', bob.access)).status, 403)
    assert.ok((await api.get('/openapi.json')).body.paths['/api/visits'])
    const browser = openConsole(api)
    await browser.signIn('ada@example.com')
    const page = await browser.open('/console/visits')
    assert.match(page.html, /<h1>3 visits<\/h1>/)
    assert.match(page.html, /<a href="\/console\/visits" aria-current="page">.*? Visits<\/a>/)
    await api.app.close()
    assert.deepEqual(background, ['started', 'closed'])
  })
})

test('features that need each other are refused, and so are listeners that ask for what is not there', async (t) => {
  const one = defineFeature({ name: 'one', create: () => undefined, needs: {} })
  Object.assign(one.definition, { needs: { one } })
  await assert.rejects(startApi(t, { extensions: [one] }), /features need each other in a circle: one → one/)
  const missing = defineFeature({ name: 'missing', create: () => undefined })
  const other = defineFeature({ name: 'other', needs: { missing }, create: () => undefined })
  await assert.rejects(
    startApi(t, { extensions: [other] }),
    /feature other: it needs missing, which is no feature here/,
  )
  const happened = defineEvent<string>('Happened')
  const durable = defineFeature({
    name: 'durable',
    create: () => undefined,
    events: [happened],
    listeners: () => [on('thing.happened', { durable: 'index' }, () => {})],
  })
  await assert.rejects(
    startApi(t, { extensions: [durable] }),
    /feature durable: the durable listener "index" is for "thing.happened", which no feature logs/,
  )
  assert.throws(() => defineFeature({ name: 'No Name', create: () => undefined }), /"No Name" is no name for a feature/)
})

test('a feature adds default roles, which the configuration may inherit and replace', async (t) => {
  const asked = ['tickets.view', 'tickets.delete', 'calls.view', 'posts.view']
  const desk = defineFeature({
    name: 'desk',
    create: () => undefined,
    routes: () => (app) => {
      for (const permission of asked) app.get(`/api/${permission}`, { config: { access: { permission } } }, () => ({}))
    },
    roles: { agent: ['tickets.view', 'tickets.update'], lead: ['tickets.*'] },
  })
  const more = defineFeature({ name: 'more', create: () => undefined, roles: { agent: ['calls.view'] } })
  const permissions = async (api: ApiWithRoles, role: string) => {
    const { access } = await api.signInAs(role)
    const statuses = await Promise.all(asked.map(async (each) => (await api.get(`/api/${each}`, access)).status))
    return asked.filter((_, i) => statuses[i] === 200)
  }
  const api = await startApiWithRoles(t, { extensions: [desk, more] })
  assert.deepEqual(await permissions(api, 'agent'), ['tickets.view', 'calls.view'])
  assert.deepEqual(await permissions(api, 'lead'), ['tickets.view', 'tickets.delete'])
  assert.deepEqual(await permissions(api, 'viewer'), ['posts.view'])

  const auth = `auth { roles {
    admin { permissions = ["*"] }
    lead { permissions = ["posts.view"] }
    chief { permissions = []
            inherits = [agent] }
  } }`
  const configured = await startApiWithRoles(t, { extensions: [desk, more], config: createConfig(t, { auth }) })
  assert.deepEqual(await permissions(configured, 'lead'), ['posts.view'])
  assert.deepEqual(await permissions(configured, 'chief'), ['tickets.view', 'calls.view'])
})

test('a role that is no list of permissions stops the start', async (t) => {
  // One by one, the characters would be permissions, and one of them everything.
  for (const permissions of ['tickets.*', [''], [7], {}, null]) {
    const roles = { agent: permissions as never }
    const desk = defineFeature({ name: 'desk', create: () => undefined, roles })
    await assert.rejects(
      startApi(t, { extensions: [desk] }),
      /feature desk: the role "agent" must have a list of permissions/,
    )
  }
  const odd = defineFeature({ name: 'desk', create: () => undefined, roles: { constructor: ['tickets.view'] } })
  await startApi(t, { extensions: [odd] })
})
