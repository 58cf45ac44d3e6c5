import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onEachEngine } from '../support/databases.ts'
import { register } from '../support/people.ts'

onEachEngine('sessions of the console', (engine) => {
  test('signing in leads to the console, signing out back to the form', async (t) => {
    const api = await startApi(t, { engine })
    const { email } = await register(api)
    const browser = openConsole(api)
    const home = await browser.signIn(email)
    assert.equal(home.status, 303)
    await browser.open('/console/nowhere')
    const out = await browser.submit('/console/sign-out')
    assert.match((await browser.follow(out)).text, /You are signed out/)
    assert.equal(browser.cookies.has('latchkey_session'), false)
  })
})
