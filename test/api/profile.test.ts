import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPeriod } from '../../src/testing/clock.ts'
import { type Api, share, shareApi, startApi, unlimitedRates } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { mailedToken, mailedTokens, startMailing, startWithMail, waitForMails } from '../support/mailbox.ts'
import {
  again,
  challengeOf,
  enableTwoFactor,
  isSignedIn,
  logIn,
  many,
  password,
  register,
  signIn,
  totp,
} from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const remove = (api: Api, body: object, token: string) => api.request('DELETE', '/api/auth/me', { json: body, token })

onRacingEngine("one's own account", (engine) => {
  const shared = share((owner) => startMailing(owner, engine, unlimitedRates, startApiWithRoles))

  test('the name changes, and no other field does', async () => {
    const { api } = await shared()
    const user = await signIn(api)
    const { status, body } = await api.put('/api/auth/me', { name: 'Ada Lovelace', roles: ['admin'] }, user.access)
    assert.equal(status, 200)
    assert.deepEqual(body, { id: user.id, email: user.email, name: 'Ada Lovelace', roles: [] })
    assert.deepEqual((await api.get('/me', user.access)).body, body)
    const long = await api.put('/api/auth/me', { name: 'x'.repeat(256) }, user.access)
    assert.deepEqual(long.body.details, { name: ['Must be at most 255 characters'] })
    assert.equal((await api.put('/api/auth/me', { name: 'x' })).status, 401)
  })

  test('with mail another email is confirmed by its mailbox, and the old one is told', async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    const before = mailbox.messages.length
    const ask = async (email: string) => {
      const { status } = await api.post('/api/auth/email', { email, password }, user.access)
      assert.equal(status, 202)
    }
    const token = await mailedToken(mailbox, 'Confirmation', () => ask('confirmed@example.com'))
    assert.match(mailbox.messages[before] ?? '', /To: confirmed@example\.com/)
    assert.ok(mailbox.messages[before]?.includes(`https://app.example.com/console/email/confirm?token=${token}`))
    assert.equal((await api.get('/me', user.access)).body.email, user.email, 'not yet')
    const results = await many(10, () => api.post('/api/auth/email/confirm', { token }, user.access))
    assert.equal(results.filter(({ status }) => status === 200).length, 1)
    assert.equal((await api.get('/me', user.access)).body.email, 'confirmed@example.com')
    await waitForMails(mailbox, before + 2)
    assert.ok(mailbox.messages[before + 1]?.includes(`To: ${user.email}`))

    const late = await mailedToken(mailbox, 'Confirmation', () => ask('later@example.com'))
    api.clock.advance(86_401)
    assert.equal((await api.post('/api/auth/email/confirm', { token: late }, user.access)).status, 401)
  })

  test('a new email that somebody else takes meanwhile is refused when it is confirmed', async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    const token = await mailedToken(mailbox, 'Confirmation', () =>
      api.post('/api/auth/email', { email: 'wanted@example.com', password }, user.access),
    )
    await register(api, 'wanted@example.com')
    const { status, body } = await api.post('/api/auth/email/confirm', { token }, user.access)
    assert.deepEqual([status, body.error], [409, 'Email already registered'])
    assert.equal((await api.get('/me', user.access)).body.email, user.email)
  })

  test('an account is deleted with its password, and with a code where the second factor is on', async () => {
    const { api } = await shared()
    startPeriod(api.clock)
    const user = await signIn(api)
    assert.equal((await remove(api, { password: 'wrong' }, user.access)).status, 401)
    assert.equal((await remove(api, { password }, user.access)).status, 204)
    assert.ok(!(await isSignedIn(api, user.access)))
    assert.equal((await logIn(api, user.email)).status, 401)
    await register(api, user.email)

    const careful = await signIn(api)
    const { secret } = await enableTwoFactor(api, careful)
    api.clock.advance(60)
    const without = await remove(api, { password }, careful.access)
    assert.deepEqual([without.status, without.body.error], [401, 'Invalid two-factor code'])
    assert.equal((await remove(api, { password, code: '000000' }, careful.access)).status, 401)
    assert.equal((await remove(api, { password, code: totp(api, secret) }, careful.access)).status, 204)
  })

  test('the last administrator cannot delete themselves; of two at once one stays', async () => {
    const { api } = await shared()
    const first = await api.signInAs('admin')
    const alone = await remove(api, { password }, first.access)
    assert.deepEqual([alone.status, alone.body.error], [409, 'Last administrator'])
    const second = await api.signInAs('admin')
    const both = await Promise.all([first, second].map(({ access }) => remove(api, { password }, access)))
    assert.deepEqual(both.map(({ status }) => status).sort(), [204, 409])
  })
})

onAnyEngine("one's own account", (engine) => {
  const shared = share((owner) => startWithMail(owner, engine, unlimitedRates))

  test('a reset that was mailed to the old address is void once the address has changed', async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    const reset = await mailedToken(mailbox, 'Reset', () =>
      api.post('/api/auth/password/forgot', { email: user.email }),
    )
    const token = await mailedToken(mailbox, 'Confirmation', () =>
      api.post('/api/auth/email', { email: 'moved@example.com', password }, user.access),
    )
    assert.equal((await api.post('/api/auth/email/confirm', { token }, user.access)).status, 200)
    const late = await api.post('/api/auth/password/reset', { token: reset, password: 'Another-Pass-2' })
    assert.equal(late.status, 401)
  })

  test('wrong passwords for a deletion lock that session, as everywhere', async () => {
    const { api } = await shared()
    const user = await signIn(api)
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await remove(api, { password: 'wrong' }, user.access)).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 423])
    assert.equal((await remove(api, { password }, user.access)).status, 423)
    assert.equal((await logIn(api, user.email)).status, 200)
  })

  test('without mail another email works at once, with the password alone', async (t) => {
    const api = await startApi(t, { engine, env: { NODE_ENV: 'production' } })
    const user = await signIn(api)
    const other = await register(api)
    const change = (email: string, given = password) =>
      api.post('/api/auth/email', { email, password: given }, user.access)
    assert.equal((await change('new@example.com', 'wrong')).status, 401)
    assert.equal((await change('no address')).status, 422)
    const taken = await change(other.email.toUpperCase())
    assert.deepEqual([taken.status, taken.body.error], [409, 'Email already registered'])
    assert.equal((await change(' NEW@example.com ')).status, 200)
    assert.ok(await isSignedIn(api, user.access))
    assert.equal((await api.get('/me', user.access)).body.email, 'new@example.com')
    assert.equal((await logIn(api, 'new@example.com')).status, 200)
    assert.equal((await logIn(api, user.email)).status, 401)
  })
})

onRacingEngine('verified addresses', (engine) => {
  test('where they are required, a login waits for the link of the mail', async (t) => {
    const { api, mailbox } = await startWithMail(t, engine, { VERIFY_EMAIL: 'true' })
    let email = ''
    const token = await mailedToken(mailbox, 'Verification', async () => {
      email = (await register(api)).email
    })
    assert.ok(mailbox.messages[0]?.includes(`https://app.example.com/console/verify?token=${token}`))
    const refused = await logIn(api, email)
    assert.deepEqual([refused.status, refused.body], [403, { error: 'Email not verified' }])
    await waitForMails(mailbox, 2)
    assert.equal((await logIn(api, email, 'wrong')).status, 401, 'a wrong password learns nothing of it')
    for (let i = 0; i < 4; i++) assert.equal((await logIn(api, email)).status, 403)
    await waitForMails(mailbox, 3)
    const results = await many(10, () => api.post('/api/auth/email/verify', { token, password }))
    assert.equal(results.filter(({ status }) => status === 200).length, 1)
    assert.equal((await logIn(api, email)).status, 200)
    assert.equal(mailbox.messages.length, 3, 'three an hour')
    assert.equal((await api.post('/api/auth/email/verify', { token: 'x' })).body.error, 'Invalid verification token')
  })
})

onAnyEngine('verified addresses', (engine) => {
  const env = { ...unlimitedRates, VERIFY_EMAIL: 'true' }
  const shared = share((owner) => startMailing(owner, engine, env, startApiWithRoles))

  test('a challenge signs nobody in once the address is no longer verified, and stays valid', async () => {
    const { api, mailbox } = await shared()
    let user = { id: 0, email: '' }
    const token = await mailedToken(mailbox, 'Verification', async () => {
      user = await register(api)
    })
    assert.equal((await api.post('/api/auth/email/verify', { token, password })).status, 200)
    const { secret } = await enableTwoFactor(api, await again(api, user))
    api.clock.advance(60)
    const challenge_token = await challengeOf(api, user.email)
    const code = totp(api, secret)
    const setVerified = (at: string | null) =>
      api.db.write({ sql: 'UPDATE users SET email_verified_at = $1 WHERE id = $2', params: [at, user.id] })
    await setVerified(null)
    const wrong = await api.post('/api/auth/2fa/verify', { challenge_token, code: '000000' })
    assert.equal(wrong.body.error, 'Invalid two-factor code')
    await mailedToken(mailbox, 'Verification', async () => {
      const refused = await api.post('/api/auth/2fa/verify', { challenge_token, code })
      assert.deepEqual([refused.status, refused.body], [403, { error: 'Email not verified' }])
    })
    const browser = openConsole(api)
    await browser.open('/console/sign-in')
    await browser.submit('/console/sign-in', { email: user.email, password })
    await setVerified(api.clock.nowIso())
    await browser.open('/console/sign-in')
    await browser.submit('/console/sign-in', { email: user.email, password })
    await setVerified(null)
    const page = await browser.submit('/console/sign-in/code', { code })
    assert.deepEqual([page.status, page.location], [403, undefined])
    assert.match(page.text, /Your email isn't verified yet\. We sent you a new link\./)
    await setVerified(api.clock.nowIso())
    assert.equal((await api.post('/api/auth/2fa/verify', { challenge_token, code })).status, 200)
  })

  test('under a lock the right password of an unverified address is told the lock', async () => {
    const { api, mailbox } = await shared()
    const { email } = await register(api)
    // A mail of the test before may come at the same time.
    await eventually(() => assert.equal(mailedTokens(mailbox, 'Verification', email).length, 1))
    for (let i = 0; i < 5; i++) await logIn(api, email, 'wrong')
    assert.equal((await logIn(api, email)).status, 423)
  })

  test('a reset of an address that was verified leaves the second factor', async () => {
    const { api, mailbox } = await shared()
    let user = { id: 0, email: '' }
    const verification = await mailedToken(mailbox, 'Verification', async () => {
      user = await register(api)
    })
    assert.equal((await api.post('/api/auth/email/verify', { token: verification, password })).status, 200)
    await enableTwoFactor(api, await again(api, user))
    const { email } = user
    const token = await mailedToken(mailbox, 'Reset', () => api.post('/api/auth/password/forgot', { email }))
    assert.equal((await api.post('/api/auth/password/reset', { token, password: 'Another-Pass-2' })).status, 200)
    assert.equal((await logIn(api, email, 'Another-Pass-2')).body.requires_2fa, true)
  })
})

const configured = shareApi({ env: { REFUSE_COMMON_PASSWORDS: 'true', AUTH_ISSUER_NAME: 'Acme Shop' } })

test('common and personal passwords are refused where that is switched on, at every door', async () => {
  const api = await configured()
  const email = 'lovelace@example.com'
  const attempt = (given: string) => api.post('/api/auth/register', { email, password: given, name: 'Ada' })
  assert.deepEqual((await attempt('Password123')).body.details, { password: ['Must not be a common password'] })
  assert.deepEqual((await attempt('My-Lovelace-1')).body.details, { password: ['Must not contain your email or name'] })
  const user = await signIn(api, email)
  const change = (new_password: string) =>
    api.post('/api/auth/password', { current_password: password, new_password }, user.access)
  assert.deepEqual((await change('Dragon2024')).body.details, { new_password: ['Must not be a common password'] })
  assert.deepEqual((await change('Old-Lovelace-19')).body.details, {
    new_password: ['Must not contain your email or name'],
  })
  assert.equal((await change('Quiet-Otter-5')).status, 200)
})

test('authenticator apps show the configured name', async () => {
  const api = await configured()
  const user = await signIn(api)
  const { body } = await api.post('/api/auth/2fa/setup', { password }, user.access)
  assert.match(body.otpauth_url, /^otpauth:\/\/totp\/Acme%20Shop:.*issuer=Acme%20Shop/)
})
