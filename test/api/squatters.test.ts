/** Somebody registers the address of another person, or wants theirs to belong to an account. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { assertPasskey, enrol, loginOptions } from '../support/authenticator.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { isKnown, lockOut, logInFrom, newDevice } from '../support/devices.ts'
import { makeKey } from '../support/keys.ts'
import { mailedToken, startMailing } from '../support/mailbox.ts'
import { challengeOf, enableTwoFactor, isSignedIn, logIn, password, signIn, totp } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const origin = 'https://app.example.com'
const next = 'Another-Pass-2'

/** A service with mail, and for each test a user of its own. */
function shareAddresses(engine: Dialect) {
  const shared = share((owner) => startMailing(owner, engine, unlimitedRates, startApiWithRoles))

  return async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    const verification = () =>
      mailedToken(mailbox, 'Verification', () => api.post('/api/auth/email/verification', undefined, user.access))
    const change = (email: string) =>
      mailedToken(mailbox, 'Confirmation', () => api.post('/api/auth/email', { email, password }, user.access))
    const resetToken = () =>
      mailedToken(mailbox, 'Reset', () => api.post('/api/auth/password/forgot', { email: user.email }))
    const reset = async (more: object = {}) => {
      const { status } = await api.post('/api/auth/password/reset', {
        token: await resetToken(),
        password: next,
        ...more,
      })
      assert.equal(status, 200)
    }
    const isVerified = async () =>
      (
        await api.db.get<{ email_verified_at: string | null }>('SELECT email_verified_at FROM users WHERE id = $1', [
          user.id,
        ])
      )?.email_verified_at !== null
    return { api, user, verification, change, resetToken, reset, isVerified }
  }
}

onRacingEngine("somebody else's address", (engine) => {
  const begin = shareAddresses(engine)

  test('is verified only with a session of the account or its password', async () => {
    const { api, user, verification, isVerified } = await begin()
    const other = await signIn(api)
    const token = await verification()
    const verify = (body: object, access?: string) => api.post('/api/auth/email/verify', { token, ...body }, access)
    const { key } = await makeKey(api, user.access)
    const refused = [
      [await verify({}), 401, 'Missing access token'],
      [await verify({}, 'x'), 401, 'Invalid access token'],
      [await verify({}, other.access), 403, 'Forbidden'],
      [await verify({ password: 'wrong' }), 401, 'Invalid credentials'],
      [await verify({ password: 'wrong' }, other.access), 401, 'Invalid credentials'],
      [await verify({ password }, key), 403, 'Forbidden'],
    ] as const
    for (const [{ status, body }, ...expected] of refused) assert.deepEqual([status, body.error], expected)
    assert.equal(await isVerified(), false)
    const { status, body } = await verify({}, user.access)
    assert.deepEqual([status, body], [200, { message: 'Email verified' }])
    assert.equal(await isVerified(), true)
    assert.equal((await verify({}, user.access)).body.error, 'Invalid verification token')

    const second = await begin()
    const byPassword = { token: await second.verification(), password }
    assert.equal((await api.post('/api/auth/email/verify', byPassword, other.access)).status, 200)
    assert.equal(await second.isVerified(), true)
  })

  test('becomes that of an account only with a session of that account or its password', async () => {
    const { api, user, change } = await begin()
    const victim = `victim-${user.id}@example.com`
    const token = await change(victim)
    const confirm = (body: object, access?: string) => api.post('/api/auth/email/confirm', { token, ...body }, access)
    const other = await signIn(api)
    assert.equal((await confirm({})).status, 401)
    assert.equal((await confirm({}, other.access)).status, 403)
    assert.equal((await confirm({ password: 'wrong' })).status, 401)
    assert.equal((await api.get('/me', user.access)).body.email, user.email)
    assert.equal((await confirm({ password })).status, 200)
    assert.equal((await api.get('/me', user.access)).body.email, victim)
  })

  test('a first reset leaves a squatter nothing', async () => {
    const { api, user, change, resetToken, reset, isVerified } = await begin()
    const { email } = user
    const browser = openConsole(api)
    await browser.signIn(email)
    const { token: device } = await newDevice(api, email)
    const { key } = await makeKey(api, user.access)
    const { passkey } = await enrol(api, user, { origin })
    const { body: options } = await api.post('/api/auth/passkeys/options', { password }, user.access)
    const pending = await api.post('/api/auth/2fa/setup', { password }, user.access)
    const taken = await change(`taken-${user.id}@example.com`)
    const earlier = await resetToken()
    assert.equal((await api.get('/me', key)).status, 200)

    await reset()
    assert.equal(await isVerified(), true)
    const owner = await logIn(api, email, next)
    assert.equal(typeof owner.body.access_token, 'string')
    assert.equal(await isSignedIn(api, user.access), false)
    const refresh = { json: { refresh_token: user.refresh }, headers: { 'idempotency-key': 'x'.repeat(20) } }
    assert.equal((await api.request('POST', '/api/auth/refresh', refresh)).status, 401)
    assert.equal((await browser.open('/console/account')).location?.startsWith('/console/sign-in'), true)
    assert.equal((await api.get('/me', key)).status, 401)
    const response = assertPasskey(passkey, await loginOptions(api), { origin })
    assert.equal((await api.post('/api/auth/passkeys/login', { response })).status, 401)
    assert.equal((await api.post('/api/auth/passkeys', { name: 'x', response: options }, user.access)).status, 401)
    assert.equal((await api.post('/api/auth/email/confirm', { token: taken, password })).status, 401)
    assert.equal((await api.post('/api/auth/email/confirm', { token: taken, password: next })).status, 401)
    assert.equal((await api.post('/api/auth/password/reset', { token: earlier, password })).status, 401)
    const enabling = { code: totp(api, pending.body.secret) }
    assert.equal((await api.post('/api/auth/2fa/enable', enabling, owner.body.access_token)).status, 422)
    for (const table of ['passkeys', 'api_keys', 'two_factor']) {
      assert.deepEqual(await api.db.all(`SELECT user_id FROM ${table} WHERE user_id = $1`, [user.id]), [], table)
    }
    await lockOut(api, email)
    assert.equal(await isKnown(api, email, device, next), false)
    const trail = await api.db.all<{ changes: string }>(
      `SELECT changes FROM audit WHERE user_id = $1 AND event = 'password_reset'`,
      [user.id],
    )
    assert.deepEqual(
      trail.map(({ changes }) => (typeof changes === 'string' ? JSON.parse(changes) : changes)),
      [{ passkeys: { from: 1, to: 0 }, api_keys: { from: 1, to: 0 }, pending_two_factor: { from: 1, to: 0 } }],
    )
  })

  test('no reset removes an authenticator app; an administrator does, and passkeys with it', async () => {
    const { api, user, resetToken, reset } = await begin()
    const { email } = user
    await enableTwoFactor(api, user)
    const challenge = await challengeOf(api, email)
    const page = await openConsole(api).open(`/console/password/reset?token=${await resetToken()}`)
    assert.match(page.text, /never verified.*removes passkeys.*an administrator can reset two-factor/)
    await reset()
    const { body } = await logIn(api, email, next)
    assert.equal(body.requires_2fa, true)
    const code = await api.post('/api/auth/2fa/verify', { challenge_token: challenge, code: '000000' })
    assert.equal(code.body.error, 'Invalid challenge token')

    const admin = await api.signInAs('admin')
    assert.equal((await api.delete(`/api/admin/users/${user.id}/2fa`, admin.access)).status, 204)
    assert.equal(typeof (await logIn(api, email, next)).body.access_token, 'string')
  })

  test('a later reset keeps passkeys and keys unless it is told to remove the passkeys', async () => {
    const { api, user, verification, resetToken, reset } = await begin()
    await api.post('/api/auth/email/verify', { token: await verification(), password })
    await enrol(api, user, { origin })
    await enrol(api, user, { origin })
    const { key } = await makeKey(api, user.access)
    const count = async () => (await api.db.all('SELECT id FROM passkeys WHERE user_id = $1', [user.id])).length
    await reset()
    assert.equal(await count(), 2)
    assert.equal((await api.get('/me', key)).status, 200)
    const browser = openConsole(api)
    const link = `/console/password/reset?token=${await resetToken()}`
    assert.match((await browser.open(link)).text, /Remove your 2 passkeys too/)
    const weak = await browser.submit('/console/password/reset', { password: 'weak', remove_passkeys: 'true' })
    assert.match(weak.html, /name="remove_passkeys" value="true" checked/)
    const sent = await browser.submit('/console/password/reset', { password, remove_passkeys: 'true' })
    assert.equal(sent.notice, 'password-reset')
    assert.equal(await count(), 0)
    assert.equal((await api.get('/me', key)).status, 200)
  })
})

onAnyEngine("somebody else's address", (engine) => {
  const begin = shareAddresses(engine)

  test('a wrong password for a link counts like one at a login, for the account or the known device', async () => {
    const { api, user, verification, isVerified } = await begin()
    const { token: device } = await newDevice(api, user.email)
    const token = await verification()
    const verify = (given: string, headers: Record<string, string> = {}) =>
      api.request('POST', '/api/auth/email/verify', { json: { token, password: given }, headers })
    for (let i = 0; i < 3; i++) assert.equal((await verify('wrong')).status, 401)
    assert.equal((await logIn(api, user.email, 'wrong')).status, 401)
    const fifth = await verify('wrong')
    assert.equal(fifth.status, 423)
    const right = await verify(password)
    assert.deepEqual([right.status, right.body], [423, fifth.body])
    assert.equal((await logIn(api, user.email)).status, 423)
    assert.equal(await isVerified(), false)
    assert.equal((await verify('wrong', { 'x-device-token': device })).status, 401)
    assert.equal((await verify(password, { 'x-device-token': device })).status, 200, 'the lock is that of strangers')
    assert.equal((await logIn(api, user.email)).status, 423, 'only a completed login clears anything')
  })

  test('the pages of links name the account, and ask others than its owner for the password', async () => {
    const { api, user, verification, change, isVerified } = await begin()
    const other = await signIn(api)
    const stranger = openConsole(api)
    await stranger.signIn(other.email)
    const link = `/console/verify?token=${await verification()}`
    const page = await stranger.open(link)
    assert.match(page.text, new RegExp(`Account ${user.email}.*signed in as ${other.email}.*Password`))
    assert.equal((await stranger.submit('/console/verify')).status, 422)
    const wrong = await stranger.submit('/console/verify', { password: 'wrong' })
    assert.equal(wrong.status, 401)
    assert.match(wrong.text, /This is not your password/)
    assert.equal(await isVerified(), false)
    const done = await stranger.submit('/console/verify', { password })
    assert.deepEqual([done.location, done.notice], ['/console/sign-in', 'email-verified'])
    assert.equal(await isVerified(), true)

    const address = `new-${user.id}@example.com`
    const confirmation = `/console/email/confirm?token=${await change(address)}`
    const anonymous = await openConsole(api).open(confirmation)
    assert.match(anonymous.text, new RegExp(`Account ${user.email} New address ${address}.*You're not signed in`))
    const owner = openConsole(api)
    await owner.signIn(user.email)
    assert.doesNotMatch((await owner.open(confirmation)).html, /type="password"/)
    assert.equal((await owner.submit('/console/email/confirm')).location, '/console/account')
    assert.equal((await api.get('/me', user.access)).body.email, address)
  })

  test('a first reset removes passkeys also while these are switched off', async (t) => {
    const { api, mailbox } = await startMailing(t, engine, unlimitedRates, startApiWithRoles)
    const user = await signIn(api)
    await enrol(api, user, { origin })
    await api.app.close()
    const env = { ...unlimitedRates, MAIL_URL: mailbox.url, PUBLIC_URL: origin, DATABASE_URL: api.databaseUrl }
    const without = await startApiWithRoles(t, { engine, env: { ...env, FEATURES_DISABLED: 'passkeys' } })
    const token = await mailedToken(mailbox, 'Reset', () =>
      without.post('/api/auth/password/forgot', { email: user.email }),
    )
    assert.equal((await without.post('/api/auth/password/reset', { token, password: next })).status, 200)
    assert.deepEqual(await without.db.all('SELECT user_id FROM passkeys'), [])
  })

  test('a changed password removes passkeys if it is told to, on the account page too', async () => {
    const { api, user } = await begin()
    await enrol(api, user, { origin })
    const list = async (access: string) => (await api.get('/api/auth/passkeys', access)).body.data.length
    const kept = { current_password: password, new_password: next }
    assert.equal((await api.post('/api/auth/password', kept, user.access)).status, 200)
    const { access_token: access } = (await logInFrom(api, user.email, { given: next })).body
    assert.equal(await list(access), 1)
    const removed = { current_password: next, new_password: password, remove_passkeys: true }
    assert.equal((await api.post('/api/auth/password', removed, access)).status, 200)
    const again = await logIn(api, user.email)
    assert.equal(await list(again.body.access_token), 0)

    await enrol(api, { ...user, access: again.body.access_token }, { origin })
    const browser = openConsole(api)
    await browser.signIn(user.email)
    assert.match((await browser.open('/console/account')).text, /Remove your passkey too/)
    const fields = { current_password: password, new_password: next, remove_passkeys: 'true' }
    assert.equal((await browser.submit('/console/account/password', fields)).notice, 'password-changed')
    assert.equal(await list((await logIn(api, user.email, next)).body.access_token), 0)
  })
})
