import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, share, startApi } from '../support/api.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { forEngines, onAnyEngine } from '../support/databases.ts'
import { again, enableTwoFactor, isSignedIn, logIn, password, register, signIn } from '../support/people.ts'
import { shareWithRoles } from '../support/roles.ts'

const account = '/console/account'
const script = '<script>alert(1)</script>'

/** A signed-in browser on the account page. */
async function enter(api: Api) {
  const user = await register(api)
  const browser = openConsole(api)
  await browser.signIn(user.email)
  const page = await browser.open(account)
  assert.equal(page.status, 200)
  return { api, user, browser, page }
}

function errorAt(page: ConsolePage, field: string): string | undefined {
  const id = `field-${field}-error`
  const error = new RegExp(`<p class="error" id="${id}">([^<]*)</p>`).exec(page.html)?.[1]
  if (error !== undefined) assert.match(page.html, new RegExp(`name="${field}"[^>]*aria-invalid="true"[^>]*${id}`))
  return error
}

const services = forEngines((engine) => shareWithRoles({ engine }))
/** Where the password may be asked for twice a minute. */
const twiceAMinute = forEngines((engine) =>
  share((owner) => startApi(owner, { engine, env: { RATE_LIMIT_VERIFY: '2/60' } })),
)

onAnyEngine('the account page', (engine) => {
  const { shared, withRoles } = services[engine]

  test('shows the signed-in user, and nothing to anybody else', async () => {
    const api = await withRoles()
    const user = await api.signInAs('editor', 'viewer')
    const browser = openConsole(api)
    const refused = await browser.open(account)
    assert.deepEqual([refused.status, refused.location], [303, '/console/sign-in?next=%2Fconsole%2Faccount'])
    await browser.signIn(user.email)
    const { text, html, headers } = await browser.open(account)
    assert.match(text, new RegExp(`Email ${user.email}`))
    assert.match(text, /Roles editor viewer/)
    assert.match(html, /name="name"[^>]*>/)
    assert.match(html, /<input type="text" value="Ada"/)
    assert.match(text, /Two-factor Off/)
    assert.equal(html.match(/<h1>/g)?.length, 1)
    assert.equal(headers.get('cache-control'), 'no-store')
  })

  test('changes the name, by the rule of registration, and never runs one', async () => {
    const { browser, api, user } = await enter(await shared())
    const saved = await browser.submit(`${account}/profile`, { name: `Ada ${script}` })
    assert.deepEqual([saved.location, saved.notice], [account, 'profile-saved'])
    const page = await browser.follow(saved)
    assert.match(page.text, /Your profile is saved/)
    assert.ok(page.text.includes(`Ada ${script}`) && !page.html.includes(script))
    const { access } = await again(api, user)
    assert.equal((await api.get('/me', access)).body.name, `Ada ${script}`)

    const long = await browser.submit(`${account}/profile`, { name: 'x'.repeat(256) })
    assert.deepEqual([long.status, errorAt(long, 'name')], [422, 'Must be at most 255 characters.'])
    assert.ok(long.html.includes('x'.repeat(256)), 'what was typed is kept')
    assert.equal((await browser.submit(`${account}/profile`, { name: '' })).status, 303)
    assert.equal((await api.get('/me', access)).body.name, '')
  })

  test('changes the password, which ends every session, this one too', async () => {
    const { browser, api, user } = await enter(await shared())
    const other = openConsole(api)
    await other.signIn(user.email)
    const { access } = await again(api, user)
    const next = 'Another-Horse-2'
    const change = (current_password: string, new_password: string) =>
      browser.submit(`${account}/password`, { current_password, new_password })

    const wrong = await change('wrong', next)
    assert.deepEqual([wrong.status, errorAt(wrong, 'current_password')], [401, 'This is not your password.'])
    const weak = await change(password, 'short')
    assert.deepEqual(
      [weak.status, errorAt(weak, 'new_password')],
      [422, 'Must be at least 8 characters. Must contain an upper-case letter. Must contain a number.'],
    )
    assert.equal(errorAt(await change(password, ' '), 'new_password'), 'Must not be blank.')
    assert.ok(!wrong.html.includes(next), 'a password is never sent back')
    assert.ok(await isSignedIn(api, access))

    const changed = await change(password, next)
    assert.deepEqual([changed.location, changed.notice], ['/console/sign-in', 'password-changed'])
    assert.equal(browser.cookies.has('latchkey_session'), false)
    assert.match((await browser.follow(changed)).text, /Your password is changed/)
    assert.equal((await other.open(account)).status, 303)
    assert.equal(await isSignedIn(api, access), false)
    assert.equal((await logIn(api, user.email)).status, 401)
    await browser.signIn(user.email, next)
    assert.equal((await browser.open(account)).status, 200)
  })

  test('shows how long the account is locked after five wrong passwords, and changes nothing meanwhile', async () => {
    const { browser, api, user } = await enter(await shared())
    const change = (current_password: string) =>
      browser.submit(`${account}/password`, { current_password, new_password: 'Another-Horse-2' })
    for (let i = 0; i < 4; i++) assert.equal((await change('wrong')).status, 401)
    for (const given of ['wrong', password]) {
      const locked = await change(given)
      assert.equal(locked.status, 423)
      assert.match(locked.text, /Too many failed attempts. You can try again at/)
      const until = Date.parse(/data-countdown="([^"]+)"/.exec(locked.html)?.[1] ?? '')
      assert.ok(Math.abs(until - api.clock.now() - 900_000) < 10_000)
    }
    const setUp = await browser.open(`${account}/two-factor/set-up`)
    assert.equal(setUp.status, 200)
    assert.equal((await browser.submit(`${account}/two-factor/set-up`, { password })).status, 423)
    api.clock.advance(901)
    assert.equal((await logIn(api, user.email)).status, 200)
  })

  test('shares its rate limit with the API, per user, and shows when to retry', async () => {
    const { browser, api, user } = await enter(await twiceAMinute[engine]())
    const { access } = await again(api, user)
    const body = { current_password: password, new_password: 'weak' }
    assert.equal((await browser.submit(`${account}/password`, body)).status, 422)
    assert.equal((await api.post('/api/auth/password', body, access)).status, 422)
    const limited = await browser.submit(`${account}/password`, body)
    assert.equal(limited.status, 429)
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    assert.match(limited.text, /Too many attempts/)
    await browser.open(`${account}/two-factor/set-up`)
    assert.equal((await browser.submit(`${account}/two-factor/set-up`, { password })).status, 429)
  })

  test('changes the name so often and no more: each change is a line of the audit trail', async () => {
    const { browser, api, user } = await enter(await twiceAMinute[engine]())
    const rename = async (name: string) => {
      await browser.open(account)
      return browser.submit(`${account}/profile`, { name })
    }
    assert.equal((await rename('Ada')).status, 303)
    assert.equal((await rename('Ada B.')).status, 303)
    const limited = await rename('Ada B. C.')
    assert.equal(limited.status, 429)
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
    assert.match(limited.text, /Too many attempts/)
    assert.equal((await api.get('/me', (await again(api, user)).access)).body.name, 'Ada B.')
  })
})

onAnyEngine('the devices', (engine) => {
  const { shared } = services[engine]

  test('are listed by the name that people know; what they call themselves never runs', async () => {
    const { api, user } = await enter(await shared())
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0'
    await openConsole(api, { userAgent: `"><img src=x onerror=alert(1)> ${firefox}` }).signIn(user.email)
    const browser = openConsole(api, { userAgent: firefox })
    await browser.signIn(user.email)
    const { html, text } = await browser.open(account)
    assert.equal(text.match(/Firefox on Linux/g)?.length, 2)
    assert.match(text, /Firefox on Linux This device 127\.0\.0\.1/)
    assert.equal(text.match(/This device/g)?.length, 1)
    assert.ok(html.includes(`title="${firefox}"`))
    assert.ok(!html.includes('<img src=x'))
  })

  test('are signed out one by one, only by their owner', async () => {
    const { api, user, browser } = await enter(await shared())
    const other = openConsole(api)
    await other.signIn(user.email)
    const { access } = await again(api, user)
    const family = await familyOf(api, access)
    await browser.open(account)
    const action = `${account}/devices/${family}/sign-out`
    const out = await browser.submit(action)
    assert.deepEqual([out.location, out.notice], [account, 'device-signed-out'])
    assert.equal(await isSignedIn(api, access), false)
    assert.match((await browser.follow(out)).text, /That device is signed out/)
    assert.equal((await other.open(account)).status, 200)

    const stranger = await signIn(api, 'stranger@example.com')
    const token = (await browser.open(account)).hidden('/console/sign-out')
    const theirs = await familyOf(api, stranger.access)
    for (const id of [theirs, family, 'none', 'a b', 'x'.repeat(65)]) {
      const path = `${account}/devices/${encodeURIComponent(id)}/sign-out`
      assert.equal((await browser.post(path, token)).status, 404, id)
    }
    assert.ok(await isSignedIn(api, stranger.access))
  })

  test('include the current one: signing it out leads to the sign-in form', async () => {
    const { browser, page } = await enter(await shared())
    const [, id] = /action="\/console\/account\/devices\/([\w-]+)\/sign-out"/.exec(page.html) ?? []
    const out = await browser.submit(`${account}/devices/${id}/sign-out`)
    assert.deepEqual([out.location, out.notice], ['/console/sign-in', 'signed-out'])
    assert.equal(browser.cookies.has('latchkey_session'), false)
  })

  test('are all signed out at once, this one too', async () => {
    const { api, user, browser } = await enter(await shared())
    const other = openConsole(api)
    await other.signIn(user.email)
    const { access } = await again(api, user)
    const session = browser.cookies.get('latchkey_session')
    const out = await browser.submit(`${account}/sign-out-everywhere`)
    assert.deepEqual([out.location, out.notice], ['/console/sign-in', 'signed-out-everywhere'])
    assert.equal(browser.cookies.has('latchkey_session'), false)
    if (session) browser.cookies.set('latchkey_session', session)
    assert.equal((await browser.open(account)).status, 303)
    assert.equal((await other.open(account)).status, 303)
    assert.equal(await isSignedIn(api, access), false)
  })

  test('shows how many recovery codes are left', async () => {
    const { api, user, browser } = await enter(await shared())
    const { recoveryCodes } = await enableTwoFactor(api, await again(api, user))
    assert.match((await browser.open(account)).text, /Two-factor On .* You have 10 recovery codes left/)
    const other = openConsole(api)
    await other.open('/console/sign-in')
    await other.submit('/console/sign-in', { email: user.email, password })
    assert.equal((await other.submit('/console/sign-in/code', { code: recoveryCodes[0] ?? '' })).status, 303)
    assert.match((await browser.open(account)).text, /You have 9 recovery codes left/)
  })
})

async function familyOf(api: Api, access: string): Promise<string> {
  const { body } = await api.get('/api/auth/sessions', access)
  return body.data.find((session: { current: boolean }) => session.current).id
}
