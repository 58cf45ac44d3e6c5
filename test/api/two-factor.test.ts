import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, shareApi, shareService, startApi } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { holdWrite } from '../support/held-write.ts'
import { challengeOf, enableTwoFactor, isSignedIn, logIn, many, password, signIn, totp } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

function verify(api: Api, challenge_token: string, code: string) {
  return api.post('/api/auth/2fa/verify', { challenge_token, code })
}

async function start(api: Api) {
  const user = await signIn(api)
  const { secret, recoveryCodes } = await enableTwoFactor(api, user)
  // The code that enabled it is used up; the next step brings a new one.
  api.clock.advance(60)
  return { api, user, secret, recoveryCodes }
}

onRacingEngine('two-factor', (engine) => {
  const shared = shareApi({ engine })
  const withDatabase = shareService(startApiWithRoles, { engine })

  test('is set up with the password, active with the first code, and gives ten recovery codes', async () => {
    const api = await shared()
    const user = await signIn(api)
    assert.deepEqual((await api.get('/api/auth/2fa', user.access)).body, { enabled: false, recovery_codes_left: 0 })
    assert.equal((await api.post('/api/auth/2fa/setup', { password: 'wrong' }, user.access)).status, 401)
    const setUp = await api.post('/api/auth/2fa/setup', { password }, user.access)
    assert.equal(setUp.status, 200)
    assert.deepEqual(Object.keys(setUp.body).sort(), ['otpauth_url', 'qr_code', 'secret'])
    assert.match(setUp.body.secret, /^[A-Z2-7]{32}$/)
    assert.match(setUp.body.otpauth_url, /^otpauth:\/\/totp\/.*secret=[A-Z2-7]{32}/)
    assert.match(setUp.body.qr_code, /^data:image\/svg\+xml/)
    assert.equal((await logIn(api, user.email)).body.token_type, 'Bearer', 'not yet active')

    const wrong = await api.post('/api/auth/2fa/enable', { code: '000000' }, user.access)
    assert.equal(wrong.status, 422)
    assert.ok(Array.isArray(wrong.body.details.code))
    const enabled = await api.post('/api/auth/2fa/enable', { code: totp(api, setUp.body.secret) }, user.access)
    assert.equal(enabled.status, 200)
    assert.equal(enabled.body.recovery_codes.length, 10)
    for (const code of enabled.body.recovery_codes) assert.match(code, /^([A-Z2-7]{4}-){5}[A-Z2-7]{4}$/)
    assert.deepEqual((await api.get('/api/auth/2fa', user.access)).body, { enabled: true, recovery_codes_left: 10 })
    const twice = await api.post('/api/auth/2fa/setup', { password }, user.access)
    assert.deepEqual([twice.status, twice.body], [409, { error: 'Two-factor already enabled' }])
  })

  test('a secret that another has replaced meanwhile is not turned on', async (t) => {
    const api = await withDatabase()
    const user = await signIn(api)
    const setUp = async () => (await api.post('/api/auth/2fa/setup', { password }, user.access)).body.secret
    const first = await setUp()
    const { reached, release } = holdWrite(t, api.db, 'SET enabled = TRUE')
    const late = api.post('/api/auth/2fa/enable', { code: totp(api, first) }, user.access)
    await reached
    assert.notEqual(await setUp(), first)
    release()
    assert.equal((await late).status, 409)
    assert.equal((await api.get('/api/auth/2fa', user.access)).body.enabled, false)
  })

  test('a code sent twenty times in parallel works once, with one challenge or with many', async () => {
    const { api, user, secret } = await start(await shared())
    const one = await challengeOf(api, user.email)
    const code = totp(api, secret)
    const same = await many(20, () => verify(api, one, code))
    assert.equal(same.filter(({ status }) => status === 200).length, 1)

    api.clock.advance(1000)
    const challenges = await many(20, () => challengeOf(api, user.email))
    const next = totp(api, secret)
    const responses = await many(20, (i) => verify(api, challenges[i] ?? '', next))
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
  })

  test('a recovery code works once, in any case and with or without hyphens, even when sent twenty times in parallel', async () => {
    const { api, user, recoveryCodes } = await start(await shared())
    const [first = '', second = ''] = recoveryCodes
    const response = await verify(api, await challengeOf(api, user.email), first.toLowerCase().replaceAll('-', ''))
    assert.equal(response.status, 200)
    assert.deepEqual((await api.get('/api/auth/2fa', response.body.access_token)).body, {
      enabled: true,
      recovery_codes_left: 9,
    })
    assert.equal((await verify(api, await challengeOf(api, user.email), first)).status, 401)
    const challenges = await many(20, () => challengeOf(api, user.email))
    const responses = await many(20, (i) => verify(api, challenges[i] ?? '', second))
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
  })

  test('is turned off with password and code, and login is one step again', async () => {
    const { api, user, secret } = await start(await shared())
    const disable = (body: object) => api.post('/api/auth/2fa/disable', body, user.access)
    assert.deepEqual((await disable({ password: 'wrong', code: totp(api, secret) })).body, {
      error: 'Invalid credentials',
    })
    assert.deepEqual((await disable({ password, code: '000000' })).body, { error: 'Invalid two-factor code' })
    const done = await disable({ password, code: totp(api, secret) })
    assert.equal(done.status, 200)
    assert.equal(typeof done.body.message, 'string')
    assert.equal((await logIn(api, user.email)).body.token_type, 'Bearer')
    assert.deepEqual((await api.get('/api/auth/2fa', user.access)).body, { enabled: false, recovery_codes_left: 0 })
  })

  test('parallel requests to turn it off with one code count no failure', async () => {
    const { api, user, recoveryCodes } = await start(await shared())
    const responses = await many(8, () =>
      api.post('/api/auth/2fa/disable', { password, code: recoveryCodes[0] }, user.access),
    )
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200, 409]))
  })

  test('new recovery codes replace the old ones', async () => {
    const { api, user, secret, recoveryCodes } = await start(await shared())
    const renewed = await api.post('/api/auth/2fa/recovery-codes', { password, code: totp(api, secret) }, user.access)
    assert.equal(renewed.status, 200)
    assert.equal(renewed.body.recovery_codes.length, 10)
    assert.equal((await verify(api, await challengeOf(api, user.email), recoveryCodes[0] ?? '')).status, 401)
    assert.equal((await verify(api, await challengeOf(api, user.email), renewed.body.recovery_codes[0])).status, 200)
  })
})

onAnyEngine('two-factor', (engine) => {
  const shared = shareApi({ engine })

  test('makes login return a challenge, which a code exchanges for a pair without token_type', async () => {
    const { api, user, secret } = await start(await shared())
    const login = await logIn(api, user.email)
    assert.deepEqual(Object.keys(login.body).sort(), ['challenge_token', 'requires_2fa'])
    assert.equal(login.body.requires_2fa, true)
    assert.equal((await api.get('/me', login.body.challenge_token)).status, 401)
    const response = await verify(api, login.body.challenge_token, totp(api, secret))
    assert.equal(response.status, 200)
    assert.deepEqual(Object.keys(response.body).sort(), ['access_token', 'expires_at', 'refresh_token'])
    assert.ok(await isSignedIn(api, response.body.access_token))
    const again = await verify(api, login.body.challenge_token, totp(api, secret, 30))
    assert.deepEqual([again.status, again.body], [401, { error: 'Invalid challenge token' }])
  })

  test('a challenge lives 300 seconds and survives a wrong code', async () => {
    const { api, user, secret } = await start(await shared())
    const challenge = await challengeOf(api, user.email)
    api.clock.advance(297)
    const wrong = await verify(api, challenge, '000000')
    assert.deepEqual([wrong.status, wrong.body], [401, { error: 'Invalid two-factor code' }])
    assert.equal((await verify(api, challenge, totp(api, secret))).status, 200)
    const late = await challengeOf(api, user.email)
    api.clock.advance(300)
    const response = await verify(api, late, totp(api, secret))
    assert.deepEqual([response.status, response.body], [401, { error: 'Invalid challenge token' }])
  })

  test('accepts the codes of one step either side, each once', async () => {
    const { api, user, secret } = await start(await shared())
    for (const offset of [-60, 60]) {
      assert.equal((await verify(api, await challengeOf(api, user.email), totp(api, secret, offset))).status, 401)
    }
    assert.equal((await verify(api, await challengeOf(api, user.email), totp(api, secret, -30))).status, 200)
    assert.equal((await verify(api, await challengeOf(api, user.email), totp(api, secret, 30))).status, 200)
    assert.equal((await verify(api, await challengeOf(api, user.email), totp(api, secret, 30))).status, 401)
  })

  test('wrong codes count towards the lock, and the right password alone clears nothing', async () => {
    const { api, user, secret } = await start(await shared())
    for (let i = 0; i < 4; i++) {
      const challenge = await challengeOf(api, user.email)
      assert.equal((await verify(api, challenge, '000000')).status, 401)
    }
    const challenge = await challengeOf(api, user.email)
    const fifth = await verify(api, challenge, '000000')
    assert.equal(fifth.status, 423)
    assert.equal(typeof fifth.body.locked_until, 'number')
    assert.equal((await verify(api, challenge, totp(api, secret))).status, 423, 'the right code too')
    assert.equal((await logIn(api, user.email)).status, 423)
  })

  test('a password change invalidates challenges', async () => {
    const { api, user, secret } = await start(await shared())
    const challenge = await challengeOf(api, user.email)
    const change = { current_password: password, new_password: 'Another-Pass-2' }
    assert.equal((await api.post('/api/auth/password', change, user.access)).status, 200)
    const response = await verify(api, challenge, totp(api, secret))
    assert.deepEqual([response.status, response.body], [401, { error: 'Invalid challenge token' }])
  })

  test('turning two-factor off when it is off does not count as a failed attempt', async () => {
    const api = await shared()
    const user = await signIn(api)
    for (const path of ['disable', 'recovery-codes']) {
      for (const body of [{ password, code: '000000' }, { password: 'wrong', code: '' }, {}]) {
        const response = await api.post(`/api/auth/2fa/${path}`, body, user.access)
        assert.deepEqual([response.status, response.body], [409, { error: 'Two-factor not enabled' }])
      }
    }
    assert.equal((await logIn(api, user.email)).status, 200)
  })

  test('an empty code is refused and not counted', async () => {
    const { api, user, secret } = await start(await shared())
    const challenge = await challengeOf(api, user.email)
    for (let i = 0; i < 6; i++) {
      for (const response of [
        await verify(api, challenge, ' '),
        await api.post('/api/auth/2fa/disable', { password }, user.access),
      ]) {
        assert.deepEqual([response.status, response.body], [401, { error: 'Invalid two-factor code' }])
      }
    }
    assert.equal((await verify(api, challenge, totp(api, secret))).status, 200)
  })

  test('secrets are encrypted at rest, and outlive a change of the signing secret', async (t) => {
    const old = 'the old secret that signs and encrypts for a while'
    const first = await startApi(t, { engine, env: { JWT_SECRET: old } })
    const user = await signIn(first)
    const { secret } = await enableTwoFactor(first, user)
    await first.close()
    let stored: Record<string, string>[] = []
    const look = {
      extend(
        app: import('fastify').FastifyInstance,
        { db }: { db: import('../../src/platform/database/database.ts').Database },
      ) {
        app.get('/stored', { config: { access: 'public' as const } }, async () => {
          stored = await db.all(
            'SELECT t.secret, r.code_hash FROM two_factor t JOIN recovery_codes r ON r.user_id = t.user_id',
          )
          return {}
        })
      },
    }
    const env = { DATABASE_URL: first.databaseUrl, JWT_PREVIOUS_SECRETS: old }
    const second = await startApi(t, { engine, env, ...look })
    second.clock.advance(60)
    assert.ok(await isSignedIn(second, user.access), 'the old secret still verifies')
    await second.get('/stored')
    const before = stored[0]?.secret
    assert.ok(before && !before.includes(secret))
    for (const row of stored) assert.match(row.code_hash ?? '', /^[0-9a-f]{64}$/)
    const challenge = await challengeOf(second, user.email)
    assert.equal((await verify(second, challenge, totp(second, secret))).status, 200)
    await second.get('/stored')
    assert.notEqual(stored[0]?.secret, before, 'what is used is encrypted anew')

    const third = await startApi(t, { engine, env: { DATABASE_URL: first.databaseUrl } })
    third.clock.advance(120)
    assert.equal(await isSignedIn(third, user.access), false, 'without the old secret its tokens are void')
    assert.equal((await verify(third, await challengeOf(third, user.email), totp(third, secret))).status, 200)
  })
})
