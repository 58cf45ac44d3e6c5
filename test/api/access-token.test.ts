/** Access tokens that /docs and /graphiql get from the session of the console. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share, unlimitedRates } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { claimsOf, isSignedIn, register } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const path = '/console/access-token'
const asJson = { accept: 'application/json' }

onAnyEngine('an access token of the console', (engine) => {
  const shared = share((owner) => startApiWithRoles(owner, { engine, env: unlimitedRates }))

  test('works for five minutes, as the user, and is in the audit trail', async () => {
    const api = await shared()
    const { user, browser, token } = await start(api)
    const me = await api.get('/me', token)
    assert.deepEqual([me.status, me.body.id], [200, user.id])
    const { exp, iat, type } = claimsOf(token)
    assert.deepEqual([Number(exp) - Number(iat), type], [300, 'access'])
    const entries = await api.db.all('SELECT event, outcome, actor_id FROM audit WHERE user_id = $1 AND event = $2', [
      user.id,
      'access_token',
    ])
    assert.deepEqual(entries, [{ event: 'access_token', outcome: 'success', actor_id: user.id }])
    api.clock.advance(301)
    assert.equal(await isSignedIn(api, token), false)
    assert.equal((await browser.open('/console/account')).status, 200, 'the session lives on')
  })

  test('is no session of its own, and comes without a refresh token', async () => {
    const api = await shared()
    const { browser, token, issued } = await start(api)
    assert.deepEqual(Object.keys(issued).sort(), ['access_token', 'expires_at', 'expires_in', 'token_type'])
    const sessions = await api.get('/api/auth/sessions', token)
    assert.equal(sessions.body.data.length, 1)
    assert.equal(sessions.body.data[0].current, true)
    assert.equal((await browser.open(path)).headers.get('cache-control'), 'no-store')
  })

  test('ends with the session: by signing out, and by a disabled user', async () => {
    const api = await shared()
    const out = await start(api)
    await out.browser.open('/console/account')
    await out.browser.submit('/console/sign-out')
    assert.equal(await isSignedIn(api, out.token), false)
    assert.match((await out.browser.post(path, {}, asJson)).location ?? '', /sign-in/)

    const disabled = await start(api)
    const form = (await disabled.browser.open(path)).hidden(path)
    const admin = await api.signInAs('admin')
    assert.equal((await api.put(`/api/admin/users/${disabled.user.id}`, { disabled: true }, admin.access)).status, 200)
    assert.equal(await isSignedIn(api, disabled.token), false)
    const again = await disabled.browser.post(path, form, asJson)
    assert.equal(again.status, 303)
    assert.match(again.location ?? '', /^\/console\/sign-in/)
  })

  test('never outlives the session', async () => {
    const api = await shared()
    const { browser } = await start(api)
    // The console extends a session at most every five minutes, so at the end it can be shorter than a token.
    const sql = 'UPDATE web_sessions SET expires_at = $1, used_at = $2 WHERE expires_at > $2'
    const now = api.clock.nowSeconds()
    await api.db.write({ sql, params: [now + 60, now] })
    const form = (await browser.open(path)).hidden(path)
    const { expires_at: end } = JSON.parse((await browser.post(path, form, asJson)).html)
    assert.equal(end, now + 60)
  })

  test('is refused to the anonymous, without a valid _token, and to pages of another origin', async () => {
    const api = await shared()
    const { user, browser } = await start(api)
    const form = (await browser.open(path)).hidden(path)
    const before = await countTokens(api, user.id)
    for (const [why, fields, headers] of [
      ['no token', {}, {}],
      ['a made-up token', { _token: 'made.up' }, {}],
      ['another site', form, { 'sec-fetch-site': 'cross-site' }],
      ['another port', form, { 'sec-fetch-site': 'same-site' }],
    ] as const) {
      const refused = await browser.post(path, fields, { ...asJson, ...headers })
      assert.equal(refused.status, 403, why)
      assert.doesNotMatch(refused.html, /access_token/, why)
    }
    const stranger = openConsole(api)
    const theirs = (await stranger.open('/console/sign-in')).hidden('/console/sign-in')
    const asked = await stranger.post(path, { _token: theirs._token ?? '' }, asJson)
    assert.match(asked.location ?? '', /^\/console\/sign-in/)
    assert.equal((await browser.post(path, { _token: theirs._token ?? '' }, asJson)).status, 403, 'of another browser')
    const foreign = await api.request('OPTIONS', path, {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    assert.equal(foreign.headers.get('access-control-allow-origin'), null)
    assert.equal(await countTokens(api, user.id), before)
  })

  test('is not given for a Bearer token or an API key: the cookie decides', async () => {
    const api = await shared()
    const { token } = await start(api)
    const { status, headers } = await api.request('POST', path, { form: {}, token, headers: asJson })
    assert.equal(status, 303)
    assert.match(headers.get('location') ?? '', /sign-in/)
  })

  test('is shown on a page where there are no scripts', async () => {
    const api = await shared()
    const { browser } = await start(api)
    await browser.open(path)
    const page = await browser.submit(path)
    assert.equal(page.status, 200)
    const [, token = ''] = /id="access-token"><code>([^<]+)</.exec(page.html) ?? []
    assert.ok(await isSignedIn(api, token))
  })

  test('is rate limited by user', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: { RATE_LIMIT_VERIFY: '2/60' } })
    const { browser } = await start(api)
    const form = (await browser.open(path)).hidden(path)
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await browser.post(path, form, asJson)).status)
    assert.deepEqual(statuses, [200, 429, 429])
  })
})

/** A browser that is signed in and has a token. */
async function start(api: ApiWithRoles) {
  const user = await register(api)
  const browser = openConsole(api)
  await browser.signIn(user.email)
  const form = (await browser.open(path)).hidden(path)
  const { status, html } = await browser.post(path, form, asJson)
  assert.equal(status, 200, html)
  const issued = JSON.parse(html)
  return { user, browser, issued, token: issued.access_token as string }
}

async function countTokens(api: ApiWithRoles, userId: number): Promise<number> {
  const rows = await api.db.all('SELECT event FROM audit WHERE user_id = $1 AND event = $2', [userId, 'access_token'])
  return rows.length
}
