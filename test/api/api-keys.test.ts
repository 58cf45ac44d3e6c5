import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { freshMs } from '../../src/platform/access/route-guards.ts'
import type { Database, Value } from '../../src/platform/database/database.ts'
import { shareApi, shareService } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { makeKey, withTypo } from '../support/keys.ts'
import { many, signIn } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const invalid = [401, { error: 'Invalid access token' }, 'Bearer error="invalid_token"']

/** How many reads there have been from now on of what lets users in. The service reads other things in the background. */
function countReads(db: Database): () => number {
  let reads = 0
  const get = db.get.bind(db)
  const all = db.all.bind(db)
  const count = (sql: string) => {
    if (/\b(api_keys|users|sessions)\b/.test(sql)) reads += 1
  }
  Object.assign(db, {
    get: <Row extends object>(sql: string, params?: readonly Value[]) => {
      count(sql)
      return get<Row>(sql, params)
    },
    all: <Row extends object>(sql: string, params?: readonly Value[]) => {
      count(sql)
      return all<Row>(sql, params)
    },
  })
  return () => reads
}

onRacingEngine('an API key', (engine) => {
  const shared = shareApi({ engine })

  test('is shown once, listed by its hint, acts as its owner, and is ended', async () => {
    const api = await shared()
    const user = await signIn(api)
    const made = await api.post('/api/auth/keys', { name: 'Deploy' }, user.access)
    assert.equal(made.status, 201)
    assert.equal(made.headers.get('cache-control'), 'no-store')
    const { data, key } = made.body
    assert.deepEqual(Object.keys(made.body), ['data', 'key'])
    assert.match(key, /^lk_[0-9A-Za-z]{40}$/)
    assert.deepEqual(data, {
      id: data.id,
      name: 'Deploy',
      hint: `${key.slice(0, 7)}…${key.slice(-4)}`,
      permissions: null,
      expires_at: null,
      created_at: data.created_at,
      last_used_at: null,
    })
    const listed = await api.get('/api/auth/keys', user.access)
    assert.deepEqual([listed.status, listed.body], [200, { data: [data] }])
    for (const path of ['/me', '/api/auth/me']) {
      const me = await api.get(path, key)
      assert.deepEqual([me.status, me.body.id, me.body.email], [200, user.id, user.email])
    }
    assert.equal((await api.delete(`/api/auth/keys/${data.id}`, user.access)).status, 204)
    assert.equal((await api.delete(`/api/auth/keys/${data.id}`, user.access)).status, 404)
    const dead = await api.get('/me', key)
    assert.deepEqual([dead.status, dead.body, dead.headers.get('www-authenticate')], invalid)
    assert.deepEqual((await api.get('/api/auth/keys', user.access)).body, { data: [] })
  })

  test('ends when it expires, and is seen in the list for 30 more days', async () => {
    const api = await shared()
    const user = await signIn(api)
    const expires_at = new Date((api.clock.nowSeconds() + 600) * 1000).toISOString()
    const { key } = await makeKey(api, user.access, { expires_at })
    assert.equal((await api.get('/api/auth/keys', user.access)).body.data[0].expires_at, expires_at)
    api.clock.advance(300)
    assert.equal((await api.get('/me', key)).status, 200)
    api.clock.advance(300)
    assert.equal((await api.get('/me', key)).status, 401)
    assert.equal((await api.get('/api/auth/keys', user.access)).body.data.length, 1)
  })

  test('is refused with what is wrong with it, field by field', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const permission = 'Must be a permission such as posts.view or posts.*'
    const time = 'Must be a time in ISO 8601, such as 2030-01-31T12:00:00Z'
    const refusals: [object, object][] = [
      [{}, { name: ['Must not be blank'] }],
      [{ name: '  ' }, { name: ['Must not be blank'] }],
      [{ name: 'n'.repeat(101) }, { name: ['Must be at most 100 characters'] }],
      [{ name: 7 }, { name: ['Must be a string'] }],
      [{ name: 'n', permissions: 'posts.*' }, { permissions: ['Must be a list of strings'] }],
      [
        { name: 'n', permissions: Array.from({ length: 101 }, () => 'a') },
        { permissions: ['Must have at most 100 items'] },
      ],
      [
        { name: 'n', permissions: ['', ' a', 'a ', '*.view', 'posts*', 'a.*.b', '**', 'posts.**', 'a\u0007b'] },
        Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`permissions.${i}`, [permission]])),
      ],
      [{ name: 'n', expires_at: 'tomorrow' }, { expires_at: [time] }],
      [{ name: 'n', expires_at: '2030-02-30T00:00:00Z' }, { expires_at: [time] }],
      [{ name: 'n', expires_at: '2030-01-01' }, { expires_at: [time] }],
      [{ name: 'n', expires_at: '2030-01-01T00:00:00' }, { expires_at: [time] }],
      [{ name: 'n', expires_at: '+275760-09-13T00:00:00Z' }, { expires_at: [time] }],
      [{ name: 'n', expires_at: '9999-12-31T23:59:59-00:01' }, { expires_at: [time] }],
      [{ name: 'n', expires_at: api.clock.nowIso() }, { expires_at: ['Must be in the future'] }],
      [{ name: 'n', expires_at: 4_000_000_000 }, { expires_at: ['Must be a string'] }],
    ]
    for (const [body, details] of refusals) {
      const answer = await api.post('/api/auth/keys', body, access)
      assert.deepEqual([answer.status, answer.body], [422, { error: 'Validation failed', details }])
    }
    const odd = { name: 'n'.repeat(100), permissions: ['*', 'posts.*', 'a.b.*', 'export data'], expires_at: null }
    const made = await api.post('/api/auth/keys', odd, access)
    assert.deepEqual([made.status, made.body.data.permissions], [201, odd.permissions])
    assert.equal(
      (await api.post('/api/auth/keys', { name: 'n', permissions: null }, access)).body.data.permissions,
      null,
    )
    const problem = await api.request('POST', '/api/auth/keys', {
      json: {},
      token: access,
      headers: { accept: 'application/problem+json' },
    })
    assert.match(problem.headers.get('content-type') ?? '', /^application\/problem\+json/)
    assert.equal(problem.body.code, 'validation_failed')
  })

  test('is one of at most fifty that live, however many are asked for at once', async () => {
    const api = await shared()
    const user = await signIn(api)
    const soon = new Date((api.clock.nowSeconds() + 600) * 1000).toISOString()
    await makeKey(api, user.access, { expires_at: soon })
    const answers = await many(60, (i) => api.post('/api/auth/keys', { name: `Key ${i}` }, user.access))
    assert.equal(answers.filter(({ status }) => status === 201).length, 49)
    const refused = answers.find(({ status }) => status !== 201)
    assert.deepEqual([refused?.status, refused?.body], [409, { error: 'Too many API keys' }])
    assert.equal((await api.get('/api/auth/keys', user.access)).body.data.length, 50)
    api.clock.advance(600)
    await makeKey(api, user.access)
    assert.equal((await api.post('/api/auth/keys', { name: 'n' }, user.access)).status, 409)
    const { data } = (await api.get('/api/auth/keys', user.access)).body
    assert.equal((await api.delete(`/api/auth/keys/${data[0].id}`, user.access)).status, 204)
    await makeKey(api, user.access)
    const other = await signIn(api, 'other@example.com')
    await makeKey(api, other.access)
  })

  test('says when it was last used, at most once a minute, and no request waits for that', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const user = await signIn(api)
    const { key } = await makeKey(api, user.access)
    const lastUsed = async () => (await api.get('/api/auth/keys', user.access)).body.data[0].last_used_at
    let writes = 0
    const write = api.db.write.bind(api.db)
    let release = () => {}
    t.after(() => release())
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    Object.assign(api.db, {
      write: async (...statements: Parameters<typeof write>) => {
        // The service writes other things in the background.
        if (!statements.some(({ sql }) => sql.includes('last_used_at'))) return write(...statements)
        writes += 1
        await held
        return write(...statements)
      },
    })
    await many(20, () => api.get('/me', key))
    assert.equal(writes, 1)
    assert.equal(await lastUsed(), null, 'all were answered before it was written')
    release()
    const first = await eventually(async () => {
      const at = await lastUsed()
      assert.ok(at)
      return at
    })
    api.clock.advance(20)
    await api.get('/me', key)
    assert.deepEqual([writes, await lastUsed()], [1, first])
    api.clock.advance(41)
    await api.get('/me', key)
    await eventually(async () => assert.ok((await lastUsed()) > first))
    assert.equal(writes, 2)
  })
})

onAnyEngine('an API key', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('ends in a checksum that anybody can compute, and a typo costs no query', async () => {
    const api = await shared()
    const user = await signIn(api)
    const { key } = await makeKey(api, user.access)
    let rest = crc32(key.slice(0, -6))
    let checksum = ''
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    for (let i = 0; i < 6; i++) {
      checksum = digits[rest % 62] + checksum
      rest = Math.floor(rest / 62)
    }
    assert.equal(key.slice(-6), checksum)

    const reads = countReads(api.db)
    const wrong = [
      ...Array.from({ length: 40 }, (_, i) => withTypo(key, i + 3)),
      'lk_',
      key.slice(0, -1),
      `${key}a`,
      `lk_${'-'.repeat(40)}`,
      `lk_${'é'.repeat(40)}`,
      `lk_${'a'.repeat(5000)}`,
    ]
    for (const each of wrong) {
      const answer = await api.request('GET', '/me', { headers: { authorization: `Bearer ${encodeURI(each)}` } })
      assert.deepEqual([answer.status, answer.body, answer.headers.get('www-authenticate')], invalid)
    }
    assert.equal(reads(), 0)
    // The key of a request that takes longer is checked again, which says nothing about one in time.
    const costs: number[] = []
    await eventually(async () => {
      const [before, startedAt] = [reads(), performance.now()]
      assert.equal((await api.get('/me', key)).status, 200)
      if (performance.now() - startedAt < freshMs) costs.push(reads() - before)
      assert.equal(costs.length, 1)
    })
    assert.deepEqual(costs, [1], 'a good one costs one query')
  })

  test('is described as a Bearer token, and as refused where users are asked for in person', async () => {
    const api = await shared()
    const { paths, components } = (await api.get('/openapi.json')).body
    assert.match(components.securitySchemes.bearer.description, /API key.*`lk_…`/)
    for (const [path, methods] of Object.entries<Record<string, { responses: object }>>(paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        if (!path.startsWith('/api/auth/')) continue
        assert.equal('403' in responses, `${method} ${path}` !== 'get /api/auth/me', `${method} ${path}`)
      }
    }
  })
})
