import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareApi, startApi } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { again, claimsOf, isSignedIn, logIn, many, password, register, signIn } from '../support/people.ts'
import { amount } from '../support/tiers.ts'

const locked = 'Account temporarily locked after too many failed attempts'

onRacingEngine('login', (engine) => {
  const shared = shareApi({ engine })

  for (const who of ['a known', 'an unknown'] as const) {
    test(`the fifth failure locks ${who} email for 900 seconds, which nothing extends`, async () => {
      const api = await shared()
      const email = who === 'a known' ? (await register(api)).email : 'stranger@example.com'
      for (let i = 0; i < 4; i++) assert.equal((await logIn(api, email, 'wrong')).status, 401)
      const fifth = await logIn(api, ` ${email.toUpperCase()} `, 'wrong')
      assert.equal(fifth.status, 423)
      const until = fifth.body.locked_until
      assert.deepEqual(fifth.body, { error: locked, locked_until: until })
      assert.ok(Math.abs(until - (api.clock.nowSeconds() + 900)) <= 1)

      api.clock.advance(450)
      assert.deepEqual((await logIn(api, email, 'wrong')).body, { error: locked, locked_until: until })
      assert.deepEqual((await logIn(api, email)).body, { error: locked, locked_until: until }, 'the right password too')
      api.clock.advance(448)
      assert.equal((await logIn(api, email)).status, 423)
      api.clock.advance(3)
      assert.equal((await logIn(api, email)).status, who === 'a known' ? 200 : 401)
      // The count starts over.
      for (let i = who === 'a known' ? 0 : 1; i < 4; i++) assert.equal((await logIn(api, email, 'wrong')).status, 401)
      assert.equal((await logIn(api, email, 'wrong')).status, 423)
    })
  }

  test('a completed login clears the failure count, and so does a day', async () => {
    const api = await shared()
    const { email } = await register(api)
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 4; i++) assert.equal((await logIn(api, email, 'wrong')).status, 401)
      if (round % 2 === 0) assert.equal((await logIn(api, email)).status, 200)
      else api.clock.advance(86_401)
    }
    assert.equal((await logIn(api, email)).status, 200)
  })

  test('of a hundred parallel wrong logins four are 401, all others 423 with the same locked_until', async () => {
    const api = await shared()
    const { email } = await register(api)
    const count = amount({ full: 100, otherwise: 30 })
    const responses = await many(count, () => logIn(api, email, 'wrong'))
    assert.equal(responses.filter(({ status }) => status === 401).length, 4)
    const refused = responses.filter(({ status }) => status === 423)
    assert.equal(refused.length, count - 4)
    assert.equal(new Set(refused.map(({ body }) => body.locked_until)).size, 1)
  })

  test('of parallel wrong and right logins no more than five reveal anything once the email is locked', async () => {
    const api = await shared()
    const { email } = await register(api)
    for (let i = 0; i < 4; i++) await logIn(api, email, 'wrong')
    const responses = await many(amount({ full: 40, otherwise: 24 }), (i) =>
      logIn(api, email, i === 12 ? password : 'wrong'),
    )
    const told = responses.filter(({ status }) => status !== 423)
    // The right one may come before the lock and reset the count; then four more wrong ones get 401, and no more.
    assert.ok(told.length <= 5, `${told.length} answers told something`)
    assert.ok(told.filter(({ status }) => status === 200).length <= 1)
  })

  test('a hundred parallel logins with the right password all succeed', async () => {
    const api = await shared()
    const { email } = await register(api)
    const count = amount({ full: 100, otherwise: 30 })
    const responses = await many(count, () => logIn(api, email))
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200])
    assert.equal(new Set(responses.map(({ body }) => claimsOf(body.access_token).family)).size, count)
  })

  test('logout of all devices ends every session of the user and of nobody else', async () => {
    const api = await shared()
    const user = await signIn(api)
    const other = await again(api, user)
    const stranger = await signIn(api)
    assert.equal((await api.post('/api/auth/logout', { all_devices: true }, user.access)).status, 200)
    for (const { access, refresh } of [user, other]) {
      assert.equal(await isSignedIn(api, access), false)
      assert.equal((await api.post('/api/auth/refresh', { refresh_token: refresh })).status, 401)
    }
    assert.ok(await isSignedIn(api, stranger.access))
    const anew = await again(api, user)
    assert.equal(claimsOf(anew.access).ver, 2)
  })
})

onAnyEngine('login', (engine) => {
  const shared = shareApi({ engine })

  test('returns a token pair with the specified claims', async () => {
    const api = await shared()
    const user = await register(api)
    const { status, body, headers } = await logIn(api, user.email)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).sort(), ['access_token', 'expires_at', 'refresh_token', 'token_type'])
    assert.equal(body.token_type, 'Bearer')
    assert.equal(headers.get('cache-control'), 'no-store')
    const access = claimsOf(body.access_token)
    const refresh = claimsOf(body.refresh_token)
    const names = ['aud', 'exp', 'family', 'iat', 'iss', 'jti', 'sub', 'type', 'ver']
    assert.deepEqual([Object.keys(access).sort(), Object.keys(refresh).sort()], [names, names])
    assert.equal(access.iss, 'service')
    assert.equal(access.sub, String(user.id))
    assert.equal(access.ver, 1)
    assert.deepEqual([access.type, refresh.type], ['access', 'refresh'])
    assert.equal(access.family, refresh.family)
    assert.equal(body.expires_at, access.exp)
    assert.equal(Number(access.exp) - Number(access.iat), 1800)
    assert.equal(Number(refresh.exp) - Number(refresh.iat), 604_800)
  })

  test('a wrong password, an unknown email and missing fields are the same 401', async () => {
    const api = await shared()
    const { email } = await register(api)
    for (const body of [
      { email, password: 'wrong' },
      { email: 'nobody@example.com', password },
      { email },
      {},
      { email: null, password: null },
    ]) {
      const response = await api.post('/api/auth/login', body)
      assert.equal(response.status, 401)
      assert.deepEqual(response.body, { error: 'Invalid credentials' })
      assert.equal(response.headers.get('www-authenticate'), 'Bearer')
    }
    const typed = await api.post('/api/auth/login', { email: 5, password: true })
    assert.deepEqual(
      [typed.status, typed.body.details],
      [422, { email: ['Must be a string'], password: ['Must be a string'] }],
    )
  })

  test('an access token is valid for 1800 seconds, not one more', async () => {
    const api = await shared()
    const user = await signIn(api)
    api.clock.advance(1798)
    assert.ok(await isSignedIn(api, user.access))
    api.clock.advance(2)
    const response = await api.get('/me', user.access)
    assert.deepEqual([response.status, response.body], [401, { error: 'Invalid access token' }])
  })

  test('logout ends only the access token it was sent with', async () => {
    const api = await shared()
    const user = await signIn(api)
    const other = await again(api, user)
    const response = await api.post('/api/auth/logout', {}, user.access)
    assert.equal(response.status, 200)
    assert.equal(typeof response.body.message, 'string')
    assert.equal(await isSignedIn(api, user.access), false)
    assert.ok(await isSignedIn(api, other.access))
    const refreshed = await api.post('/api/auth/refresh', { refresh_token: user.refresh })
    assert.equal(refreshed.status, 200, 'the refresh token of the family still works')
    assert.ok(await isSignedIn(api, refreshed.body.access_token))
  })

  test('logout needs a token, and a valid body if there is one', async () => {
    const api = await shared()
    assert.deepEqual((await api.post('/api/auth/logout')).body, { error: 'Missing access token' })
    const basic = await api.request('POST', '/api/auth/logout', { headers: { authorization: 'Basic eDp5' } })
    assert.deepEqual([basic.status, basic.body], [401, { error: 'Missing access token' }])
    const user = await signIn(api)
    const typed = await api.post('/api/auth/logout', { all_devices: 'yes' }, user.access)
    assert.deepEqual([typed.status, typed.body.details], [422, { all_devices: ['Must be true or false'] }])
    const bare = await api.request('POST', '/api/auth/logout', { token: user.access })
    assert.equal(bare.status, 200)
  })

  test('a password change ends every session and needs the current password', async () => {
    const api = await shared()
    const user = await signIn(api)
    const change = (current_password: string, new_password: string) =>
      api.post('/api/auth/password', { current_password, new_password }, user.access)
    const wrong = await change('wrong', 'Another-Pass-2')
    assert.deepEqual([wrong.status, wrong.body], [401, { error: 'Invalid credentials' }])
    const weak = await change(password, 'weak')
    assert.equal(weak.status, 422)
    assert.deepEqual(Object.keys(weak.body.details), ['new_password'])
    assert.equal((await change(password, 'Another-Pass-2')).status, 200)
    assert.equal(await isSignedIn(api, user.access), false)
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: user.refresh })).status, 401)
    assert.equal((await logIn(api, user.email)).status, 401)
    assert.equal((await logIn(api, user.email, 'Another-Pass-2')).status, 200)
  })

  test('wrong passwords of a signed-in user count for that session, wherever one is asked for', async () => {
    const api = await shared()
    const user = await signIn(api)
    const change = (current_password: string) =>
      api.post('/api/auth/password', { current_password, new_password: 'Another-Pass-2' }, user.access)
    for (let i = 0; i < 2; i++) assert.equal((await change('wrong')).status, 401)
    for (let i = 0; i < 2; i++)
      assert.equal((await api.post('/api/auth/2fa/setup', { password: 'no' }, user.access)).status, 401)
    assert.equal((await change('wrong')).status, 423)
    assert.equal((await change(password)).status, 423)
    for (const path of ['setup', 'disable', 'recovery-codes']) {
      const refused = await api.post(`/api/auth/2fa/${path}`, { password, code: '000000' }, user.access)
      assert.equal(refused.status, 423, `${path}, though there is no second factor`)
    }
    assert.ok(await isSignedIn(api, user.access), 'a lock ends no session')
    const elsewhere = (await logIn(api, user.email)).body.access_token
    assert.equal((await api.post('/api/auth/2fa/setup', { password }, elsewhere)).status, 200, 'nor another session')
    api.clock.advance(901)
    assert.equal((await change(password)).status, 200)
  })

  test('a lock that strangers set does not reach into a live session', async () => {
    const api = await shared()
    const user = await signIn(api)
    for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
    assert.equal((await logIn(api, user.email)).status, 423)
    const change = { current_password: password, new_password: 'Another-Pass-2' }
    assert.equal((await api.post('/api/auth/password', change, user.access)).status, 200)
  })

  test('an email that looks like the key of another counter locks nothing but itself', async () => {
    const api = await shared()
    const user = await signIn(api)
    const { data } = (await api.get('/api/auth/sessions', user.access)).body
    for (let i = 0; i < 6; i++) await logIn(api, `session ${data[0].id}`, 'wrong')
    assert.equal((await api.post('/api/auth/2fa/setup', { password }, user.access)).status, 200)
  })

  test('the hash follows the configured cost at the next login', async (t) => {
    const first = await startApi(t, { engine, env: { BCRYPT_COST: '4' } })
    const { email } = await register(first)
    await first.close()
    const env = { DATABASE_URL: first.databaseUrl, BCRYPT_COST: '5' }
    let hashes: { password_hash: string }[] = []
    const second = await startApi(t, {
      engine,
      env,
      extend(app, { db }) {
        app.get('/hashes', { config: { access: 'public' } }, async () => {
          hashes = await db.all('SELECT password_hash FROM users')
          return {}
        })
      },
    })
    assert.equal((await logIn(second, email, 'wrong')).status, 401)
    await second.get('/hashes')
    assert.match(hashes[0]?.password_hash ?? '', /^\$2b\$04\$/)
    assert.equal((await logIn(second, email)).status, 200)
    await second.get('/hashes')
    assert.match(hashes[0]?.password_hash ?? '', /^\$2b\$05\$/)
    assert.equal((await logIn(second, email)).status, 200)
  })

  test('is rate limited for each address', async (t) => {
    const api = await startApi(t, {
      engine,
      env: { RATE_LIMIT_LOGIN: '2/60', RATE_LIMIT_REFRESH: '2/60', RATE_LIMIT_VERIFY: '2/60' },
    })
    for (const path of ['login', 'refresh', '2fa/verify']) {
      const statuses = []
      for (let i = 0; i < 3; i++) statuses.push((await api.post(`/api/auth/${path}`)).status)
      assert.deepEqual(statuses, [401, 401, 429], path)
    }
  })
})
