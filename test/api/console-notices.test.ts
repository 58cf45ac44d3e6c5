/** Notices tell the truth: no URL can forge one. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const list = '/console/products'
const account = '/console/account'

async function start(t: TestContext, engine: Dialect) {
  const api = await startApiWithRoles(t, { engine })
  const user = await signIn(api)
  const browser = openConsole(api)
  await browser.signIn(user.email)
  return { api, user, browser }
}

onAnyEngine('a notice', (engine) => {
  test('cannot be forged with a URL', async (t) => {
    const { api, browser } = await start(t, engine)
    const names = ['product-created', 'product-saved', 'profile-saved', 'roles-saved', 'password-changed', 'signed-out']
    for (const name of [...names, 'session-over', 'registered', 'reset-sent', 'two-factor-off', 'unlocked']) {
      for (const parameter of ['done', 'notice', 'latchkey_notice']) {
        for (const path of [list, account]) {
          const page = await browser.open(`${path}?${parameter}=${name}`)
          assert.deepEqual([page.status, /class="notice" role/.test(page.html)], [200, false], page.text)
        }
        const page = await openConsole(api).open(`/console/sign-in?${parameter}=${name}`)
        assert.doesNotMatch(page.html, /class="notice"/)
      }
    }
  })

  test('is shown once, and on the page it belongs to', async (t) => {
    const { browser } = await start(t, engine)
    await browser.open(account)
    const saved = await browser.submit(`${account}/profile`, { name: 'Grace' })
    assert.deepEqual(browser.cookies.get('latchkey_notice')?.attributes, [
      'Max-Age=60',
      'Path=/',
      'HttpOnly',
      'SameSite=Lax',
    ])
    assert.doesNotMatch((await browser.open(list)).text, /is saved/, 'another page')
    assert.match((await browser.follow(saved)).text, /Your profile is saved\./)
    assert.equal(browser.cookies.has('latchkey_notice'), false)
    assert.doesNotMatch((await browser.open(account)).text, /is saved/, 'once more')
  })

  test('with an unknown name shows nothing', async (t) => {
    const { browser } = await start(t, engine)
    for (const name of ['', 'toString', '__proto__', 'x', '<b>', 'x'.repeat(4000)]) {
      browser.cookies.set('latchkey_notice', { value: encodeURIComponent(`${name} ${account}`), attributes: [] })
      const page = await browser.open(account)
      assert.deepEqual([page.status, page.html.includes('class="notice"')], [200, false])
    }
  })

  test('the notice of a deletion, with its undo button, is shown only while the product is deleted', async (t) => {
    const { api, user, browser } = await start(t, engine)
    const id = await createProduct(api, user.access, { name: 'Desk Lamp' })
    const claims = async (address: unknown = id) => {
      const page = await browser.open(`${list}?deleted=${address}`)
      assert.equal(page.status, 200)
      return /“([^”]*)” is deleted\. Undo/.exec(page.text)?.[1]
    }
    for (const address of [id, 999, 0, -1, 'x', '99999999999999999999', '', `${id}&deleted=999`]) {
      assert.equal(await claims(address), undefined, String(address))
    }
    await api.delete(`${productsPath}/${id}`, user.access)
    assert.equal(await claims(), 'Desk Lamp')
    await browser.submit(`${list}/${id}/restore`)
    assert.equal(await claims(), undefined, 'it is back')
    await api.delete(`${productsPath}/${id}`, user.access)
    api.clock.advance(3590)
    assert.equal(await claims(), 'Desk Lamp')
    api.clock.advance(11)
    assert.equal(await claims(), undefined, 'there is no way back any more')
  })
})
