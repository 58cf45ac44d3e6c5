/** A key never gets above what it was given, nor into what is for its owner in person. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineFeature } from '../../src/platform/feature.ts'
import { query } from '../../src/platform/graphql/schema/elements.ts'
import type { ClientResponse } from '../../src/testing/client.ts'
import { type Owner, share, unlimitedRates } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine } from '../support/databases.ts'
import { ask, codeOf } from '../support/graphql.ts'
import { makeKey } from '../support/keys.ts'
import { password, register } from '../support/people.ts'
import { productsPath } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'

/** What an extension may add, there and elsewhere. */
const additions = defineFeature({
  name: 'additions',
  create: () => ({}),
  routes: () => (app) => {
    const open = { config: { access: 'authenticated', docs: false } } as const
    app.get('/api/auth/additions', open, async () => 'reached')
    app.post('/api/auth/me', open, async () => 'reached')
    app.get('/api/auth/public', { config: { access: 'public', docs: false } }, async () => 'reached')
    app.post('/api/suggestions', { config: { access: 'public', docs: false } }, async () => 'reached')
    app.get('/api/:area/by-parameter', open, async () => 'reached')
    app.get('/api/auth/files/*', open, async () => 'reached')
    app.get('/api/authors', open, async () => 'reached')
    for (const permission of ['posts.view', 'posts.update', 'media.view', 'audit.view', 'x', 'posts.*']) {
      const config = { access: { permission }, docs: false } as const
      app.get(`/can/${permission.replace('*', 'all')}`, { config }, async () => 'reached')
    }
    app.get('/is/editor', { config: { access: { role: 'editor' }, docs: false } }, async () => 'reached')
    app.get('/is/admin', { config: { access: { role: 'admin' }, docs: false } }, async () => 'reached')
  },
  elements: () => [
    query({ name: 'reports', type: 'String', access: { permission: 'reports.view' }, resolve: () => 'reached' }),
    query({ name: 'edits', type: 'String', access: { role: 'editor' }, resolve: () => 'reached' }),
  ],
})

async function start(t: Owner, engine: 'sqlite' | 'postgres') {
  const config = createConfig(t, {
    auth: `auth { roles {
      admin { permissions = ["*"] }
      manager { permissions = ["users.*", "posts.view", "reports.view"] }
      editor { permissions = ["posts.*", "media.*"] }
      viewer { permissions = ["posts.view"] }
      helper { permissions = ["users.update"] }
    } }`,
  })
  const api = await startApiWithRoles(t, { engine, env: unlimitedRates, config, extensions: [additions] })
  const keyOf = async (roles: string[], permissions?: string[]) => {
    const owner = await api.signInAs(...roles)
    const { key, id } = await makeKey(api, owner.access, permissions && { permissions })
    return { owner, key, id }
  }
  return { api, keyOf }
}

const reached = ({ status, body }: ClientResponse) => status === 200 && body === 'reached'

/** Each is for the user in person. */
const personal: [Method, string, object?][] = [
  ['GET', '/api/auth/keys'],
  ['HEAD', '/api/auth/keys'],
  ['POST', '/api/auth/keys', { name: 'Another' }],
  ['DELETE', '/api/auth/keys/OWN'],
  ['DELETE', '/api/auth/keys/unknown'],
  ['GET', '/api/auth/sessions'],
  ['DELETE', '/api/auth/sessions/any'],
  ['POST', '/api/auth/logout', {}],
  ['POST', '/api/auth/logout', { all_devices: true }],
  ['POST', '/api/auth/password', { current_password: password, new_password: 'Another-Horse-2' }],
  ['GET', '/api/auth/2fa'],
  ['POST', '/api/auth/2fa/setup', { password }],
  ['POST', '/api/auth/2fa/enable', { code: '123456' }],
  ['POST', '/api/auth/2fa/disable', { password, code: '123456' }],
  ['POST', '/api/auth/2fa/recovery-codes', { password, code: '123456' }],
  ['POST', '/api/auth/login', { email: 'ada@example.com', password }],
  ['POST', '/api/auth/register', { email: 'new@example.com', password }],
  ['POST', '/api/auth/refresh', { refresh_token: 'x' }],
  ['POST', '/api/auth/2fa/verify', { challenge_token: 'x', code: '123456' }],
  ['POST', '/api/auth/password/forgot', { email: 'ada@example.com' }],
  ['POST', '/api/auth/password/reset', { token: 'x', password }],
  ['GET', '/api/auth/additions'],
  ['GET', '/api/auth/public'],
  ['GET', '/api/auth/by-parameter'],
  ['GET', '/%61pi/auth/by-parameter'],
  ['GET', '/api/%61uth/by-parameter'],
  ['GET', '/%61pi/%61uth/keys'],
  ['GET', '/api/auth/sessions?x=/api/auth/me'],
  ['GET', '/api/auth/files/me'],
  ['GET', '/api/auth/files/..%2f..%2fme'],
  ['POST', '/api/auth/me', {}],
]

onAnyEngine('an API key', (engine) => {
  const shared = share((owner) => start(owner, engine))

  test(`is refused at ${personal.length} places below /api/auth, with everything its owner may and with less`, async () => {
    const { api, keyOf } = await shared()
    for (const permissions of [undefined, ['*']]) {
      const { owner, key, id } = await keyOf(['admin'], permissions)
      for (const [method, path, json] of personal) {
        const answer = await api.request(method, path.replace('OWN', id), { token: key, ...(json && { json }) })
        const told = `${method} ${path}`
        assert.equal(answer.status, 403, told)
        if (method !== 'HEAD') assert.deepEqual(answer.body, { error: 'Forbidden' }, told)
      }
      // Other paths, which nothing serves, to keys as to anybody.
      for (const path of ['/api/auth/keys/', '/api/auth/sessions/', '/api/auth//keys', '/API/auth/keys']) {
        assert.ok([403, 404, 405].includes((await api.get(path, key)).status), path)
      }
      assert.equal((await api.get('/api/auth/me', key)).status, 200)
      assert.equal((await api.request('HEAD', '/api/auth/me', { token: key })).status, 200)
      assert.ok(reached(await api.get('/api/authors', key)))
      assert.ok(reached(await api.get('/api/other/by-parameter', key)))
      const { data } = (await api.get('/api/auth/keys', owner.access)).body
      assert.equal(data.length, 1, 'no key was made or ended')
      assert.equal((await api.get('/api/auth/sessions', owner.access)).status, 200, 'no session was ended')
    }
    for (const path of ['additions', 'public', 'by-parameter', 'files/me']) {
      assert.ok(reached(await api.get(`/api/auth/${path}`, (await api.signInAs('viewer')).access)), path)
    }
  })

  test('does what both it and its owner may, and nothing else', async () => {
    const { api, keyOf } = await shared()
    const places = ['posts.view', 'posts.update', 'posts.all', 'media.view', 'audit.view', 'x']
    // The roles of the owner, the key's permissions, and where both lead.
    const table: [string[], string[] | undefined, string[]][] = [
      [['admin'], undefined, places],
      [['admin'], ['*'], places],
      [['admin'], [], []],
      [['admin'], ['posts.*'], ['posts.view', 'posts.update', 'posts.all']],
      [['admin'], ['posts.view'], ['posts.view']],
      [['admin'], ['x', 'audit.*'], ['x', 'audit.view']],
      [['admin'], ['posts', 'post.*', 'posts.view.*', 'Posts.view'], []],
      [['viewer'], ['posts.*'], ['posts.view']],
      [['viewer'], ['*'], ['posts.view']],
      [['viewer'], ['posts.update', 'audit.view'], []],
      [['viewer'], undefined, ['posts.view']],
      [['editor'], ['posts.view', 'audit.view'], ['posts.view']],
      [['editor'], ['media.*', 'posts.update'], ['media.view', 'posts.update']],
      [[], ['*'], []],
      [[], undefined, []],
    ]
    let refused = 0
    for (const [roles, permissions, led] of table) {
      const { key } = await keyOf(roles, permissions)
      for (const place of places) {
        const answer = await api.get(`/can/${place}`, key)
        const told = `${roles} with ${permissions ?? 'null'} at ${place}`
        if (led.includes(place)) assert.ok(reached(answer), told)
        else assert.deepEqual([answer.status, answer.body], [403, { error: 'Forbidden' }], told)
        refused += answer.status === 403 ? 1 : 0
      }
    }
    assert.ok(refused > 30)
  })

  test('with permissions holds no role, and without them those of its owner', async () => {
    const { api, keyOf } = await shared()
    const listed = await keyOf(['editor', 'admin'], ['*'])
    const whole = await keyOf(['editor', 'admin'])
    assert.deepEqual((await api.get('/me', listed.key)).body.roles, [])
    assert.deepEqual((await api.get('/me', whole.key)).body.roles, ['editor', 'admin'])
    for (const path of ['/is/editor', '/is/admin']) {
      assert.equal((await api.get(path, listed.key)).status, 403)
      assert.ok(reached(await api.get(path, whole.key)))
    }
    const { data } = (await api.post('/api/posts', { title: 'A', body: 'B' }, whole.key)).body
    assert.equal((await api.put(`/api/posts/${data.id}`, { title: 'C' }, listed.key)).status, 403)
    assert.equal((await api.put(`/api/posts/${data.id}`, { title: 'C' }, whole.key)).status, 200)
    assert.equal((await api.delete(`/api/posts/${data.id}`, listed.key)).status, 403)
    assert.equal((await api.delete(`/api/posts/${data.id}`, whole.key)).status, 204)
  })

  test('follows the roles of its owner from the next request on', async () => {
    const { api, keyOf } = await shared()
    const { owner, key } = await keyOf(['editor'], ['posts.*'])
    assert.ok(reached(await api.get('/can/posts.update', key)))
    await api.grant(owner, 'viewer')
    assert.equal((await api.get('/can/posts.update', key)).status, 403)
    assert.ok(reached(await api.get('/can/posts.view', key)))
    await api.grant(owner)
    assert.equal((await api.get('/can/posts.view', key)).status, 403)
    await api.grant(owner, 'admin')
    assert.ok(reached(await api.get('/can/posts.update', key)))
    assert.equal((await api.get('/can/audit.view', key)).status, 403)
  })

  test('hands out no more than it has, and of an administrator with "*" all of it', async () => {
    const { api, keyOf } = await shared()
    const target = await register(api)
    const setRoles = (key: string, ...roles: string[]) => api.put(`/api/admin/users/${target.id}/roles`, { roles }, key)
    const update = await keyOf(['admin'], ['users.update'])
    const users = await keyOf(['admin'], ['users.*', 'posts.view', 'reports.view'])
    const everything = await keyOf(['admin'], ['*'])
    const whole = await keyOf(['admin'])
    const beyond = await keyOf(['manager'], ['*'])

    for (const role of ['admin', 'manager', 'editor', 'viewer']) {
      const refused = await setRoles(update.key, role)
      assert.deepEqual([refused.status, refused.body], [403, { error: 'Forbidden' }], role)
    }
    assert.equal((await setRoles(update.key, 'helper')).status, 200)
    assert.equal((await setRoles(update.key)).status, 200)
    for (const role of ['admin', 'editor']) {
      assert.equal((await setRoles(users.key, role)).status, 403, role)
      assert.equal((await setRoles(beyond.key, role)).status, 403, role)
    }
    assert.equal((await setRoles(users.key, 'manager', 'viewer')).status, 200)
    assert.equal((await setRoles(beyond.key, 'viewer')).status, 200)
    assert.equal((await setRoles(everything.key, 'admin', 'editor')).status, 200)
    // The user is above these now: they neither take roles nor help.
    for (const { key } of [update, users, beyond]) {
      assert.equal((await setRoles(key)).status, 403)
      for (const help of ['lock', '2fa', 'sessions']) {
        assert.equal((await api.delete(`/api/admin/users/${target.id}/${help}`, key)).status, 403)
      }
    }
    for (const { key } of [everything, whole]) {
      assert.equal((await api.delete(`/api/admin/users/${target.id}/sessions`, key)).status, 204)
    }
    assert.equal((await setRoles(whole.key, 'viewer')).status, 200)
    assert.equal((await setRoles(everything.key)).status, 200)
    assert.equal((await api.get('/api/admin/users', update.key)).status, 403)
    assert.equal((await api.get('/api/admin/users', users.key)).status, 200)
    assert.equal((await api.get('/api/admin/audit', users.key)).status, 403)
  })

  test('of a user is seen and ended by administrators who are not below that user', async () => {
    const { api, keyOf } = await shared()
    const manager = await api.signInAs('manager')
    const helper = await api.signInAs('helper')
    const admin = await api.signInAs('admin')
    const [low, high] = [await keyOf(['viewer']), await keyOf(['admin'])]
    const keysOf = ({ owner }: typeof low) => `/api/admin/users/${owner.id}/keys`

    const listed = await api.get(keysOf(high), manager.access)
    assert.deepEqual([listed.status, listed.body.data[0].id, listed.body.data[0].key], [200, high.id, undefined])
    assert.equal((await api.get(keysOf(low), helper.access)).status, 403)
    assert.equal((await api.get(keysOf(low))).status, 401)
    assert.equal((await api.get('/api/admin/users/999999/keys', manager.access)).status, 404)
    assert.equal((await api.delete(`${keysOf(high)}/${high.id}`, manager.access)).status, 403)
    assert.equal((await api.delete(`${keysOf(low)}/${low.id}`, high.owner.access)).status, 204)
    assert.equal((await api.delete(`${keysOf(low)}/${high.id}`, manager.access)).status, 404)
    assert.equal((await api.delete(`/api/admin/users/999999/keys/${high.id}`, manager.access)).status, 404)
    assert.equal((await api.get('/me', low.key)).status, 401)
    assert.equal((await api.get('/me', high.key)).status, 200)
    assert.equal((await api.delete(`${keysOf(high)}/${high.id}`, admin.access)).status, 204)
    assert.equal((await api.get('/me', high.key)).status, 401)
    const { data } = (await api.get('/api/admin/audit?per_page=100', admin.access)).body
    const ends = data.filter(({ event }: { event: string }) => event === 'api_key_ended')
    assert.deepEqual(
      ends.map(({ outcome, user_id, actor_id }: Record<string, unknown>) => [outcome, user_id, actor_id]),
      [
        ['success', high.owner.id, admin.id],
        ['success', low.owner.id, high.owner.id],
        ['refused', high.owner.id, manager.id],
      ],
    )
  })

  test('with permissions changes nothing where an extension lets anybody, as no permission is named', async () => {
    const { api, keyOf } = await shared()
    const suggest = (token?: string) => api.request('POST', '/api/suggestions', { json: {}, token })
    assert.equal((await suggest()).status, 200)
    assert.equal((await suggest((await keyOf(['editor'])).key)).status, 200)
    assert.equal((await suggest((await keyOf(['editor'], ['posts.*'])).key)).status, 403)
  })

  test('asks GraphQL for what both may', async () => {
    const { api, keyOf } = await shared()
    const listed = await keyOf(['manager', 'editor'], ['reports.*'])
    const none = await keyOf(['manager', 'editor'], ['posts.*'])
    const whole = await keyOf(['manager', 'editor'])
    assert.equal((await ask(api, '{ reports }', { token: listed.key })).data.reports, 'reached')
    assert.equal(codeOf(await ask(api, '{ reports }', { token: none.key })), 'FORBIDDEN')
    assert.equal(codeOf(await ask(api, '{ edits }', { token: listed.key })), 'FORBIDDEN')
    assert.equal((await ask(api, '{ edits reports }', { token: whole.key })).data.edits, 'reached')
    const dead = await api.request('POST', '/graphql', { json: { query: '{ reports }' }, token: `${none.key}x` })
    assert.equal(dead.status, 401)
  })

  test('is no use in the console, and its repeated requests are those of its owner', async () => {
    const { api, keyOf } = await shared()
    const { owner, key } = await keyOf(['admin'])
    for (const headers of [{ authorization: `Bearer ${key}` }, { cookie: `latchkey_session=${key}` }]) {
      const page = await api.request('GET', '/console/account', { headers })
      assert.equal(page.headers.get('location'), '/console/sign-in?next=%2Fconsole%2Faccount')
    }
    const json = { name: 'Lamp', description: 'Warm', price: 1 }
    const headers = { 'idempotency-key': 'the same request 1' }
    const first = await api.request('POST', productsPath, { json, headers, token: key })
    const second = await api.request('POST', productsPath, { json, headers, token: owner.access })
    assert.deepEqual([first.status, second.status, second.body], [201, 201, first.body])
  })
})
