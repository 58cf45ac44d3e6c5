/** What API keys with a list of permissions may change and read, also where their owner needs only a token. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { defineFeature } from '../../src/platform/feature.ts'
import { mutation, query, subscription } from '../../src/platform/graphql/schema/elements.ts'
import { shareService, startApi } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { forEngines, onAnyEngine } from '../support/databases.ts'
import { send } from '../support/graphql.ts'
import { makeKey } from '../support/keys.ts'
import { isSignedIn } from '../support/people.ts'
import { productsPath } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const lamp = { name: 'Lamp', description: 'Warm', price: 1 }
const refused = 403

/** Ways of an extension to declare its access. */
const letters = defineFeature({
  name: 'letters',
  create: () => undefined,
  policies: {
    letters: {
      open: () => true,
      own: (user: { id: number } | undefined) => user !== undefined,
      send: (user: { id: number } | undefined) => user !== undefined,
    },
  },
  routes: () => (app) => {
    const entity = async (_request: FastifyRequest) => ({})
    const reached = async () => 'reached'
    const at = (access: object | string) => ({ config: { access, docs: false } as never })
    app.get('/letters/authenticated', at('authenticated'), reached)
    app.get('/letters/declared', at(['authenticated', { keyPermission: 'letters.read' }]), reached)
    app.get('/letters/public', at('public'), reached)
    app.get('/letters/open', at({ policy: 'letters', action: 'open', entity }), reached)
    app.get('/letters/own', at({ policy: 'letters', action: 'own', entity }), reached)
    app.post('/letters/authenticated', at('authenticated'), reached)
    app.post('/letters/public', at('public'), reached)
    app.post('/letters/declared', at(['authenticated', { keyPermission: 'letters.create' }]), reached)
    app.post('/letters/policy', at({ policy: 'letters', action: 'send', entity }), reached)
    app.post('/letters/none', at(['authenticated', { keyPermission: null }]), reached)
    app.register(async (inner) => {
      inner.requireForAll('authenticated')
      inner.put('/letters/plugin', at({ keyPermission: 'letters.update' }), reached)
    })
    app.register(async (inner) => {
      inner.requireForAll({ permission: 'letters.view' })
      inner.get('/letters/viewed', at({ policy: 'letters', action: 'own', entity }), reached)
      inner.post('/letters/viewed', at('authenticated'), reached)
      inner.put('/letters/viewed', at({ policy: 'letters', action: 'send', entity }), reached)
    })
  },
  elements: () => [
    query({ name: 'ownLetters', type: 'String', access: 'authenticated', resolve: () => 'reached' }),
    query({ name: 'openLetters', type: 'String', access: 'public', resolve: () => 'reached' }),
    mutation({ name: 'sendLetter', type: 'String', access: 'authenticated', resolve: () => 'reached' }),
    mutation({ name: 'sendOpenLetter', type: 'String', access: 'public', resolve: () => 'reached' }),
    mutation({
      name: 'sendDeclared',
      type: 'String',
      access: ['authenticated', { keyPermission: 'letters.create' }],
      resolve: () => 'reached',
    }),
    subscription({
      name: 'letterSent',
      type: 'String',
      access: 'authenticated',
      async *subscribe() {},
    }),
  ],
})

async function codeOf(...[api, text, asked]: Parameters<typeof send>): Promise<string | undefined> {
  return (await send(api, text, asked)).body.errors?.[0].extensions.code
}

const services = forEngines((engine) => shareService(startApiWithRoles, { engine, extensions: [letters] }))

onAnyEngine('an API key with a list of permissions', (engine) => {
  const service = services[engine]

  test('is gone for good once its owner was disabled, whoever did that', async () => {
    const api = await service()
    const admin = await api.signInAs('admin')
    for (const disable of [
      (id: number) => api.put(`/api/admin/users/${id}`, { disabled: true }, admin.access),
      // As the previous release does, which leaves the keys.
      (id: number) =>
        api.db.write({
          sql: 'UPDATE users SET disabled_at = $1 WHERE id = $2',
          params: [new Date().toISOString(), id],
        }),
    ]) {
      const owner = await api.signInAs()
      const { key } = await makeKey(api, owner.access)
      assert.equal((await api.get('/me', key)).status, 200)
      await disable(owner.id)
      assert.equal((await api.get('/me', key)).status, 401)
      assert.equal((await api.put(`/api/admin/users/${owner.id}`, { disabled: false }, admin.access)).status, 200)
      assert.equal((await api.get('/me', key)).status, 401)
      assert.deepEqual((await api.get(`/api/admin/users/${owner.id}/keys`, admin.access)).body.data, [])
    }
  })
})

onAnyEngine('an API key with a list of permissions', (engine) => {
  const service = services[engine]

  async function keysOf(lists: Record<string, string[] | undefined>) {
    const api = await service()
    const owner = await api.signInAs()
    const made = Object.entries(lists).map(async ([name, permissions]) => {
      const { key } = await makeKey(api, owner.access, permissions && { permissions })
      return [name, key] as const
    })
    return { api, owner, keys: Object.fromEntries(await Promise.all(made)) as Record<string, string> }
  }

  test('changes products only with the permission of the action, although its owner needs only a token', async () => {
    const { api, owner, keys } = await keysOf({
      none: [],
      all: undefined,
      any: ['*'],
      products: ['products.*'],
      create: ['products.create'],
      update: ['products.update'],
      delete: ['products.delete'],
      other: ['posts.*', 'products', 'products.read'],
    })
    const may = { all: 'CUD', any: 'CUD', products: 'CUD', create: 'C', update: 'U', delete: 'D', none: '', other: '' }
    for (const [name, letters] of Object.entries(may)) {
      const token = keys[name] as string
      const { data } = (await api.post(productsPath, lamp, owner.access)).body
      const path = `${productsPath}/${data.id}`
      const headers = { 'idempotency-key': `a product by the key ${name}` }
      const created = [
        await api.post(productsPath, lamp, token),
        await api.request('POST', productsPath, { json: lamp, headers, token }),
      ]
      for (const each of created) assert.equal(each.status, letters.includes('C') ? 201 : refused, `${name} creates`)
      const create = `mutation { createProduct(input: { name: "Lamp", description: "B", price: 1 }) { id } }`
      const update = `mutation { updateProduct(id: ${data.id}, input: { name: "Lamp 3" }) { id } }`
      const remove = `mutation { deleteProduct(id: ${data.id}) }`
      const codes = []
      for (const text of [create, update, remove]) codes.push(await codeOf(api, text, { token }))
      assert.deepEqual(
        codes,
        [...'CUD'].map((letter) => (letters.includes(letter) ? undefined : 'FORBIDDEN')),
        name,
      )
      const isGone = letters.includes('D')
      const put = await api.put(path, { name: 'Lamp 2' }, token)
      assert.equal(put.status, letters.includes('U') ? (isGone ? 404 : 200) : refused, `${name} updates`)
      assert.equal((await api.delete(path, token)).status, isGone ? 404 : refused, `${name} deletes`)
      assert.equal((await api.get(productsPath, token)).status, 200, 'reading what is public needs none')
    }
  })

  test('does not repeat a request of its owner without the permission', async () => {
    const { api, owner, keys } = await keysOf({ none: [] })
    const options = { json: lamp, headers: { 'idempotency-key': 'the request of the owner' } }
    assert.equal((await api.request('POST', productsPath, { ...options, token: owner.access })).status, 201)
    const again = await api.request('POST', productsPath, { ...options, token: keys.none as string })
    assert.deepEqual([again.status, again.body], [refused, { error: 'Forbidden' }])
  })

  test('creates posts only with posts.create, also where the anonymous may', async () => {
    const { api, keys } = await keysOf({ none: [], create: ['posts.create'], all: undefined })
    const text = 'mutation { createPost(title: "A", body: "B") }'
    assert.equal(await codeOf(api, text), undefined)
    for (const [name, isAllowed] of Object.entries({ none: false, create: true, all: true })) {
      const token = keys[name] as string
      assert.equal(await codeOf(api, text, { token }), isAllowed ? undefined : 'FORBIDDEN', name)
      const made = await api.post('/api/posts', { title: 'A', body: 'B' }, token)
      assert.equal(made.status, isAllowed ? 201 : refused, name)
      assert.equal((await api.get('/api/posts/1', token)).status, 200)
      assert.equal(
        await codeOf(api, '{ posts { id } post(id: 1) { id } products { data { id } } }', { token }),
        undefined,
      )
    }
  })

  test('reads what is public, and who it is; everything else needs the permission to read', async () => {
    const { api, owner, keys } = await keysOf({ none: [], read: ['letters.read'] })
    const none = keys.none as string
    for (const path of ['/me', '/api/auth/me', '/letters/public', '/letters/open', productsPath]) {
      assert.equal((await api.get(path, none)).status, 200, path)
    }
    assert.equal((await send(api, '{ me { id } }', { token: none })).body.data.me.id, String(owner.id))
    for (const path of ['/letters/authenticated', '/letters/declared', '/letters/own', '/api/admin/users']) {
      assert.equal((await api.get(path, none)).status, refused, path)
    }
    for (const path of ['/letters/declared', '/letters/own']) {
      assert.equal((await api.get(path, keys.read)).status, 200, path)
    }
    assert.equal((await api.get('/letters/authenticated', keys.read)).status, refused, 'names no permission')
  })

  test('reaches routes and elements of extensions only with the permission that they name', async () => {
    const { api, keys } = await keysOf({
      none: [],
      create: ['letters.create', 'letters.update'],
      send: ['letters.send'],
      any: ['*'],
      all: undefined,
    })
    const places: [method: 'GET' | 'POST' | 'PUT', path: string, allowed: string[]][] = [
      ['GET', '/letters/authenticated', ['any', 'all']],
      ['POST', '/letters/authenticated', ['any', 'all']],
      ['POST', '/letters/public', ['any', 'all']],
      ['POST', '/letters/declared', ['create', 'any', 'all']],
      ['PUT', '/letters/plugin', ['create', 'any', 'all']],
      ['POST', '/letters/policy', ['send', 'any', 'all']],
      ['POST', '/letters/none', ['none', 'create', 'send', 'any', 'all']],
    ]
    for (const [method, path, allowed] of places) {
      for (const [name, token] of Object.entries(keys)) {
        const { status } = await api.request(method, path, { token, ...(method !== 'GET' && { json: {} }) })
        assert.equal(status, allowed.includes(name) ? 200 : refused, `${method} ${path} by ${name}`)
      }
    }
    assert.equal((await api.post('/letters/public', {})).status, 200)
    const elements: [text: string, allowed: string[]][] = [
      ['{ ownLetters }', ['any', 'all']],
      ['{ openLetters }', Object.keys(keys)],
      ['mutation { sendLetter }', ['any', 'all']],
      ['mutation { sendOpenLetter }', ['any', 'all']],
      ['mutation { sendDeclared }', ['create', 'any', 'all']],
    ]
    for (const [text, allowed] of elements) {
      for (const [name, token] of Object.entries(keys)) {
        assert.equal(
          await codeOf(api, text, { token }),
          allowed.includes(name) ? undefined : 'FORBIDDEN',
          `${text} by ${name}`,
        )
      }
    }
    assert.equal(await codeOf(api, 'mutation { sendOpenLetter }'), undefined)
    for (const [name, token] of Object.entries(keys)) {
      const headers = { accept: 'text/event-stream' }
      const json = { query: 'subscription { letterSent }' }
      const { body } = await api.request('POST', '/graphql', { json, headers, token })
      assert.equal(/FORBIDDEN/.test(JSON.stringify(body)), !['any', 'all'].includes(name), name)
    }
  })

  test('needs the action of a policy to change data, also where a permission to view is required', async () => {
    const api = await service()
    const owner = await api.signInAs('admin')
    const expected = { view: [200, 403], all: [200, 200] }
    for (const [name, statuses] of Object.entries(expected)) {
      const permissions = name === 'view' ? ['letters.view'] : ['letters.*']
      const { key } = await makeKey(api, owner.access, { permissions })
      const responses = [await api.get('/letters/viewed', key), await api.put('/letters/viewed', {}, key)]
      // The permission to view does not name the action of a route that only asks for a token.
      assert.equal((await api.post('/letters/viewed', {}, key)).status, 403, name)
      assert.deepEqual(
        responses.map(({ status }) => status),
        statuses,
        name,
      )
    }
  })

  test('that has expired says so, on every way; the body stays', async () => {
    const api = await service()
    const email = 'expired@example.com'
    const access = await api.signIn(email)
    const expires_at = new Date(api.clock.now() + 60_000).toISOString()
    const { key } = await makeKey(api, access, { expires_at })
    api.clock.advance(61_000)
    const fresh = await api.signIn(email)
    for (const [method, path] of [
      ['GET', '/me'],
      ['POST', '/graphql'],
      // Public, but closed to keys that are valid.
      ['POST', '/api/auth/login'],
    ] as const) {
      const json = method === 'POST' ? { json: { query: '{ me { id } }' } } : {}
      const expired = await api.request(method, path, { token: key, ...json })
      assert.equal(expired.status, 401)
      assert.equal(
        expired.headers.get('www-authenticate'),
        'Bearer error="invalid_token", error_description="The API key has expired"',
      )
      const unknown = await api.request(method, path, { token: `${key}x`, ...json })
      assert.equal(unknown.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    }
    assert.deepEqual((await api.get('/me', key)).body, { error: 'Invalid access token' })
    const headers = { accept: 'application/problem+json' }
    const { body: problem } = await api.request('GET', '/me', { token: key, headers })
    assert.deepEqual([problem.title, problem.detail], ['Invalid access token', 'The API key has expired'])
    assert.ok(Date.parse((await api.get('/api/auth/keys', fresh)).body.data[0].expires_at) <= api.clock.now())
  })

  test('is created only so often from an address, over the API and in the console together', async (t) => {
    const api = await startApi(t, { engine, env: { RATE_LIMIT_KEYS: '2/60' } })
    const access = await api.signIn()
    const browser = openConsole(api)
    await browser.signIn('ada@example.com')
    await makeKey(api, access)
    await browser.open('/console/account/keys/new')
    assert.equal((await browser.submit('/console/account/keys', { name: 'One' })).status, 200)
    const last = await api.post('/api/auth/keys', { name: 'Another' }, access)
    assert.deepEqual([last.status, last.body], [429, { error: 'Too many attempts' }])
    assert.ok(Number(last.headers.get('retry-after')) > 0)
    await browser.open('/console/account/keys/new')
    const page = await browser.submit('/console/account/keys', { name: 'Two' })
    assert.equal(page.status, 429)
    assert.ok(await isSignedIn(api, access))
  })
})
