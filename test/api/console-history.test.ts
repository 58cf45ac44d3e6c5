/** The history of a product in the console, from the change log. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { startRetention } from '../../src/platform/changes/retention.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { shareService } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsoleBrowser, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { again, type SignedIn, signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow } from '../support/products.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const list = '/console/products'
const restricted = { products: 'products {\n  write_permission = "posts.edit"\n}\n' }

onAnyEngine('the history of a product', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('tells what changed with each version and who did it, newest first', async () => {
    const { api, root, browser } = await enter(await shared())
    const bob = await person(api, 'Bob')
    const id = await createProduct(api, bob.access, { name: 'Desk Lamp', price: 20, stock: 3 })
    const path = `${productsPath}/${id}`
    await api.put(path, { price: 1999.5, description: '' }, root.access)
    await api.put(path, { price: 1999.5 }, root.access)
    await browser.open(`${list}/${id}`)
    const form = { name: 'Floor Lamp', description: 'Tall', price: '5', stock: '0', category: 'office' }
    await browser.submit(`${list}/${id}`, form)
    await browser.open(`${list}/${id}`)
    await browser.submit(`${list}/${id}/delete`)
    await browser.open(`${list}?deleted=${id}`)
    await browser.submit(`${list}/${id}/restore`)
    assert.deepEqual(await versionsOn(browser, `${list}/${id}`), [
      'Restored by you',
      'Deleted by you',
      'Edited by you Name Desk Lamp → Floor Lamp Description empty → Tall Price $1,999.50 → $5.00 Stock 3 → 0 Category home → office Active yes → no',
      'Edited by you Saved without a change.',
      'Edited by you Description Bright and warm → empty Price $20.00 → $1,999.50',
      `Created by Bob (${bob.email})`,
    ])
  })

  test('names nobody to those who may see neither users nor change products', async (t) => {
    const { api, root } = await start(t, engine, restricted)
    const [bob, gone] = [await person(api, 'Bob'), await person(api, 'Gone')]
    const nameless = await person(api, '')
    for (const each of [bob, gone, nameless]) await api.grant(each, 'editor')
    const id = await createProduct(api, bob.access)
    const path = `${productsPath}/${id}`
    for (const [price, { access }] of [root, gone, nameless].entries())
      await api.put(path, { price: price + 1 }, access)
    assert.equal((await api.delete(`/api/admin/users/${gone.id}`, root.access)).status, 204)
    await api.db.write(insertMany(engine, [{ ...sampleRow, name: 'Made' }], api.clock.nowIso()))
    const imported = id + 1

    const seenBy = async (user: { email: string }, product = id) => {
      const browser = openConsole(api)
      await browser.signIn(user.email)
      return (await versionsOn(browser, `${list}/${product}`)).map((version) => version.replace(/ Price.*/, ''))
    }
    const rest = (root: string, bob: string) => [`Edited by ${root}`, `Created by ${bob}`]
    assert.deepEqual(await seenBy(root), [
      `Edited by ${nameless.email}`,
      'Edited by a deleted user',
      ...rest('you', `Bob (${bob.email})`),
    ])
    assert.deepEqual(await seenBy(bob), [
      `Edited by user ${nameless.id}`,
      'Edited by a deleted user',
      ...rest('Ada', 'you'),
    ])
    const viewer = await person(api, 'Viewer')
    assert.deepEqual(await seenBy(viewer), [
      `Edited by user ${nameless.id}`,
      'Edited by a deleted user',
      ...rest(`user ${root.id}`, `user ${bob.id}`),
    ])
    assert.deepEqual(await seenBy(viewer, imported), ['Created by a command or a program'])
  })

  test('escapes what users have typed, in values and in names', async () => {
    const { api, browser, root } = await enter(await shared())
    const hostile = '<img src=x onerror=alert(1)>'
    const eve = await person(api, hostile)
    const id = await createProduct(api, eve.access, { name: `${hostile} 1`, category: '</dl><script>' })
    await api.put(`${productsPath}/${id}`, { name: `${hostile} 2`, category: '" onclick="' }, eve.access)
    for (const path of [`${list}/${id}`, `${list}/${id}/history`]) {
      const { html, text } = await browser.open(path)
      assert.ok(!html.includes('<img src=x') && !html.includes('<script>') && !html.includes('" onclick'), path)
      assert.ok(text.includes(`by ${hostile} (${eve.email})`) && text.includes(`${hostile} 1 → ${hostile} 2`))
    }
    assert.equal((await api.delete(`${productsPath}/${id}`, root.access)).status, 204)
    const { html, text } = await browser.open(`${list}/${id}/history`)
    assert.ok(!html.includes('<img src=x'))
    assert.ok(text.includes(`History of “${hostile} 2”`) && text.includes('The product is deleted.'))
    assert.equal((await browser.open(`${list}/${id}`)).status, 404)
  })

  test('goes back version by version, each shown once, also where they are long', async () => {
    const { api, root, browser } = await enter(await shared())
    const id = await createProduct(api, root.access)
    for (let price = 1; price <= 45; price++) await api.put(`${productsPath}/${id}`, { price }, root.access)
    const prices = Array.from({ length: 44 }, (_, i) => `Edited by you Price $${44 - i}.00 → $${45 - i}.00`)
    const all = [...prices, 'Edited by you Price $1,234.50 → $1.00', 'Created by you']
    assert.deepEqual(await versionsOnAll(browser, `${list}/${id}`), all)
    assert.deepEqual(await versionsOnAll(browser, `${list}/${id}/history`), all)

    const long = await createProduct(api, root.access, { description: 'a'.repeat(900_000) })
    for (const end of ['b', 'c', 'd']) {
      const description = `${'a'.repeat(900_000)}${end}`
      assert.equal((await api.put(`${productsPath}/${long}`, { description }, root.access)).status, 200)
    }
    const common = `…${'a'.repeat(24)}`
    assert.deepEqual(await versionsOnAll(browser, `${list}/${long}`), [
      `Edited by you Description ${common}c → ${common}d`,
      `Edited by you Description ${common}b → ${common}c`,
      `Edited by you Description ${common} → ${common}b`,
      'Created by you',
    ])
  })

  test('says so where older versions are no longer kept', async (t) => {
    const { api, root, browser } = await start(t, engine)
    const id = await createProduct(api, root.access)
    const quiet = await createProduct(api, root.access)
    const log = createLogger({ level: 'silent', isTerminal: false })
    const retention = startRetention({ db: api.db, clock: api.clock, log, days: 30, cursors: { pending: undefined } })
    t.after(() => retention.close())
    api.clock.advance(31 * 86_400)
    await browser.signIn(root.email)
    const { access } = await again(api, root)
    await api.put(`${productsPath}/${id}`, { price: 1 }, access)
    await api.put(`${productsPath}/${id}`, { price: 2 }, access)
    await retention.run()
    assert.deepEqual(await versionsOn(browser, `${list}/${id}`), [
      'Edited by you Price $1.00 → $2.00',
      'Edited by you What changed is not known: the version before is no longer kept.',
    ])
    assert.match(
      (await browser.open(`${list}/${id}`)).text,
      /Older versions are no longer kept\. The log goes back 30 days\./,
    )
    // The newest of the old entries stays, as somebody's cursor.
    await api.put(`${productsPath}/${quiet}`, { price: 3 }, access)
    await api.db.write({ sql: 'DELETE FROM changes WHERE entity_id = $1', params: [quiet] })
    assert.match(
      (await browser.open(`${list}/${quiet}`)).text,
      /History No version is kept\. The log goes back 30 days\./,
    )
  })

  test('is not for those who are not signed in, and not of what never was', async () => {
    const { api, browser } = await enter(await shared())
    const path = `${list}/777777/history`
    assert.equal((await openConsole(api).open(path)).location, `/console/sign-in?next=${encodeURIComponent(path)}`)
    for (const each of [path, `${list}/9999999999999999/history`]) assert.equal((await browser.open(each)).status, 404)
    const id = await createProduct(api, (await signIn(api)).access)
    for (const before of ['', 'x', '-1', '9'.repeat(30)]) {
      assert.equal((await versionsOn(browser, `${list}/${id}/history?before=${before}`)).length, 1, before)
    }
    assert.deepEqual(await versionsOn(browser, `${list}/${id}/history?before=1`), [])
  })
})

async function start(t: TestContext, engine: Dialect, files?: Record<string, string>) {
  const api = await startApiWithRoles(t, { engine, ...(files && { config: createConfig(t, files) }) })
  return enter(api)
}

/** As an administrator. */
async function enter(api: ApiWithRoles) {
  const root = await person(api, 'Ada')
  await api.grant(root, 'admin')
  const browser = openConsole(api)
  await browser.signIn(root.email)
  return { api, root, browser }
}

async function person(api: ApiWithRoles, name: string): Promise<SignedIn> {
  const user = await signIn(api)
  await api.db.write({ sql: 'UPDATE users SET name = $1 WHERE id = $2', params: [name, user.id] })
  return user
}

/** What the page tells, version by version, without the times. */
async function versionsOn(browser: ConsoleBrowser, path: string): Promise<string[]> {
  const { html, status } = await browser.open(path)
  assert.equal(status, 200, path)
  const [, items = ''] = /<ol class="history">(.*?)<\/ol>/s.exec(html) ?? []
  return items
    .split('</li>')
    .slice(0, -1)
    .map((item) => {
      const text = item.replace(/<time.*?<\/time>/g, '').replace(/<[^>]*>/g, ' ')
      return text.replace(/\s+/g, ' ').trim()
    })
}

/** Also those that the links to older versions lead to. */
async function versionsOnAll(browser: ConsoleBrowser, path: string): Promise<string[]> {
  const versions = await versionsOn(browser, path)
  const [, older] =
    /<a(?: rel="next")? href="([^"]*\?before=\d+)">Older versions/.exec((await browser.open(path)).html) ?? []
  return older === undefined ? versions : [...versions, ...(await versionsOnAll(browser, older))]
}
