/** Regression tests for attacks and accidents. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashSync } from '@node-rs/bcrypt'
import { shareApi, startApi } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { holdWrite } from '../support/held-write.ts'
import {
  challengeOf,
  claimsOf,
  enableTwoFactor,
  isSignedIn,
  logIn,
  password,
  register,
  signIn,
  totp,
} from '../support/people.ts'
import { shareWithRoles, startApiWithRoles } from '../support/roles.ts'

onRacingEngine('authentication', (engine) => {
  const { shared, withRoles: withDatabase } = shareWithRoles({ engine })

  test('null characters, invalid Unicode and endless emails get the usual errors', async () => {
    const api = await shared()
    const user = await signIn(api)
    for (const email of [
      'a\0b@example.com',
      `${'x'.repeat(3000)}@example.com`,
      `${'x'.repeat(500_000)}`,
      '\ud800@example.com',
    ]) {
      assert.deepEqual((await api.post('/api/auth/login', { email, password })).body, { error: 'Invalid credentials' })
      assert.equal((await api.post('/api/auth/password/forgot', { email })).status, 202)
      assert.equal((await api.post('/api/auth/register', { email, password })).status, 422)
    }
    for (const name of ['a\0b', '\ud800']) {
      const response = await api.post('/api/auth/register', { email: 'n@example.com', password, name })
      assert.deepEqual([response.status, response.body.details], [422, { name: ['Must be valid text'] }])
    }
    for (const id of ['%00', 'a%00b', 'x'.repeat(90), '%F0%9F%97%9D']) {
      assert.equal((await api.delete(`/api/auth/sessions/${id}`, user.access)).status, 404)
    }
    // Mails are sent after the response, in the order of the requests.
    await api.post('/api/auth/password/forgot', { email: user.email })
    await eventually(() => assert.match(api.log.join(''), /Reset token: /))
    assert.ok(!api.log.join('').includes('"level":"error"'))
  })

  test('an overlong email is locked out like any other', async () => {
    const api = await shared()
    const email = `${'x'.repeat(5000)}@example.com`
    for (let i = 0; i < 4; i++) assert.equal((await logIn(api, email)).status, 401)
    assert.equal((await logIn(api, email)).status, 423)
    assert.equal((await logIn(api, `y${email}`)).status, 401)
  })

  test('an Idempotency-Key of a thousand characters is as good as one of sixteen', async () => {
    const api = await shared()
    const user = await signIn(api)
    const refresh = () =>
      api.request('POST', '/api/auth/refresh', {
        json: { refresh_token: user.refresh },
        headers: { 'idempotency-key': 'k'.repeat(1000) },
      })
    const [first, second] = [await refresh(), await refresh()]
    assert.deepEqual([first.status, second.status], [200, 200])
    assert.equal(claimsOf(first.body.refresh_token).jti, claimsOf(second.body.refresh_token).jti)
  })

  test('a login that is running while two-factor is turned on ends in a challenge', async (t) => {
    const api = await withDatabase()
    const user = await signIn(api)
    const { secret } = (await api.post('/api/auth/2fa/setup', { password }, user.access)).body
    const { reached, release } = holdWrite(t, api.db, 'INSERT INTO sessions')
    const login = logIn(api, user.email)
    await reached
    const enabled = await api.post('/api/auth/2fa/enable', { code: totp(api, secret) }, user.access)
    assert.equal(enabled.status, 200)
    release()
    const { body } = await login
    assert.equal(body.access_token, undefined, 'nobody gets in without the second factor once it is on')
    assert.equal(body.requires_2fa, true)
  })

  test('the old password cannot turn two-factor off after a password change', async (t) => {
    const api = await withDatabase()
    const next = 'Another-Pass-2'
    const start = async () => {
      const user = await signIn(api)
      const { recoveryCodes } = await enableTwoFactor(api, user)
      const change = { current_password: password, new_password: next }
      return {
        email: user.email,
        change: () => api.post('/api/auth/password', change, user.access),
        disable: () => api.post('/api/auth/2fa/disable', { password, code: recoveryCodes[0] }, user.access),
      }
    }
    const late = await start()
    const { reached, release } = holdWrite(t, api.db, 'DELETE FROM two_factor')
    const disabling = late.disable()
    await reached
    assert.equal((await late.change()).status, 200)
    release()
    assert.equal((await disabling).status, 401)
    assert.equal((await logIn(api, late.email, next)).body.requires_2fa, true)

    // In either order, the old password must not work afterwards.
    const racing = await start()
    const [changed, disabled] = await Promise.all([racing.change(), racing.disable()])
    assert.equal(changed.status, 200)
    const login = await logIn(api, racing.email, next)
    assert.equal(login.body.requires_2fa === true, disabled.status !== 200)
  })

  test('codes of neighbouring steps each work once, in any order', async () => {
    const api = await shared()
    const user = await signIn(api)
    const { secret } = await enableTwoFactor(api, user)
    api.clock.advance(90)
    for (const offset of [30, 0, -30]) {
      const verify = async () =>
        (
          await api.post('/api/auth/2fa/verify', {
            challenge_token: await challengeOf(api, user.email),
            code: totp(api, secret, offset),
          })
        ).status
      assert.equal(await verify(), 200)
      assert.equal(await verify(), 401)
    }
  })
})

onAnyEngine('authentication', (engine) => {
  const shared = shareApi({ engine, env: { JWT_ACCESS_TTL: '7200' } })

  test('emails with control or invisible characters are refused, and every violated rule is reported', async () => {
    const api = await shared()
    for (const email of [
      'a\u0001@example.com',
      '\u200ba@example.com',
      'a\u00a0b@example.com',
      'a\u202eb@example.com',
    ]) {
      const response = await api.post('/api/auth/register', { email, password })
      assert.deepEqual(response.body.details, { email: ['Must be a valid email address'] })
    }
    const long = await api.post('/api/auth/register', { email: 'a'.repeat(300), password })
    assert.deepEqual(long.body.details, { email: ['Must be a valid email address', 'Must be at most 255 characters'] })
  })

  test('a Bearer header with extra text is an invalid token, an empty one a missing token', async () => {
    const api = await shared()
    const ask = async (authorization: string) =>
      (await api.request('GET', '/me', { headers: { authorization } })).body.error
    assert.equal(await ask('Bearer a b'), 'Invalid access token')
    assert.equal(await ask('Bearer'), 'Missing access token')
    assert.equal(await ask('Token x'), 'Missing access token')
  })

  test('recovery codes work even if the key of the secret is lost', async (t) => {
    const first = await startApi(t, { engine })
    const user = await signIn(first)
    const { secret, recoveryCodes } = await enableTwoFactor(first, user)
    await first.close()
    const env = { DATABASE_URL: first.databaseUrl, JWT_SECRET: 'another secret that knows nothing of the first' }
    const second = await startApi(t, { engine, env })
    const verify = async (code: string) =>
      (await second.post('/api/auth/2fa/verify', { challenge_token: await challengeOf(second, user.email), code }))
        .status
    assert.equal(await verify(totp(second, secret, 30)), 401)
    assert.equal(await verify(recoveryCodes[0] ?? ''), 200)
  })

  test('a set-up that was never confirmed expires after an hour', async () => {
    const api = await shared()
    const user = await signIn(api)
    const { secret } = (await api.post('/api/auth/2fa/setup', { password }, user.access)).body
    api.clock.advance(3601)
    assert.equal((await api.post('/api/auth/2fa/enable', { code: totp(api, secret) }, user.access)).status, 422)
  })

  test('endpoints that ask for the password again are rate limited per user', async (t) => {
    const api = await startApi(t, { engine, env: { RATE_LIMIT_VERIFY: '3/60' } })
    const user = await signIn(api)
    const other = await signIn(api)
    for (let i = 0; i < 3; i++)
      assert.equal((await api.post('/api/auth/2fa/setup', { password }, user.access)).status, 200)
    const limited = await api.post('/api/auth/2fa/setup', { password }, user.access)
    assert.deepEqual([limited.status, limited.body], [429, { error: 'Too many attempts' }])
    const change = { current_password: password, new_password: 'Another-Pass-2' }
    assert.equal((await api.post('/api/auth/password', change, user.access)).status, 429)
    assert.equal((await api.post('/api/auth/2fa/setup', { password }, other.access)).status, 200)
    assert.ok(await isSignedIn(api, user.access))
  })

  test('users with two-factor get a hash with the current cost too', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: { BCRYPT_COST: '5' } })
    const user = await signIn(api)
    await enableTwoFactor(api, user)
    await api.db.write({ sql: 'UPDATE users SET password_hash = $1', params: [hashSync(password, 4)] })
    await challengeOf(api, user.email)
    const row = await api.db.get<{ password_hash: string }>('SELECT password_hash FROM users')
    assert.match(row?.password_hash ?? '', /^\$2b\$05\$/)
  })

  test('an empty form field counts as missing', async () => {
    const api = await shared()
    const user = await signIn(api)
    const response = await api.request('POST', '/api/auth/logout', { form: { all_devices: '' }, token: user.access })
    assert.equal(response.status, 200)
  })
})

test('the link in a mail keeps the path of the public address', async (t) => {
  const api = await startApi(t, { env: { PUBLIC_URL: 'https://example.com/base/' } })
  const { email } = await register(api)
  await api.post('/api/auth/password/forgot', { email })
  const link = /https:\/\/example\.com\/base\/console\/password\/reset\?token=/
  await eventually(() => assert.match(api.log.join(''), link))
})
