/** Code that holds on to the principal of an open subscription, stream or request sees the user's current standing. */
import assert from 'node:assert/strict'
import { request as send } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { Principal } from '../../src/platform/access/route-guards.ts'
import { principalOf } from '../../src/platform/access/route-guards.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { type SubscriptionContext, subscription } from '../../src/platform/graphql/schema/elements.ts'
import { html } from '../../src/platform/pages/html.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { createDatabaseUrl, engines, onAnyEngine } from '../support/databases.ts'
import { openStream, readBlocks } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { makeKey } from '../support/keys.ts'
import { password, type SignedIn } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { openSocket, openTransport } from '../support/sockets.ts'

const permission = 'posts.view'
/** Any signed-in user, and keys that have the permission. */
const own = ['authenticated', { keyPermission: permission }] as const
const query = 'subscription { standing }'

/** Principals as the extension took them at the beginning, by user. */
const held = new Map<string, Principal[]>()

function hold(principal: Principal | undefined): void {
  if (principal) held.set(principal.email, [...(held.get(principal.email) ?? []), principal])
}

async function* watchStanding({ principal, signal }: SubscriptionContext) {
  hold(principal)
  yield principal?.can(permission) ?? false
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

const heads = { 'content-type': 'text/event-stream' }

const extension = defineFeature({
  name: 'standing',
  create: () => undefined,
  elements: () => [
    subscription({
      name: 'standing',
      type: 'Boolean!',
      access: own,
      subscribe: (_args, context) => watchStanding(context),
    }),
  ],
  routes: () => (app) => {
    app.get('/api/standing/poll', { config: { access: own } }, async (request) => {
      const principal = principalOf(request)
      hold(principal)
      while (principal.can(permission)) await new Promise((resolve) => setTimeout(resolve, 20))
      return { can: principal.can(permission), roles: principal.roles }
    })
    for (const [path, access] of [
      ['events', own],
      ['guarded-events', { permission }],
    ] as const) {
      app.get(`/api/standing/${path}`, { config: { access } }, (request, reply) => {
        hold(request.principal)
        reply.hijack()
        app.recordRequest(request, reply, 200)
        reply.raw.writeHead(200, heads).write('data: open\n\n')
      })
    }
  },
  pages: () => ({
    finders: [
      {
        heading: 'Secrets',
        icon: 'page',
        find: async (text, principal) => (principal.can(permission) ? [{ path: '/console/standing', name: text }] : []),
      },
    ],
    routes:
      ({ send: sendPage }) =>
      (app) => {
        app.get('/standing', { config: { access: 'authenticated' } }, async (request, reply) => {
          const principal = principalOf(request)
          hold(principal)
          while (principal.can(permission)) await new Promise((resolve) => setTimeout(resolve, 20))
          return sendPage(request, reply, { title: 'Standing', content: html`No more` })
        })
      },
  }),
})

type Open = (t: TestContext, api: ApiWithRoles, token: string, user: SignedIn) => Promise<unknown>

function openEvents(t: TestContext, api: ApiWithRoles, token: string, path = 'events') {
  const sent = send(`${api.url}/api/standing/${path}`, { headers: { authorization: `Bearer ${token}` }, agent: false })
  t.after(() => sent.destroy())
  sent.end()
  return readBlocks(sent, () => {})
}

/** What stays open for long and has a user. */
const connections: Record<string, Open> = {
  'a subscription of a plain socket': async (t, api, token) =>
    (await openSocket(t, api.wsUrl, { token })).send({ id: '1', query }),
  'a subscription of graphql-transport-ws': async (t, api, token) => {
    const socket = await openTransport(t, api.wsUrl, { authorization: `Bearer ${token}` })
    socket.send({ id: '1', type: 'subscribe', payload: { query } })
  },
  'a subscription over an event stream': (t, api, token) => openStream(t, api.url, query, { token }),
  'an event stream of a route': (t, api, token) => openEvents(t, api, token),
  'a long poll of a route': async (_t, api, token) => void api.get('/api/standing/poll', token).catch(() => {}),
}

async function heldOf(user: SignedIn, count: number): Promise<Principal[]> {
  return eventually(() => {
    const all = held.get(user.email) ?? []
    assert.equal(all.length, count)
    return all
  })
}

onAnyEngine('the principal', (engine) => {
  const shared = share((owner) => startApiWithRoles(owner, { engine, extensions: [extension], env: unlimitedRates }))

  for (const [name, open] of Object.entries(connections)) {
    test(`of ${name} has the current roles, also behind a key, and none once the user is disabled`, async (t) => {
      const api = await shared()
      const [admin, user] = [await api.signInAs('admin'), await api.signInAs('viewer')]
      const key = await makeKey(api, user.access)
      const limited = await makeKey(api, user.access, { permissions: [permission] })
      const setRoles = (roles: string[]) => api.put(`/api/admin/users/${user.id}/roles`, { roles }, admin.access)
      for (const [before, token] of [user.access, key.key, limited.key].entries()) {
        await open(t, api, token, user)
        await heldOf(user, before + 1)
      }
      const principals = await heldOf(user, 3)
      const standing = () => principals.map((each) => each.can(permission))
      assert.deepEqual(standing(), [true, true, true])
      assert.equal((await setRoles(['editor', 'viewer'])).status, 200)
      await eventually(() => assert.deepEqual(principals[0]?.roles, ['editor', 'viewer']))
      assert.deepEqual([standing(), principals[0]?.hasRole('editor')], [[true, true, true], true])
      if (name === 'a long poll of a route') await setRoles([])
      else await api.put(`/api/admin/users/${user.id}`, { disabled: true }, admin.access)
      await eventually(() => assert.deepEqual(standing(), [false, false, false]))
      assert.equal(principals[0]?.hasRole('editor'), false)
    })
  }

  test('of a long poll is current when the response is sent', async () => {
    const api = await shared()
    const [admin, user] = [await api.signInAs('admin'), await api.signInAs('editor')]
    const polled = api.get('/api/standing/poll', user.access)
    await heldOf(user, 1)
    await api.put(`/api/admin/users/${user.id}/roles`, { roles: [] }, admin.access)
    assert.deepEqual((await polled).body, { can: false, roles: [] })
  })

  test('of a request for a console page is current', async () => {
    const api = await shared()
    const [admin, user] = [await api.signInAs('admin'), await api.signInAs('editor')]
    const browser = openConsole(api)
    await browser.signIn(user.email, password)
    const opened = browser.open('/console/standing')
    await heldOf(user, 1)
    await api.put(`/api/admin/users/${user.id}/roles`, { roles: [] }, admin.access)
    assert.match((await opened).text, /No more/)
  })

  test('reaches the finders of an extension, which filter by it', async () => {
    const api = await shared()
    const search = async (...roles: string[]) => {
      const browser = openConsole(api)
      await browser.signIn((await api.signInAs(...roles)).email, password)
      return (await browser.open('/console/search?q=plans')).html.includes('/console/standing')
    }
    assert.deepEqual([await search('viewer'), await search()], [true, false])
  })

  test('who may no longer open an event stream loses it; who still may keeps it', async (t) => {
    const api = await shared()
    const [admin, user] = [await api.signInAs('admin'), await api.signInAs('viewer')]
    const open = await openEvents(t, api, user.access)
    const guarded = await openEvents(t, api, user.access, 'guarded-events')
    await api.put(`/api/admin/users/${user.id}/roles`, { roles: [] }, admin.access)
    await guarded.ended
    assert.equal(open.response.destroyed, false)
    await api.post('/api/auth/logout', {}, user.access)
    await open.ended
  })
})

if (engines.includes('postgres')) {
  test('a change on one node reaches principals that another holds', async (t) => {
    const env = { DATABASE_URL: await createDatabaseUrl(t, 'postgres', { isMigrated: true }) }
    const one = await startApiWithRoles(t, { env })
    const two = await startApiWithRoles(t, { env, extensions: [extension] })
    const [admin, user] = [await one.signInAs('admin'), await one.signInAs('viewer')]
    for (const open of Object.values(connections)) await open(t, two, user.access, user)
    const principals = await heldOf(user, 5)
    await one.put(`/api/admin/users/${user.id}/roles`, { roles: [] }, admin.access)
    await eventually(() => assert.ok(principals.every((each) => !each.can(permission))))
  })
}
