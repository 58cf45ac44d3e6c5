/** CSRF: no route below /console accepts a forged form, including pages added later. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService } from '../support/api.ts'
import { type ConsoleBrowser, type Fields, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { type ApiWithActions, startApiWithActions } from '../support/form-actions.ts'
import { password } from '../support/people.ts'
import { chosen } from '../support/tiers.ts'

const account = '/console/account'
async function withAdmin(api: ApiWithActions) {
  const { email } = await api.signInAs('admin')
  const { actions, dump } = api
  return {
    api,
    actions,
    dump,
    async signInAsAdmin(): Promise<ConsoleBrowser> {
      const browser = openConsole(api)
      await browser.signIn(email)
      return browser
    },
  }
}

/** A token from this browser's forms. */
async function tokenOf(browser: ConsoleBrowser): Promise<string> {
  const page = await browser.open(browser.cookies.has('latchkey_session') ? account : '/console/register')
  const { _token } = page.hidden(page.hasForm('/console/sign-out') ? '/console/sign-out' : '/console/register')
  return _token ?? assert.fail('no token')
}

const fields = { name: 'Eve', email: 'eve@example.com', password, roles: 'admin' }

onAnyEngine('a forged form', (engine) => {
  const shared = shareService(startApiWithActions, { engine })
  // Its forms change what the others need.
  const own = shareService(startApiWithActions, { engine })

  test('is refused by every route that changes something, and changes nothing', async () => {
    const { api, actions, signInAsAdmin, dump } = await withAdmin(await shared())
    assert.ok(actions.length >= 17, actions.join(' '))
    const victim = await signInAsAdmin()
    const right = await tokenOf(victim)
    const [nonce, signature] = right.split('.')
    const forged: Record<string, Fields> = {
      'without a token': {},
      'with an empty one': { _token: '' },
      'with one made up': { _token: 'x'.repeat(right.length) },
      'with one of another session': { _token: await tokenOf(await signInAsAdmin()) },
      'with one of who is not signed in': { _token: await tokenOf(openConsole(api)) },
      'with half of one': { _token: `${nonce}.` },
      'with another nonce': { _token: `${'x'.repeat(22)}.${signature}` },
      'with two': { _token: [right, right] },
      'with one under another name': { token: right },
    }
    const before = await dump()
    for (const [n, action] of actions.entries()) {
      // Each on some of the routes, and the first one on all.
      for (const [how, token] of chosen(Object.entries(forged), (_, i) => i === 0 || i % 4 === n % 4)) {
        const response = await victim.post(action, { ...fields, ...token })
        assert.equal(response.status, 403, `${action} ${how}`)
        assert.match(response.text, /This form has expired .* If it happens again, allow cookies for this site\./)
      }
      for (const site of chosen(['cross-site', 'same-site'], (_, i) => i === n % 2)) {
        const elsewhere = await victim.post(action, { ...fields, _token: right }, { 'sec-fetch-site': site })
        assert.equal(elsewhere.status, 403, `${action} sent by a page that is ${site}`)
      }
      const empty = await victim.post(action, {}, { 'content-type': 'application/json' })
      assert.equal(empty.status, 403, `${action} as JSON`)
      const plain = await victim.post(action, { _token: right }, { 'content-type': 'text/plain' })
      assert.equal(plain.status, 415, `${action} as plain text`)
    }
    assert.deepEqual(await dump(), before)
  })

  test('with the right token, every route works', async () => {
    const { actions, signInAsAdmin } = await withAdmin(await own())
    let browser = await signInAsAdmin()
    for (const action of actions) {
      let page = await browser.open(account)
      if (page.status !== 200) {
        browser = await signInAsAdmin()
        page = await browser.open(account)
      }
      const response = await browser.post(action, page.hidden('/console/sign-out'))
      assert.ok(
        response.status < 500 && !response.text.includes('This form has expired'),
        `${action} ${response.status}`,
      )
    }
  })

  test('is refused without signing in too, including on the public forms', async () => {
    const { api, actions, dump } = await withAdmin(await shared())
    const visitor = openConsole(api)
    const foreign = await tokenOf(openConsole(api))
    const right = await tokenOf(visitor)
    const before = await dump()
    for (const [n, action] of actions.entries()) {
      for (const token of chosen<Fields>([{}, { _token: foreign }], (_, i) => i === n % 2)) {
        const { status, notice } = await visitor.post(action, { ...fields, ...token })
        assert.ok(status === 403 || notice === 'session-over', `${action} ${status}`)
      }
      const stranger = await openConsole(api).post(action, { ...fields, _token: right })
      const isRefused = stranger.status === 403 || stranger.notice === 'session-over'
      assert.ok(isRefused, `${action} without the cookie`)
    }
    assert.deepEqual(await dump(), before)
    const made = await visitor.post('/console/register', { ...fields, _token: right })
    assert.deepEqual([made.location, made.notice], ['/console/sign-in', 'registered'])
  })

  test('cannot be forged with a token from before sign-in or after sign-out', async () => {
    const { api, signInAsAdmin, dump } = await withAdmin(await shared())
    const { email } = await api.signInAs()
    const browser = openConsole(api)
    const early = await tokenOf(browser)
    const form = browser.cookies.get('latchkey_form') ?? assert.fail()
    await browser.signIn(email)
    const before = await dump()
    assert.equal((await browser.post(`${account}/profile`, { name: 'Eve', _token: early })).status, 403)
    browser.cookies.set('latchkey_form', form)
    assert.equal((await browser.post(`${account}/profile`, { name: 'Eve', _token: early })).status, 403)
    assert.deepEqual(await dump(), before)

    const admin = await signInAsAdmin()
    const late = await tokenOf(admin)
    await admin.post('/console/sign-out', { _token: late })
    await admin.open('/console/register')
    assert.equal((await admin.post('/console/register', { ...fields, _token: late })).status, 403)
  })

  test('the length of compressed pages reveals nothing: each form has a different, valid token', async () => {
    const { signInAsAdmin } = await withAdmin(await shared())
    const browser = await signInAsAdmin()
    const tokens = [await tokenOf(browser), await tokenOf(browser), await tokenOf(browser)]
    assert.equal(new Set(tokens).size, 3)
    for (const _token of tokens) {
      assert.equal((await browser.post(`${account}/profile`, { name: 'Ada', _token })).status, 303, 'and all are good')
    }
  })
})
