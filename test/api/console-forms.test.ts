/** Requests that no form of the console sends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService } from '../support/api.ts'
import { type ConsoleBrowser, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { startApiWithActions } from '../support/form-actions.ts'
import { register } from '../support/people.ts'
import { chosen } from '../support/tiers.ts'

const kib = 1024

async function tokenOf(browser: ConsoleBrowser, path: string, action: string): Promise<string> {
  return (await browser.open(path)).hidden(action)._token ?? assert.fail('no token')
}

onAnyEngine('a form of the console', (engine) => {
  const shared = shareService(startApiWithActions, { engine })

  test('must be a form: the same as JSON is refused', async () => {
    const api = await shared()
    const { actions, dump } = api
    const { email } = await api.signInAs('admin')
    const browser = openConsole(api)
    await browser.signIn(email)
    const _token = await tokenOf(browser, '/console/account', '/console/sign-out')
    const cookie = `latchkey_session=${browser.cookies.get('latchkey_session')?.value}`
    const before = await dump()
    for (const [n, action] of actions.entries()) {
      for (const name of chosen(['Eve', { toString: 1 }, [[['Eve']]]], (_, i) => i === n % 3)) {
        const json = { _token, name, key: name, tag: name, roles: ['admin'] }
        const { status } = await api.request('POST', action, { headers: { cookie }, json })
        assert.equal(status, 415, action)
      }
    }
    assert.deepEqual(await dump(), before)
  })

  test('has a size limit, which is lower before signing in, and takes long texts', async () => {
    const api = await shared()
    const visitor = openConsole(api)
    const early = await tokenOf(visitor, '/console/sign-in', '/console/sign-in')
    const sent = async (browser: ConsoleBrowser, action: string, fields: Record<string, string>) =>
      (await browser.post(action, fields)).status
    for (const action of ['sign-in', 'sign-in/code', 'register', 'password/forgot', 'password/reset']) {
      const fields = { _token: early, email: 'x'.repeat(20 * kib) }
      assert.equal(await sent(visitor, `/console/${action}`, fields), 413, action)
    }
    const token = 'x'.repeat(10 * kib)
    assert.equal(await sent(visitor, '/console/password/reset', { _token: early, token, password: 'Secret12' }), 410)

    const { email } = await register(api)
    await visitor.signIn(email)
    const _token = await tokenOf(visitor, '/console/account', '/console/sign-out')
    const product = { _token, name: 'Lamp', price: '1' }
    const described = (length: number) => ({ ...product, description: 'x'.repeat(length) })
    assert.equal(await sent(visitor, '/console/products', described(100 * kib)), 303)
    assert.equal(await sent(visitor, '/console/products', described(130 * kib)), 413)
  })
})
