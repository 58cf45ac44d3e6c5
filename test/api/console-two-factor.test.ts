import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, shareApi } from '../support/api.ts'
import { type ConsoleBrowser, type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { logIn, password, register, totp } from '../support/people.ts'

const twoFactor = '/console/account/two-factor'
const codePattern = /<li><code>((?:[A-Z2-7]{4}-){5}[A-Z2-7]{4})<\/code><\/li>/g

async function enter(api: Api) {
  const user = await register(api)
  const browser = openConsole(api)
  await browser.signIn(user.email)
  return { api, user, browser }
}

async function setUp(browser: ConsoleBrowser): Promise<{ page: ConsolePage; secret: string }> {
  await browser.open(`${twoFactor}/set-up`)
  const page = await browser.submit(`${twoFactor}/set-up`, { password })
  assert.equal(page.status, 200)
  return { page, secret: secretOf(page) ?? assert.fail('no secret is shown') }
}

function secretOf({ html }: ConsolePage): string | undefined {
  return /<code class="secret">([A-Z2-7 ]+)<\/code>/.exec(html)?.[1]?.replaceAll(' ', '')
}

function codesOf({ html }: ConsolePage): string[] {
  return [...html.matchAll(codePattern)].map(([, code = '']) => code)
}

onAnyEngine('two-factor in the console', (engine) => {
  const shared = shareApi({ engine })

  test('is set up with the password, on with the first code, and gives ten recovery codes once', async () => {
    const { api, user, browser } = await enter(await shared())
    await browser.open(`${twoFactor}/set-up`)
    const wrong = await browser.submit(`${twoFactor}/set-up`, { password: 'wrong' })
    assert.equal(wrong.status, 401)
    assert.match(wrong.html, /id="field-password-error">This is not your password\./)
    assert.equal(secretOf(wrong), undefined)

    const { page, secret } = await setUp(browser)
    assert.match(secret, /^[A-Z2-7]{32}$/)
    assert.match(page.html, /<img class="qr-code" src="data:image\/svg\+xml;base64,[^"]+" alt="[^"]+"/)
    assert.equal(page.headers.get('cache-control'), 'no-store')

    const mistyped = await browser.submit(`${twoFactor}/enable`, { code: '000000' })
    assert.equal(mistyped.status, 422)
    assert.match(mistyped.html, /id="field-code-error">Invalid two-factor code\./)
    assert.equal(secretOf(mistyped), secret, 'the same secret, and no password is asked for')
    assert.equal((await logIn(api, user.email)).body.token_type, 'Bearer', 'not yet on')

    const on = await browser.submit(`${twoFactor}/enable`, { code: totp(api, secret).replace(/^.../, '$& ') })
    assert.equal(on.status, 200)
    const codes = codesOf(on)
    assert.equal(new Set(codes).size, 10)
    assert.equal(on.headers.get('cache-control'), 'no-store')
    assert.match(on.html, /class="scripted" data-print>Print/)
    assert.match(on.html, /class="scripted" data-copy="recovery-codes">Copy/)

    const reloaded = await browser.post(`${twoFactor}/enable`, {
      ...mistyped.hidden(`${twoFactor}/enable`),
      code: totp(api, secret),
    })
    assert.equal(reloaded.location, '/console/account', 'they are shown once')
    const log = api.log.join('')
    for (const hidden of [secret, ...codes]) assert.ok(!log.includes(hidden))
  })

  test('is required at sign-in: a code from the app or a recovery code, each once', async () => {
    const { api, user, browser } = await enter(await shared())
    const { secret } = await setUp(browser)
    const codes = codesOf(await browser.submit(`${twoFactor}/enable`, { code: totp(api, secret) }))
    api.clock.advance(60)
    for (const code of [totp(api, secret), codes[0] ?? '']) {
      const other = openConsole(api)
      await other.open('/console/sign-in')
      const asked = await other.submit('/console/sign-in', { email: user.email, password })
      assert.match(asked.text, /One more step/)
      assert.match(asked.text, /An administrator can reset the second factor/)
      assert.equal((await other.submit('/console/sign-in/code', { code: 'wrong' })).status, 401)
      assert.equal((await other.submit('/console/sign-in/code', { code })).location, '/console')
      assert.equal((await other.open('/console/account')).status, 200)
      const twice = openConsole(api)
      await twice.open('/console/sign-in')
      await twice.submit('/console/sign-in', { email: user.email, password })
      assert.equal((await twice.submit('/console/sign-in/code', { code })).status, 401)
    }
  })

  test('does not show an unconfirmed secret to a stolen session', async () => {
    const { api, user, browser } = await enter(await shared())
    const { page } = await setUp(browser)
    const { ticket = '' } = page.hidden(`${twoFactor}/enable`)
    const thief = openConsole(api)
    thief.cookies.set('latchkey_session', browser.cookies.get('latchkey_session') ?? assert.fail())
    const { _token = '' } = (await thief.open('/console/account')).hidden('/console/sign-out')
    for (const guess of ['', 'guess', ticket.slice(0, -1)]) {
      const response = await thief.post(`${twoFactor}/enable`, { _token, ticket: guess, code: '000000' })
      assert.equal(response.status, 422)
      assert.equal(secretOf(response), undefined)
      assert.match(response.text, /Begin again/)
      assert.ok(response.hasForm(`${twoFactor}/set-up`))
    }

    const stranger = openConsole(api)
    const { email } = await register(api, 'stranger@example.com')
    await stranger.signIn(email)
    const theirs = (await stranger.open('/console/account')).hidden('/console/sign-out')
    const response = await stranger.post(`${twoFactor}/enable`, { ...theirs, ticket, code: '000000' })
    assert.equal(secretOf(response), undefined)
    assert.notEqual(user.email, email)
  })

  test('starts over after an hour, and when it is started again', async () => {
    const { api, browser } = await enter(await shared())
    const first = await setUp(browser)
    const second = await setUp(browser)
    assert.notEqual(first.secret, second.secret)
    const stale = { ...first.page.hidden(`${twoFactor}/enable`), code: totp(api, first.secret) }
    const refused = await browser.post(`${twoFactor}/enable`, stale)
    assert.equal(refused.status, 422)
    assert.match(refused.text, /Begin again/)

    api.clock.advance(3601)
    const late = await browser.post(`${twoFactor}/enable`, {
      ...second.page.hidden(`${twoFactor}/enable`),
      code: totp(api, second.secret),
    })
    assert.equal(late.status, 422)
    assert.match(late.text, /Begin again/)
    assert.equal(secretOf(late), undefined)
  })

  test('renews the recovery codes and is turned off, each with password and code', async () => {
    const { api, user, browser } = await enter(await shared())
    for (const path of ['disable', 'recovery-codes']) {
      assert.equal((await browser.open(`${twoFactor}/${path}`)).location, '/console/account', 'it is not on')
    }
    const { secret } = await setUp(browser)
    const codes = codesOf(await browser.submit(`${twoFactor}/enable`, { code: totp(api, secret) }))
    assert.equal((await browser.open(`${twoFactor}/set-up`)).location, '/console/account', 'it is on')
    api.clock.advance(60)

    const renew = `${twoFactor}/recovery-codes`
    await browser.open(renew)
    const wrongPassword = await browser.submit(renew, { password: 'wrong', code: totp(api, secret) })
    assert.equal(wrongPassword.status, 401)
    assert.match(wrongPassword.html, /id="field-password-error">/)
    const wrongCode = await browser.submit(renew, { password, code: '000000' })
    assert.equal(wrongCode.status, 401)
    assert.match(wrongCode.html, /id="field-code-error">This code is not right, or was used before\./)
    const renewed = codesOf(await browser.submit(renew, { password, code: totp(api, secret) }))
    assert.equal(renewed.length, 10)
    assert.ok(renewed.every((code) => !codes.includes(code)))

    const off = `${twoFactor}/disable`
    await browser.open(off)
    assert.equal((await browser.submit(off, { password, code: codes[0] ?? '' })).status, 401, 'the old ones are void')
    const done = await browser.submit(off, { password, code: renewed[0] ?? '' })
    assert.deepEqual([done.location, done.notice], ['/console/account', 'two-factor-off'])
    assert.match((await browser.follow(done)).text, /Two-factor Off/)
    assert.equal((await logIn(api, user.email)).body.token_type, 'Bearer')
  })
})
