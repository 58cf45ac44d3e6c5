/** Notices tell the truth: no URL can forge one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Api, shareApi } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { chosen } from '../support/tiers.ts'

const list = '/console/products'
const account = '/console/account'

async function enter(api: Api) {
  const user = await signIn(api)
  const browser = openConsole(api)
  await browser.signIn(user.email)
  return { api, user, browser }
}

onAnyEngine('a notice', (engine) => {
  const shared = shareApi({ engine })

  test('cannot be forged with a URL', async () => {
    const { api, browser } = await enter(await shared())
    const names = ['product-created', 'product-saved', 'profile-saved', 'roles-saved', 'password-changed', 'signed-out']
    const others = ['session-over', 'registered', 'reset-sent', 'two-factor-off', 'unlocked']
    for (const [n, name] of [...names, ...others].entries()) {
      for (const parameter of chosen(['done', 'notice', 'latchkey_notice'], (_, i) => i === n % 3)) {
        for (const path of [list, account]) {
          const page = await browser.open(`${path}?${parameter}=${name}`)
          assert.deepEqual([page.status, /class="notice" role/.test(page.html)], [200, false], page.text)
        }
        const page = await openConsole(api).open(`/console/sign-in?${parameter}=${name}`)
        assert.doesNotMatch(page.html, /class="notice"/)
      }
    }
  })

  test('is shown once, and on the page it belongs to', async () => {
    const { browser } = await enter(await shared())
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

  test('with an unknown name shows nothing', async () => {
    const { browser } = await enter(await shared())
    for (const name of ['', 'toString', '__proto__', 'x', '<b>', 'x'.repeat(4000)]) {
      browser.cookies.set('latchkey_notice', { value: encodeURIComponent(`${name} ${account}`), attributes: [] })
      const page = await browser.open(account)
      assert.deepEqual([page.status, page.html.includes('class="notice"')], [200, false])
    }
  })

  test('the notice of a deletion, with its undo button, is shown only while the product is deleted', async () => {
    const { api, user, browser } = await enter(await shared())
    const id = await createProduct(api, user.access, { name: 'Desk Lamp' })
    const claims = async (address: unknown = id) => {
      const page = await browser.open(`${list}?deleted=${address}`)
      assert.equal(page.status, 200)
      return /“([^”]*)” is deleted\. Undo/.exec(page.text)?.[1]
    }
    for (const address of [id, 999_999, 0, -1, 'x', '99999999999999999999', '', `${id}&deleted=999`]) {
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
