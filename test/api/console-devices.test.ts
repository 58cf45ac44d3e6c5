/** Known devices and ended sessions, as a browser meets them: by its cookies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService } from '../support/api.ts'
import { type ConsoleBrowser, openConsole } from '../support/console.ts'
import { forEngines, onAnyEngine } from '../support/databases.ts'
import { isKnown, lockOut, newDevice } from '../support/devices.ts'
import { again, claimsOf, password, type SignedIn } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const account = '/console/account'
const form = '/console/sign-in'
const day = 86_400

async function enter(api: ApiWithRoles) {
  const user = await api.signInAs()
  const browser = openConsole(api)
  await browser.signIn(user.email)
  return { api, user, browser }
}

async function webSessionOf(api: ApiWithRoles, { id }: SignedIn) {
  return api.db.get<{ id_hash: string; family: string }>(
    'SELECT w.* FROM web_sessions w JOIN sessions s ON s.id = w.family WHERE s.user_id = $1',
    [id],
  )
}

const deviceOf = (browser: ConsoleBrowser) => browser.cookies.get('latchkey_device')?.value ?? assert.fail('no device')

async function attempt(browser: ConsoleBrowser, email: string, given = password): Promise<number> {
  await browser.open(form)
  return (await browser.submit(form, { email, password: given })).status
}

const services = forEngines((engine) => shareService(startApiWithRoles, { engine }))

onAnyEngine('a browser', (engine) => {
  const shared = services[engine]

  test('is known by a cookie that only our own forms get, and that no script reads', async () => {
    const { browser } = await enter(await shared())
    assert.deepEqual(browser.cookies.get('latchkey_device')?.attributes, [
      `Max-Age=${180 * day}`,
      'Path=/',
      'HttpOnly',
      'SameSite=Strict',
    ])
    assert.match(deviceOf(browser), /^[\w-]{43}$/)
  })

  test('that is known signs in while strangers keep the account locked; another does not', async () => {
    const { api, user, browser } = await enter(await shared())
    const token = deviceOf(browser)
    await browser.open(account)
    await browser.submit('/console/sign-out')
    assert.equal(deviceOf(browser), token, 'signing out forgets nothing')
    await lockOut(api, user.email)
    assert.equal(await attempt(openConsole(api), user.email), 423)
    assert.equal(await attempt(browser, user.email), 303)
    assert.equal(deviceOf(browser), token)
    assert.equal((await browser.open(account)).status, 200)
    assert.ok(await isKnown(api, user.email, token), 'the API knows it too')
  })

  test('that is known locks nobody but itself', async () => {
    const { api, user, browser } = await enter(await shared())
    await browser.open(account)
    await browser.submit('/console/sign-out')
    for (let i = 0; i < 4; i++) assert.equal(await attempt(browser, user.email, 'wrong'), 401)
    assert.equal(await attempt(browser, user.email, 'wrong'), 423)
    assert.equal(await attempt(browser, user.email), 423)
    assert.equal(await attempt(openConsole(api), user.email), 303)
  })

  test('forgets the device that it signs out, and by "everywhere" and a new password all but itself', async () => {
    const { api, user, browser } = await enter(await shared())
    const other = openConsole(api)
    await other.signIn(user.email)
    const third = await newDevice(api, user.email)
    await lockOut(api, user.email)
    await browser.open(account)
    await browser.submit(`${account}/devices/${claimsOf(third.access).family}/sign-out`)
    assert.equal(await isKnown(api, user.email, third.token), false)
    assert.ok(await isKnown(api, user.email, deviceOf(other)))

    await browser.open(account)
    await browser.submit(`${account}/sign-out-everywhere`)
    assert.equal(await isKnown(api, user.email, deviceOf(other)), false)
    await browser.signIn(user.email)

    api.clock.advance(901)
    await other.signIn(user.email)
    await browser.open(account)
    const change = { current_password: password, new_password: 'Another-Horse-2' }
    assert.equal((await browser.submit(`${account}/password`, change)).status, 303)
    await lockOut(api, user.email)
    assert.equal(await isKnown(api, user.email, deviceOf(other), 'Another-Horse-2'), false)
    await browser.signIn(user.email, 'Another-Horse-2')
    assert.equal((await browser.open(account)).status, 200)
  })
})

type End = (api: ApiWithRoles, given: { user: SignedIn; family: string }) => Promise<unknown>

const ends: [reason: string, sentence: RegExp, words: RegExp, end: End][] = [
  [
    'reuse',
    /a token of your session was used a second time, .* change your password\./,
    /An old token was used again/,
    // No page gives a browser's refresh token away: as the service would revoke it.
    (api, { family }) =>
      api.db.write({
        sql: `UPDATE sessions SET revoked_at = $1, expires_at = $1, ended_reason = 'reuse' WHERE id = $2`,
        params: [api.clock.nowSeconds(), family],
      }),
  ],
  [
    'another device',
    /You were signed out here from another of your devices\./,
    /Signed out/,
    (api, { user, family }) => api.delete(`/api/auth/sessions/${family}`, user.access),
  ],
  [
    'a logout everywhere',
    /You were signed out on all of your devices\./,
    /Signed out everywhere/,
    (api, { user }) => api.post('/api/auth/logout', { all_devices: true }, user.access),
  ],
  [
    'a password change',
    /You were signed out because the password of your account was changed\./,
    /The password was changed/,
    (api, { user }) =>
      api.post('/api/auth/password', { current_password: password, new_password: 'Another-Horse-2' }, user.access),
  ],
  [
    'an administrator',
    /An administrator signed you out\./,
    /Ended by an administrator/,
    async (api, { user }) => api.delete(`/api/admin/users/${user.id}/sessions`, (await api.signInAs('admin')).access),
  ],
  [
    'time',
    /You were signed out because your session has expired\./,
    /Expired/,
    async (api) => api.clock.advance(7 * day + 1),
  ],
]
const anySentence = /You were signed out|signed you out/

onAnyEngine('the session of a browser', (engine) => {
  const shared = services[engine]

  for (const [what, sentence, words, end] of ends) {
    test(`that was ended by ${what} is told so when it comes back, once, and nobody else is`, async () => {
      const { api, user, browser } = await enter(await shared())
      const row = await webSessionOf(api, user)
      const cookie = browser.cookies.get('latchkey_session') ?? assert.fail('no session')
      await end(api, { user, family: row?.family ?? '' })
      const others = openConsole(api)
      assert.doesNotMatch((await others.open(form)).text, anySentence)

      const refused = await browser.open(account)
      const page = await browser.follow(refused)
      assert.match(page.text, sentence)
      assert.equal(page.text.match(new RegExp(anySentence, 'g'))?.length, 1)
      assert.equal(browser.cookies.has('latchkey_session'), false)
      assert.doesNotMatch((await browser.open(form)).text, anySentence)
      const given = what === 'a password change' ? 'Another-Horse-2' : password
      await browser.signIn(user.email, given)
      assert.match((await browser.open(account)).text, words)

      const late = openConsole(api)
      late.cookies.set('latchkey_session', cookie)
      api.clock.advance(30 * day + 1)
      assert.doesNotMatch((await late.open(form)).text, anySentence, 'thirty days later')
    })
  }

  test('that nobody knows is told nothing', async () => {
    const { api, browser, user } = await enter(await shared())
    const { value } = browser.cookies.get('latchkey_session') ?? assert.fail('no session')
    const row = await webSessionOf(api, user)
    assert.equal((await browser.open(form)).status, 303, 'a live one is signed in')
    await api.post('/api/auth/logout', { all_devices: true }, user.access)
    for (const id of ['', 'planted', value.slice(1), `${value}x`, row?.id_hash ?? '', row?.family ?? '']) {
      const other = openConsole(api)
      other.cookies.set('latchkey_session', { value: id, attributes: [] })
      const page = await other.open(form)
      assert.equal(page.status, 200)
      assert.doesNotMatch(page.text, anySentence)
    }
  })

  test('that was ended under a form is told both: that nothing was changed, and why', async () => {
    const { api, browser, user } = await enter(await shared())
    const page = await browser.open(account)
    await api.post('/api/auth/logout', { all_devices: true }, user.access)
    const posted = await browser.post(`${account}/profile`, { ...page.hidden(`${account}/profile`), name: 'Eve' })
    const { text } = await browser.follow(posted)
    assert.match(text, /You are signed out, so nothing was changed\..*You were signed out on all of your devices\./)
  })

  test('that has ended is under the live ones, ten at most', async () => {
    const { api, browser, user } = await enter(await shared())
    assert.doesNotMatch((await browser.open(account)).text, /Ended in the last 30 days/)
    const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0 <b>'
    const other = openConsole(api, { userAgent: agent })
    await other.signIn(user.email)
    await other.open(account)
    await other.submit('/console/sign-out')
    const one = await browser.open(account)
    assert.match(
      one.text,
      /Devices signed in .* This device .* Ended in the last 30 days .* Firefox on Linux 127\.0\.0\.1 .* Signed out/,
    )
    assert.ok(!one.html.includes('<b>'))
    for (let i = 0; i < 11; i++) {
      const each = await again(api, user)
      await api.delete(`/api/auth/sessions/${claimsOf(each.access).family}`, user.access)
    }
    const many = await browser.open(account)
    assert.match(many.text, /The last 10 that ended/)
    assert.equal(many.html.match(/<td data-label="Why">/g)?.length, 10)
  })
})
