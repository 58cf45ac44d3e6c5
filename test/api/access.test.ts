import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { shareService, startApi } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine } from '../support/databases.ts'
import { startApiWithRoles } from '../support/roles.ts'

const entity = async (request: { url: string }) => (request.url.includes('none') ? null : { owner: 'nobody' })

/** Every kind of requirement, on a route and on a plugin. */
const requirements = {
  authenticated: 'authenticated',
  role: { role: 'editor' },
  permission: { permission: 'posts.publish' },
  policy: { policy: 'posts', action: 'update', entity },
} as const

async function routes(app: FastifyInstance): Promise<void> {
  for (const [name, access] of Object.entries(requirements)) {
    app.get(`/method/${name}`, { config: { access } }, async () => ({ ok: true }))
    await app.register(
      async (plugin) => {
        plugin.requireForAll(access)
        plugin.get('/', async () => ({ ok: true }))
        plugin.get('/public', { config: { access: 'public' } }, async () => ({ ok: true }))
        plugin.get('/admin', { config: { access: { role: 'admin' } } }, async () => ({ ok: true }))
        plugin.head('/head', async () => '')
      },
      { prefix: `/plugin/${name}` },
    )
  }
  app.get('/policy/none', { config: { access: requirements.policy } }, async () => ({ ok: true }))
  app.get('/policy/view', { config: { access: { policy: 'posts', action: 'view', entity } } }, async (request) => ({
    entity: request.entity,
    user: request.principal?.id ?? null,
  }))
}

onAnyEngine('access', (engine) => {
  const shared = shareService(startApiWithRoles, { engine, extend: routes })

  test('a permission is any text; only `*` and a trailing `.*` are wildcards', async (t) => {
    const held = ['posts:publish', 'with spaces', 'ünï✓', 'posts*', '*.view']
    const asked = [...held, 'posts', 'posts:publishing', 'posts.view', 'media.view', 'UNÏ✓']
    const api = await startApiWithRoles(t, {
      engine,
      config: createConfig(t, {
        auth: `auth { roles { odd { permissions = ${JSON.stringify(held)} } } }`,
      }),
      extend(app) {
        for (const [i, permission] of asked.entries()) {
          app.get(`/asked/${i}`, { config: { access: { permission } } }, async () => ({ ok: true }))
        }
      },
    })
    const user = await api.signInAs('odd')
    for (const [i, permission] of asked.entries()) {
      assert.equal(
        (await api.get(`/asked/${i}`, user.access)).status,
        held.includes(permission) ? 200 : 403,
        permission,
      )
    }
  })

  for (const name of Object.keys(requirements)) {
    test(`${name}, on a method and on a plugin: no token 401, the wrong user 403, the right one passes`, async () => {
      const api = await shared()
      const right = await api.signInAs('editor')
      const wrong = await api.signInAs('viewer')
      for (const path of [`/method/${name}`, `/plugin/${name}/`, `/plugin/${name}/public`]) {
        const none = await api.get(path)
        assert.deepEqual([none.status, none.body], [401, { error: 'Missing access token' }], path)
        assert.equal(none.headers.get('www-authenticate'), 'Bearer')
        const bad = await api.get(path, 'nonsense')
        assert.deepEqual([bad.status, bad.body], [401, { error: 'Invalid access token' }], path)
        assert.equal(bad.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
        const other = await api.get(path, wrong.access)
        const isEnough = name === 'authenticated'
        assert.deepEqual(
          [other.status, other.body],
          isEnough ? [200, { ok: true }] : [403, { error: 'Forbidden' }],
          path,
        )
        assert.equal((await api.get(path, right.access)).status, 200, path)
        assert.equal((await api.request('HEAD', path)).status, 401, path)
        assert.equal((await api.request('HEAD', path, { token: right.access })).status, 200, path)
      }
    })

    test(`${name} on a plugin and a role on its route are both required`, async () => {
      const api = await shared()
      const path = `/plugin/${name}/admin`
      assert.equal((await api.get(path)).status, 401)
      assert.equal(
        (await api.get(path, (await api.signInAs('editor')).access)).status,
        403,
        'only what the plugin asks',
      )
      const adminOnly = await api.get(path, (await api.signInAs('admin')).access)
      // `*` covers permissions, not roles: an administrator is not an editor.
      assert.equal(adminOnly.status, name === 'role' ? 403 : 200)
      assert.equal((await api.get(path, (await api.signInAs('admin', 'editor')).access)).status, 200)
    })
  }

  test('a removed role is gone at the next request, even with a valid token', async () => {
    const api = await shared()
    const user = await api.signInAs('editor')
    assert.equal((await api.get('/method/permission', user.access)).status, 200)
    await api.grant(user, 'viewer')
    assert.equal((await api.get('/method/permission', user.access)).status, 403)
    assert.deepEqual((await api.get('/me', user.access)).body.roles, ['viewer'])
  })

  test('a policy for everyone needs no token, but refuses a bad one, and finds the entity', async () => {
    const api = await shared()
    assert.deepEqual((await api.get('/policy/view')).body, { entity: { owner: 'nobody' }, user: null })
    const user = await api.signInAs()
    assert.equal((await api.get('/policy/view', user.access)).body.user, user.id)
    assert.equal((await api.get('/policy/view', 'nonsense')).status, 401)
    assert.equal((await api.request('GET', '/policy/view', { headers: { authorization: 'Bearer' } })).status, 401)
    for (const authorization of [
      'Basic dXNlcjpwYXNz',
      'Digest username="x"',
      'Bearerish x',
      '',
      'AWS4-HMAC-SHA256 x',
    ]) {
      const response = await api.request('GET', '/policy/view', { headers: { authorization } })
      assert.deepEqual([response.status, response.body.user], [200, null], authorization)
    }
    assert.equal((await api.get('/policy/none', user.access)).status, 404)
  })
})

test('an unknown policy or action stops the start-up', async (t) => {
  for (const wrong of [
    { policy: 'nothing', action: 'view' },
    { policy: 'posts', action: 'burn' },
    { policy: '__proto__', action: 'view' },
  ]) {
    const start = startApi(t, {
      extend(app) {
        app.get('/x', { config: { access: { ...wrong, entity } } }, async () => ({}))
      },
    })
    await assert.rejects(start, new RegExp(`no action "${wrong.action}" in a policy "${wrong.policy}"`))
  }
})

test('an empty list of requirements counts as undeclared', async (t) => {
  const start = startApi(t, {
    extend(app) {
      app.get('/empty', { config: { access: [] } }, async () => ({}))
    },
  })
  await assert.rejects(start, /GET \/empty/)
})

test('a plugin’s route that declares nothing, in a plugin that requires nothing, stops the start-up', async (t) => {
  const start = startApi(t, {
    async extend(app) {
      await app.register(async (plugin) => void plugin.get('/x', async () => ({})), { prefix: '/p' })
    },
  })
  await assert.rejects(start, /these routes declare no access: GET \/p\/x/)
})
