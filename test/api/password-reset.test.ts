import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, share, startApi, unlimitedRates } from '../support/api.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { type Mailbox, mailedToken, startWithMail as start, verifyEmail } from '../support/mailbox.ts'
import { challengeOf, enableTwoFactor, isSignedIn, logIn, many, signIn } from '../support/people.ts'

function forgot(api: Api, email: string) {
  return api.request('POST', '/api/auth/password/forgot', { json: { email }, headers: { host: 'evil.example' } })
}

function reset(api: Api, token: string, password: string) {
  return api.post('/api/auth/password/reset', { token, password })
}

async function tokenFor(api: Api, mailbox: Mailbox, email: string): Promise<string> {
  return mailedToken(mailbox, 'Reset', async () => assert.equal((await forgot(api, email)).status, 202))
}

/** Once its mail has come, those of earlier requests would have, too. */
async function requestByAnother(api: Api, mailbox: Mailbox): Promise<void> {
  await tokenFor(api, mailbox, (await signIn(api)).email)
}

onRacingEngine('password reset', (engine) => {
  const shared = share((owner) => start(owner, engine, unlimitedRates))

  test('mails a link to the configured URL, and the token sets a new password once', async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    const token = await tokenFor(api, mailbox, ` ${user.email.toUpperCase()}`)
    const message = mailbox.messages.at(-1) ?? ''
    assert.match(message, new RegExp(`To: ${user.email}`))
    assert.match(message, /From: Us <us@example\.com>/)
    assert.ok(message.includes(`https://app.example.com/console/password/reset?token=${token}`))
    assert.ok(!message.includes('evil.example'))

    const weak = await reset(api, token, 'weak')
    assert.equal(weak.status, 422)
    assert.ok(Array.isArray(weak.body.details.password))
    const response = await reset(api, token, 'Another-Pass-2')
    assert.equal(response.status, 200, 'a weak password consumed nothing')
    assert.equal(typeof response.body.message, 'string')
    assert.equal(await isSignedIn(api, user.access), false)
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: user.refresh })).status, 401)
    assert.equal((await logIn(api, user.email, 'Another-Pass-2')).status, 200)
    const twice = await reset(api, token, 'Another-Pass-3')
    assert.deepEqual([twice.status, twice.body], [401, { error: 'Invalid reset token' }])
  })

  test('sends at most three mails an hour to an account, however many are requested in parallel', async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    await many(10, () => forgot(api, user.email))
    const mails = () => mailbox.messages.filter((message) => message.includes(`To: ${user.email}`)).length
    await eventually(() => assert.equal(mails(), 3))
    await requestByAnother(api, mailbox)
    assert.equal(mails(), 3)
    api.clock.advance(3601)
    await forgot(api, user.email)
    await eventually(() => assert.equal(mails(), 4))
  })

  test('a reset token is valid for an hour, and of twenty parallel uses one succeeds', async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    const late = await tokenFor(api, mailbox, user.email)
    api.clock.advance(3601)
    assert.equal((await reset(api, late, 'Another-Pass-2')).status, 401)
    const token = await tokenFor(api, mailbox, user.email)
    const responses = await many(20, (i) => reset(api, token, `Another-Pass-${i}`))
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
    for (const wrong of ['', 'x', `${token}x`]) assert.equal((await reset(api, wrong, 'Another-Pass-2')).status, 401)
  })

  test('using one token invalidates the others', async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    const first = await tokenFor(api, mailbox, user.email)
    const second = await tokenFor(api, mailbox, user.email)
    assert.equal((await reset(api, second, 'Another-Pass-2')).status, 200)
    assert.equal((await reset(api, first, 'Another-Pass-3')).status, 401)
  })
})

onAnyEngine('password reset', (engine) => {
  const shared = share((owner) => start(owner, engine, unlimitedRates))

  test('returns the same for every email, and sends no mail to unknown ones', async () => {
    const { api, mailbox } = await shared()
    const user = await signIn(api)
    const before = mailbox.messages.length
    const known = await forgot(api, user.email)
    const unknown = await forgot(api, 'nobody@example.com')
    const none = await forgot(api, '')
    assert.deepEqual([known.status, unknown.status, none.status], [202, 202, 202])
    assert.deepEqual(known.body, unknown.body)
    assert.deepEqual(known.body, none.body)
    await eventually(() => assert.ok(mailbox.messages.some((message) => message.includes(`To: ${user.email}`))))
    await requestByAnother(api, mailbox)
    assert.ok(!mailbox.messages.some((message) => message.includes('To: nobody@example.com')))
    assert.equal(mailbox.messages.length, before + 2)
  })

  test('clears the lock where two-factor is off, and never skips two-factor where it is on', async () => {
    const { api, mailbox } = await shared()
    const plain = await signIn(api)
    for (let i = 0; i < 5; i++) await logIn(api, plain.email, 'wrong')
    assert.equal((await reset(api, await tokenFor(api, mailbox, plain.email), 'Another-Pass-2')).status, 200)
    assert.equal((await logIn(api, plain.email, 'Another-Pass-2')).status, 200)

    const careful = await signIn(api)
    await verifyEmail(api, mailbox, careful.access)
    await enableTwoFactor(api, careful)
    const token = await tokenFor(api, mailbox, careful.email)
    for (let i = 0; i < 5; i++) await logIn(api, careful.email, 'wrong')
    assert.equal((await reset(api, token, 'Correct-Horse-1')).status, 200)
    assert.equal((await logIn(api, careful.email)).status, 423)
    api.clock.advance(901)
    await challengeOf(api, careful.email)
  })
})

test('in development without mail the message goes to the log', async (t) => {
  const api = await startApi(t)
  const user = await signIn(api)
  assert.equal((await forgot(api, user.email)).status, 202)
  const token = await eventually(() => /Reset token: ([\w-]+)/.exec(api.log.join(''))?.[1] ?? assert.fail('no mail'))
  assert.equal((await reset(api, token, 'Another-Pass-2')).status, 200)
})

test('in production without mail it is 503, and an unreachable mail server does not change the response', async (t) => {
  const none = await startApi(t, { env: { NODE_ENV: 'production' } })
  const refused = await forgot(none, 'a@example.com')
  assert.deepEqual([refused.status, refused.body], [503, { error: 'Service unavailable' }])
  await none.close()
  const api = await startApi(t, { env: { MAIL_URL: 'smtp://127.0.0.1:1', PUBLIC_URL: 'https://app.example.com' } })
  const user = await signIn(api)
  assert.equal((await forgot(api, user.email)).status, 202)
})
