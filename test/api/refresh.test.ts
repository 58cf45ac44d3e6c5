import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, shareApi, shareService, startApi } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { holdWrite } from '../support/held-write.ts'
import { again, claimsOf, isSignedIn, many, signIn } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const key = 'a-key-of-sixteen-or-more'

function refresh(api: Api, refresh_token: string, idempotencyKey?: string) {
  const headers: Record<string, string> = idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}
  return api.request('POST', '/api/auth/refresh', { json: { refresh_token }, headers })
}

async function assertDead(api: Api, access: string, refreshToken: string): Promise<void> {
  assert.equal(await isSignedIn(api, access), false)
  const response = await refresh(api, refreshToken)
  assert.deepEqual([response.status, response.body], [401, { error: 'Invalid refresh token' }])
}

onRacingEngine('refresh', (engine) => {
  const shared = shareApi({ engine })
  const withDatabase = shareService(startApiWithRoles, { engine })

  test('returns a new pair of the same family, and the old access token stays valid', async () => {
    const api = await shared()
    const user = await signIn(api)
    const { status, body, headers } = await refresh(api, user.refresh)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).sort(), ['access_token', 'expires_at', 'refresh_token', 'token_type'])
    assert.equal(body.token_type, 'Bearer')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(claimsOf(body.access_token).family, claimsOf(user.access).family)
    assert.notEqual(claimsOf(body.refresh_token).jti, claimsOf(user.refresh).jti)
    assert.ok(await isSignedIn(api, user.access))
    assert.ok(await isSignedIn(api, body.access_token))
  })

  test('a second presentation ends the whole family at once, and no other', async () => {
    const api = await shared()
    const user = await signIn(api)
    const other = await again(api, user)
    const next = (await refresh(api, user.refresh)).body
    const reuse = await refresh(api, user.refresh)
    assert.deepEqual([reuse.status, reuse.body], [401, { error: 'Invalid refresh token' }])
    assert.equal(reuse.headers.get('www-authenticate'), 'Bearer')
    assert.equal(await isSignedIn(api, user.access), false)
    await assertDead(api, next.access_token, next.refresh_token)
    assert.ok(await isSignedIn(api, other.access))
  })

  test('of fifty in parallel one wins, then the whole family is revoked', async () => {
    const api = await shared()
    const user = await signIn(api)
    const responses = await many(50, () => refresh(api, user.refresh))
    const winners = responses.filter(({ status }) => status === 200)
    assert.equal(winners.length, 1)
    await assertDead(api, user.access, user.refresh)
    await assertDead(api, winners[0]?.body.access_token, winners[0]?.body.refresh_token)
  })

  test('of a session that ends meanwhile, no new pair is given', async (t) => {
    const api = await withDatabase()
    const user = await signIn(api)
    const { reached, release } = holdWrite(t, api.db, 'SET live_refresh_id')
    const late = refresh(api, user.refresh)
    await reached
    const { family } = claimsOf(user.access)
    assert.equal((await api.delete(`/api/auth/sessions/${family}`, user.access)).status, 204)
    release()
    assert.equal((await late).status, 401)
  })

  test('with a key, fifty at once are one request', async () => {
    const api = await shared()
    const user = await signIn(api)
    const responses = await many(50, () => refresh(api, user.refresh, key))
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200])
    assert.equal(new Set(responses.map(({ body }) => claimsOf(body.refresh_token).jti)).size, 1)
  })

  test('a retry after the successor was used is reuse; nobody gets a superseded pair', async () => {
    const api = await shared()
    const user = await signIn(api)
    const second = (await refresh(api, user.refresh, key)).body
    const third = (await refresh(api, second.refresh_token, key)).body
    assert.equal((await refresh(api, user.refresh, key)).status, 401)
    await assertDead(api, third.access_token, third.refresh_token)
  })
})

onAnyEngine('refresh', (engine) => {
  const shared = shareApi({ engine, env: { JWT_ACCESS_TTL: '2000000' } })

  test('an expired token is refused; a superseded one still ends the family', async () => {
    const api = await shared()
    const expired = await signIn(api)
    const used = await signIn(api)
    api.clock.advance(600_000)
    const next = (await refresh(api, used.refresh)).body
    api.clock.advance(5000)
    const late = await refresh(api, expired.refresh)
    assert.deepEqual([late.status, late.body], [401, { error: 'Invalid refresh token' }])
    assert.ok(await isSignedIn(api, expired.access), 'an expired token that was never used is no theft')
    assert.equal((await refresh(api, used.refresh)).status, 401)
    await assertDead(api, next.access_token, next.refresh_token)
  })

  test('a family ends 90 days after its login, however often it is refreshed', async () => {
    const api = await shared()
    let { refresh: token } = await signIn(api)
    const start = Number(claimsOf(token).iat)
    for (let day = 6; day <= 84; day += 6) {
      api.clock.advance(6 * 86_400)
      const { status, body } = await refresh(api, token)
      assert.equal(status, 200, `day ${day}`)
      token = body.refresh_token
      const end = start + 90 * 86_400
      assert.ok(Number(claimsOf(token).exp) <= end && body.expires_at <= end)
    }
    api.clock.advance(6 * 86_400 + 1)
    assert.equal((await refresh(api, token)).status, 401)
  })

  test('only refresh tokens are accepted', async () => {
    const api = await shared()
    const user = await signIn(api)
    for (const token of [user.access, '', 'nonsense', 'a.b.c']) {
      const response = await refresh(api, token)
      assert.deepEqual([response.status, response.body], [401, { error: 'Invalid refresh token' }])
    }
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: 7 })).status, 422)
    assert.equal((await api.get('/me', user.refresh)).status, 401)
    assert.ok(await isSignedIn(api, user.access))
  })

  test('with a key, a retry within 60 seconds gets the same pair again', async () => {
    const api = await shared()
    const user = await signIn(api)
    const first = await refresh(api, user.refresh, key)
    api.clock.advance(55)
    const retry = await refresh(api, user.refresh, key)
    assert.equal(retry.status, 200)
    assert.deepEqual(claimsOf(retry.body.refresh_token), claimsOf(first.body.refresh_token))
    assert.deepEqual(claimsOf(retry.body.access_token), claimsOf(first.body.access_token))
    assert.ok(await isSignedIn(api, retry.body.access_token))
    assert.equal((await refresh(api, retry.body.refresh_token)).status, 200, 'there is one chain, and it goes on')
  })

  const reuses: [string, (api: Api, token: string) => Promise<{ status: number }>][] = [
    ['another key', (api, token) => refresh(api, token, `${key}-other`)],
    ['no key', (api, token) => refresh(api, token)],
    ['a key that is too short', (api, token) => refresh(api, token, key.slice(0, 15))],
    [
      'the same key after 61 seconds',
      (api, token) => {
        api.clock.advance(62)
        return refresh(api, token, key)
      },
    ],
  ]

  for (const [what, attempt] of reuses) {
    test(`a retry with ${what} is reuse and ends the family`, async () => {
      const api = await shared()
      const user = await signIn(api)
      const next = (await refresh(api, user.refresh, key)).body
      assert.equal((await attempt(api, user.refresh)).status, 401)
      await assertDead(api, next.access_token, next.refresh_token)
    })
  }
})

onAnyEngine('sessions', (engine) => {
  test('are listed with device and address, the current one marked, and ended one by one', async (t) => {
    const api = await startApi(t, { engine })
    const user = await signIn(api)
    const headers = { 'user-agent': 'Phone/1.0' }
    const login = await api.request('POST', '/api/auth/login', {
      json: { email: user.email, password: 'Correct-Horse-1' },
      headers,
    })
    const phone = login.body.access_token
    const { status, body } = await api.get('/api/auth/sessions', user.access)
    assert.equal(status, 200)
    assert.equal(body.data.length, 2)
    for (const session of body.data) {
      assert.deepEqual(Object.keys(session).sort(), [
        'address',
        'created_at',
        'current',
        'id',
        'last_used_at',
        'user_agent',
      ])
      assert.equal(session.address, '127.0.0.1')
      assert.match(session.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
    const other = body.data.find((session: { current: boolean }) => !session.current)
    assert.equal(other.user_agent, 'Phone/1.0')

    const stranger = await signIn(api)
    assert.equal((await api.delete(`/api/auth/sessions/${other.id}`, stranger.access)).status, 404)
    assert.ok(await isSignedIn(api, phone))
    assert.equal((await api.delete(`/api/auth/sessions/${other.id}`, user.access)).status, 204)
    assert.equal(await isSignedIn(api, phone), false)
    assert.equal((await api.delete(`/api/auth/sessions/${other.id}`, user.access)).status, 404)
    assert.equal((await api.get('/api/auth/sessions', user.access)).body.data.length, 1)
  })
})
