/** A device that completed a login is known: strangers can lock the account, but not its owner out of it. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { forEngines, onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { deviceTokenIn, isKnown, lockOut, logInFrom, manyAddresses, newDevice } from '../support/devices.ts'
import { eventually } from '../support/eventually.ts'
import { startDescribedApi } from '../support/openapi-document.ts'
import { again, challengeOf, enableTwoFactor, many, password, register, signIn, totp } from '../support/people.ts'
import { shareWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

const day = 86_400
const services = forEngines((engine) => shareWithRoles({ engine, env: manyAddresses }))

onRacingEngine('a known device', (engine) => {
  test('gets an opaque token of 256 bits at a completed login, kept as a hash alone', async () => {
    const api = await services[engine].withRoles()
    const { id, email } = await register(api)
    assert.equal((await logInFrom(api, email, { given: 'wrong' })).headers.get('x-device-token'), null)
    const { token } = await newDevice(api, email)
    assert.match(token, /^[\w-]{43}$/)
    assert.equal(Buffer.from(token, 'base64url').length, 32)
    const rows = await api.db.all<{ user_id: number; token_hash: string }>('SELECT * FROM devices WHERE user_id = $1', [
      id,
    ])
    assert.deepEqual(
      rows.map(({ user_id, token_hash }) => [user_id, token_hash]),
      [[id, hash('sha256', token, 'base64url')]],
    )
    for (const table of ['devices', 'sessions', 'audit', 'login_attempts']) {
      assert.ok(!JSON.stringify(await api.db.all(`SELECT * FROM ${table}`)).includes(token), table)
    }
    assert.ok(!api.log.join('').includes(token))
    assert.notEqual((await newDevice(api, email)).token, token)
  })

  test('keeps its token at the next login, however many come at once', async () => {
    const api = await services[engine].withRoles()
    const { id, email } = await register(api)
    const { token } = await newDevice(api, email)
    const answers = await many(amount({ full: 20, otherwise: 8 }), () => logInFrom(api, email, { token }))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.deepEqual(new Set(answers.map(deviceTokenIn)), new Set([token]))
    assert.equal((await api.db.all('SELECT id FROM devices WHERE user_id = $1', [id])).length, 1)
  })

  test('of fifty wrong logins at once is told four times that they are wrong, and strangers are not touched', async () => {
    const api = await services[engine].shared()
    const { email } = await register(api)
    const { token } = await newDevice(api, email)
    const answers = await many(50, () => logInFrom(api, email, { token, given: 'wrong' }))
    assert.equal(answers.filter(({ status }) => status === 401).length, 4)
    const refused = answers.filter(({ status }) => status === 423)
    assert.equal(refused.length, 46)
    assert.equal(new Set(refused.map(({ body }) => body.locked_until)).size, 1)
    assert.equal((await logInFrom(api, email, {})).status, 200)
  })

  test('gets in every time while fifty strangers guess at once', async () => {
    const api = await services[engine].shared()
    const { email } = await register(api)
    const { token } = await newDevice(api, email)
    const [guesses, logins] = await Promise.all([
      many(50, (i) => logInFrom(api, email, { given: 'wrong', address: `203.0.113.${i}` })),
      many(amount({ full: 20, otherwise: 6 }), () => logInFrom(api, email, { token })),
    ])
    assert.deepEqual(new Set(logins.map(({ status }) => status)), new Set([200]))
    assert.equal(guesses.filter(({ status }) => status === 401).length, 4)
    assert.equal(guesses.filter(({ status }) => status === 423).length, 46)
  })

  test('is one of twenty: the twenty-first takes the place of the least recently used', async () => {
    const api = await services[engine].withRoles()
    const { id, email } = await register(api)
    const countOf = (user: number) => api.db.all('SELECT count(*) AS n FROM devices WHERE user_id = $1', [user])
    const tokens: string[] = []
    for (let i = 0; i < 20; i++) {
      tokens.push((await newDevice(api, email)).token)
      api.clock.advance(1)
    }
    const [first = '', second = '', third = ''] = tokens
    assert.equal((await logInFrom(api, email, { token: first })).status, 200, 'used again')
    api.clock.advance(1)
    const latest = await newDevice(api, email)
    await lockOut(api, email)
    assert.equal(await isKnown(api, email, second), false)
    for (const token of [first, third, latest.token]) assert.ok(await isKnown(api, email, token))

    api.clock.advance(901)
    await many(amount({ full: 30, otherwise: 8 }), () => newDevice(api, email))
    assert.deepEqual(await countOf(id), [{ n: 20 }])
    const other = await register(api)
    assert.equal((await newDevice(api, other.email)).token.length, 43)
    assert.deepEqual([await countOf(id), await countOf(other.id)], [[{ n: 20 }], [{ n: 1 }]], 'others have their own')
  })
})

onAnyEngine('a known device', (engine) => {
  test('signs in while strangers keep the account locked, and unlocks nothing for them', async () => {
    const api = await services[engine].shared()
    const { email } = await register(api)
    const { token } = await newDevice(api, email)
    const until = await lockOut(api, email)
    for (let i = 0; i < 3; i++) {
      assert.equal((await logInFrom(api, email, { token })).status, 200)
      const stranger = await logInFrom(api, email, {})
      assert.deepEqual([stranger.status, stranger.body.locked_until], [423, until])
    }
    api.clock.advance(901)
    for (let i = 0; i < 4; i++) assert.equal((await logInFrom(api, email, { given: 'wrong' })).status, 401)
    assert.equal((await logInFrom(api, email, { token })).status, 200)
    assert.equal((await logInFrom(api, email, { given: 'wrong' })).status, 423, "the strangers' count goes on")
  })

  test('has a counter of its own, of as many attempts and seconds', async () => {
    const api = await services[engine].shared()
    const { email } = await register(api)
    const { token } = await newDevice(api, email)
    const other = await newDevice(api, email)
    const wrong = { token, given: 'wrong' }
    for (let i = 0; i < 4; i++) assert.equal((await logInFrom(api, email, wrong)).status, 401)
    assert.equal((await logInFrom(api, email, { token })).status, 200, 'which clears it')
    for (let i = 0; i < 4; i++) assert.equal((await logInFrom(api, email, wrong)).status, 401)
    const locked = await logInFrom(api, email, wrong)
    const until = locked.body.locked_until
    assert.equal(locked.status, 423)
    assert.ok(Math.abs(until - api.clock.nowSeconds() - 900) <= 1)
    assert.deepEqual((await logInFrom(api, email, { token })).body, locked.body, 'the right password too')
    assert.equal(
      (await logInFrom(api, email, { token: other.token })).status,
      200,
      'another device does not know of it',
    )
    assert.equal((await logInFrom(api, email, {})).status, 200, 'nor do strangers')
    api.clock.advance(until - api.clock.nowSeconds() + 1)
    assert.equal((await logInFrom(api, email, { token })).status, 200)
  })

  // A whole day takes long. Two hours meet every token of the attacker twice.
  const hours = amount({ full: engine === 'sqlite' ? 24 : 3, otherwise: 2 })

  test('buys an attacker nothing: hours of guesses are as many as without devices, with twenty tokens of his own', async () => {
    const api = await services[engine].shared()
    const owner = await register(api, 'owner@example.com')
    const { token } = await newDevice(api, owner.email)
    const attacker = await register(api, 'attacker@example.com')
    const own: string[] = []
    for (let i = 0; i < 20; i++) own.push((await newDevice(api, attacker.email)).token)
    assert.ok(own.length === 20)

    /** Guesses until there is nothing to be learned for now. Returns how many answers told something. */
    let address = 0
    let turn = 0
    async function guess(email: string, tokens: readonly string[]): Promise<number> {
      for (let told = 0; ; told++) {
        address++
        const token = tokens.length > 0 ? tokens[turn++ % tokens.length] : undefined
        const from = { token, given: 'wrong', address: `10.0.${address >> 8}.${address & 255}` }
        const { status } = await logInFrom(api, email, from)
        if (status === 423) return told
        assert.equal(status, 401)
      }
    }
    const told = { withTokens: 0, without: 0 }
    const end = api.clock.nowSeconds() + hours * 3600
    let logins = 0
    while (api.clock.nowSeconds() < end) {
      told.withTokens += await guess(owner.email, own)
      told.without += await guess('plain@example.com', [])
      assert.equal((await logInFrom(api, owner.email, {})).status, 423, 'an unknown device')
      assert.equal((await logInFrom(api, owner.email, { token })).status, 200, "the owner's")
      logins++
      api.clock.advance(900)
    }
    assert.equal(logins, hours * 4)
    assert.deepEqual(told, { withTokens: logins * 4, without: logins * 4 })
  })

  test('is a stranger with a token that was tampered with, made up, of another account or expired', async () => {
    const api = await services[engine].shared()
    const { email } = await register(api)
    const { token } = await newDevice(api, email)
    const theirs = await newDevice(api, (await register(api, 'other@example.com')).email)
    await lockOut(api, email)
    const tampered = `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`
    const strangers = [
      '',
      'x',
      tampered,
      token.slice(1),
      `${token}x`,
      token.toUpperCase(),
      'x'.repeat(8000),
      theirs.token,
    ]
    for (const each of strangers) assert.equal(await isKnown(api, email, each), false, each.slice(0, 50))
    assert.ok(await isKnown(api, email, token))

    api.clock.advance(901)
    const wrong = await logInFrom(api, email, { token: theirs.token })
    assert.notEqual(deviceTokenIn(wrong), theirs.token, "another account's is left alone, and a new one is made")
    assert.equal((await logInFrom(api, 'other@example.com', { token: theirs.token })).status, 200)
  })

  test('is known for 180 days from its last login, and then no more', async () => {
    const api = await services[engine].shared()
    const { email } = await register(api)
    const { token } = await newDevice(api, email)
    for (let i = 0; i < 2; i++) {
      api.clock.advance(180 * day - 3600)
      await lockOut(api, email)
      assert.ok(await isKnown(api, email, token), `after ${i + 1} times 180 days`)
    }
    api.clock.advance(180 * day)
    await lockOut(api, email)
    assert.equal(await isKnown(api, email, token), false)
    api.clock.advance(901)
    assert.notEqual(deviceTokenIn(await logInFrom(api, email, { token })), token)
  })

  test('with a second factor is made by the code, and its wrong codes count on it', async () => {
    const api = await services[engine].shared()
    const user = await signIn(api)
    const { secret } = await enableTwoFactor(api, user)
    const verify = (challenge_token: string, code: string, token?: string) =>
      api.request('POST', '/api/auth/2fa/verify', {
        json: { challenge_token, code },
        headers: token === undefined ? {} : { 'x-device-token': token },
      })
    api.clock.advance(60)
    const halfway = await logInFrom(api, user.email, {})
    assert.equal(halfway.headers.get('x-device-token'), null, 'a password alone makes none')
    const token = deviceTokenIn(await verify(halfway.body.challenge_token, totp(api, secret)))

    const challenge = await challengeOf(api, user.email)
    for (let i = 0; i < 4; i++) assert.equal((await verify(challenge, '000000')).status, 401)
    assert.equal((await verify(challenge, '000000')).status, 423)
    api.clock.advance(60)
    const locked = await logInFrom(api, user.email, {})
    assert.equal(locked.status, 423)
    const mine = await logInFrom(api, user.email, { token })
    assert.equal(mine.body.requires_2fa, true)
    for (let i = 0; i < 4; i++) assert.equal((await verify(mine.body.challenge_token, '000000', token)).status, 401)
    const done = await verify(mine.body.challenge_token, totp(api, secret), token)
    assert.deepEqual([done.status, deviceTokenIn(done)], [200, token])
    assert.equal((await logInFrom(api, user.email, {})).body.locked_until, locked.body.locked_until)
    const fresh = await logInFrom(api, user.email, { token })
    for (let i = 0; i < 4; i++) assert.equal((await verify(fresh.body.challenge_token, '000000', token)).status, 401)
    assert.equal((await verify(fresh.body.challenge_token, '000000', token)).status, 423)
    assert.equal((await logInFrom(api, user.email, { token })).status, 423)
  })
})

onRacingEngine('a device is forgotten', (engine) => {
  test('with its user', async () => {
    const api = await services[engine].withRoles()
    const user = await signIn(api)
    await again(api, user)
    const before = await api.db.all('SELECT id FROM devices WHERE user_id = $1', [user.id])
    assert.equal(before.length, 2)
    await api.db.write({ sql: 'DELETE FROM users WHERE id = $1', params: [user.id] })
    assert.deepEqual(await api.db.all('SELECT id FROM devices WHERE user_id = $1', [user.id]), [])
  })
})

onAnyEngine('a device is forgotten', (engine) => {
  test('by a password change, unless it made the change', async () => {
    const api = await services[engine].shared()
    const { email } = await register(api)
    const [mine, other] = [await newDevice(api, email), await newDevice(api, email)]
    const next = 'Another-Pass-2'
    const change = (token: string, access: string, from: string, to: string) =>
      api.request('POST', '/api/auth/password', {
        json: { current_password: from, new_password: to },
        token: access,
        headers: { 'x-device-token': token },
      })
    assert.equal((await change(mine.token, mine.access, password, next)).status, 200)
    await lockOut(api, email)
    assert.deepEqual(
      [await isKnown(api, email, mine.token, next), await isKnown(api, email, other.token, next)],
      [true, false],
    )
    const { body } = await logInFrom(api, email, { token: mine.token, given: next })
    const without = { current_password: next, new_password: password }
    assert.equal((await api.post('/api/auth/password', without, body.access_token)).status, 200)
    assert.equal(await isKnown(api, email, mine.token), false, 'where none is presented, all are')
  })

  test('by a reset of the password, whichever it was', async () => {
    const api = await services[engine].shared()
    const { email } = await register(api)
    const { token } = await newDevice(api, email)
    await api.post('/api/auth/password/forgot', { email })
    const reset = await eventually(() => /Reset token: ([\w-]+)/.exec(api.log.join(''))?.[1] ?? assert.fail('no mail'))
    const next = 'Another-Pass-2'
    assert.equal((await api.post('/api/auth/password/reset', { token: reset, password: next })).status, 200)
    await lockOut(api, email)
    assert.equal(await isKnown(api, email, token, next), false)
  })

  test('with its session, where another device ends that, and not by its own logout', async () => {
    const api = await services[engine].shared()
    const user = await register(api)
    const [mine, other] = [await newDevice(api, user.email), await newDevice(api, user.email)]
    const stranger = await signIn(api)
    const idOf = async (access: string) =>
      (await api.get('/api/auth/sessions', access)).body.data.find((each: { current: boolean }) => each.current).id
    const [own, others] = [await idOf(mine.access), await idOf(other.access)]
    await lockOut(api, user.email)
    assert.equal((await api.delete(`/api/auth/sessions/${others}`, stranger.access)).status, 404)
    assert.ok(await isKnown(api, user.email, other.token), 'not by a stranger')
    assert.equal((await api.delete(`/api/auth/sessions/${others}`, mine.access)).status, 204)
    assert.equal(await isKnown(api, user.email, other.token), false)

    assert.equal((await api.post('/api/auth/logout', {}, mine.access)).status, 200)
    assert.ok(await isKnown(api, user.email, mine.token))
    const twice = await logInFrom(api, user.email, { token: mine.token })
    assert.equal((await api.delete(`/api/auth/sessions/${own}`, twice.body.access_token)).status, 204)
    assert.ok(await isKnown(api, user.email, mine.token), 'an older session of the same device')
    const last = await logInFrom(api, user.email, { token: mine.token })
    const current = await idOf(last.body.access_token)
    assert.equal((await api.delete(`/api/auth/sessions/${current}`, last.body.access_token)).status, 204)
    assert.ok(await isKnown(api, user.email, mine.token), 'its own session')
  })

  test('by a logout everywhere, but for the one that is presented', async () => {
    const api = await services[engine].shared()
    const user = await register(api)
    const [mine, other] = [await newDevice(api, user.email), await newDevice(api, user.email)]
    await lockOut(api, user.email)
    const everywhere = (access: string, headers: Record<string, string>) =>
      api.request('POST', '/api/auth/logout', { json: { all_devices: true }, token: access, headers })
    assert.equal((await everywhere(mine.access, { 'x-device-token': mine.token })).status, 200)
    assert.equal(await isKnown(api, user.email, other.token), false)
    const { body } = await logInFrom(api, user.email, { token: mine.token })
    assert.equal((await everywhere(body.access_token, {})).status, 200)
    assert.equal(await isKnown(api, user.email, mine.token), false)
  })
})

test('the description of the API has the token, of the request and of the answer, and pages of other origins may read it', async (t) => {
  const { document, request } = await startDescribedApi(t)
  const takes = (path: string) =>
    (document.paths[path]?.post?.parameters ?? []).some(
      ({ name, in: place }) => `${place} ${name}` === 'header x-device-token',
    )
  for (const path of ['login', '2fa/verify', 'password', 'logout']) assert.ok(takes(`/api/auth/${path}`), path)
  for (const path of ['login', '2fa/verify']) {
    const response = document.paths[`/api/auth/${path}`]?.post?.responses['200']
    assert.ok(response && 'headers' in response && response.headers?.['x-device-token'], path)
  }
  const { headers } = await request('POST', '/api/auth/login', {
    json: {},
    headers: { origin: 'https://shop.example' },
  })
  assert.match(headers.get('access-control-expose-headers') ?? '', /\bx-device-token\b/)
})
