/** The product pages of the console, in a browser without scripts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { shareService } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { register, signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow, withoutProducts } from '../support/products.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { chosen } from '../support/tiers.ts'

const list = '/console/products'
const lamp = { name: 'Desk Lamp', description: 'Bright and warm', price: '1234.5', category: 'home', stock: '3' }

onAnyEngine('products in the console', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })
  const start = async () => enter(await withoutProducts(await shared()))
  const startWithLamp = async () => addLamp(await start())

  test('require signing in, which leads back to the requested page', async () => {
    const browser = openConsole(await shared())
    for (const path of [list, `${list}/new`, `${list}/1`]) {
      const { status, location } = await browser.open(path)
      assert.deepEqual([status, location], [303, `/console/sign-in?next=${encodeURIComponent(path)}`])
    }
  })

  test('are created by a form, once however often it is sent, and listed with the newest on top', async () => {
    const { browser } = await start()
    assert.match((await browser.open(list)).text, /No products yet Create the first one/)
    await browser.open(`${list}/new`)
    const form = await browser.open(`${list}/new`)
    const sent = { ...form.hidden(list), ...lamp }
    const [created] = await Promise.all([browser.post(list, sent), browser.post(list, sent)])
    const page = await browser.follow(created)
    assert.match(page.text, /The product is created\..* 1 product .*Desk Lamp home \$1,234\.50 3 In stock/)
    // Another body of the same form is another product.
    await browser.post(list, { ...sent, name: 'Floor Lamp', category: '', stock: '' })
    const both = await browser.open(list)
    assert.match(both.text, /2 products .*Floor Lamp general \$1,234\.50 0 Sold out Desk Lamp home/)
  })

  test('are listed and found without their descriptions, of which a thousand may be a gigabyte', async (t) => {
    const reads: { mock: { calls: { result?: unknown }[] } }[] = []
    const { api, browser } = await start()
    reads.push(t.mock.method(api.db, 'all'), t.mock.method(api.db, 'scan'))
    await browser.open(`${list}/new`)
    await browser.submit(list, lamp)
    for (const query of ['', '?q=lamp', '?q=la', '?category=home', '?q=lamp&category=home']) {
      assert.match((await browser.open(`${list}${query}`)).text, /Desk Lamp home/)
    }
    const read = await Promise.all(reads.flatMap(({ mock }) => mock.calls.map(({ result }) => result)))
    assert.ok(JSON.stringify(read).includes(lamp.name))
    assert.ok(!JSON.stringify(read).includes(lamp.description))
  })

  test('that are invalid are refused with the messages of the API, at their fields, and no input is lost', async () => {
    const { api, browser } = await start()
    await browser.open(`${list}/new`)
    const typed = { name: 'x', description: ' ', price: 'cheap', category: 'c'.repeat(101), stock: '-1' }
    const page = await browser.submit(list, typed)
    assert.equal(page.status, 422)
    assert.deepEqual(errorsIn(page), {
      name: 'Must be between 2 and 255 characters.',
      description: 'Must not be blank.',
      price: 'Must be a number.',
      category: 'Must be at most 100 characters.',
      stock: 'Must be at least 0.',
    })
    for (const value of ['x', 'cheap', typed.category, '-1']) assert.ok(page.html.includes(`value="${value}"`), value)
    assert.match(page.text, /Some fields need another look/)
    assert.equal((await browser.submit(list, lamp)).status, 303)
    assert.equal((await api.get(`${productsPath}/`)).body.meta.total, 1)
  })

  test('may be typed as shown, with the dollar sign and commas', async () => {
    const { browser } = await start()
    await browser.open(`${list}/new`)
    const page = await browser.follow(await browser.submit(list, { ...lamp, price: ' $1,234,567.5 ', stock: '12,345' }))
    assert.match(page.text, /Desk Lamp home \$1,234,567\.50 12,345 In stock/)
    for (const price of ['$', ',', '1,2345', '1.2.3', 'ten']) {
      await browser.open(`${list}/new`)
      const refused = await browser.submit(list, { ...lamp, price })
      assert.match(refused.text, /Price in dollars Such as 1234\.50 or 1234,50\. Must be a number\./, price)
      assert.ok(refused.html.includes(`value="${price}"`), 'what was typed')
    }
  })

  test('may have a price typed with a comma or a point, but not one that may be either of two', async () => {
    const { api, browser, id } = await startWithLamp()
    const prices = { '12,50': 12.5, '12.50': 12.5, '1.234,50': 1234.5, '1,234.50': 1234.5, '7,9': 7.9 }
    for (const [price, saved] of Object.entries(prices)) {
      await browser.open(`${list}/${id}`)
      assert.equal((await browser.submit(`${list}/${id}`, { ...lamp, price })).status, 303, price)
      assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.price, saved, price)
    }
    for (const price of ['1.234', '1,234']) {
      await browser.open(`${list}/${id}`)
      const refused = await browser.submit(`${list}/${id}`, { ...lamp, price, stock: 'many' })
      assert.equal(refused.status, 422)
      assert.deepEqual(errorsIn(refused), {
        price: `“${price}” is unclear: type 1234.00 or 1.23.`,
        stock: 'Must be an integer.',
      })
      assert.ok(refused.html.includes(`value="${price}"`), 'what was typed')
    }
    assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.price, 7.9)
  })

  test('with a price crafted to be slow to parse take no longer than any form of that length', async () => {
    const { browser } = await start()
    const { _token = '' } = (await browser.open(`${list}/new`)).hidden(list)
    const send = async (field: string, value: string) => {
      const begun = performance.now()
      const { status } = await browser.post(list, { ...lamp, _token, [field]: value })
      assert.equal(status, 422)
      return performance.now() - begun
    }
    const bytes = 100_000
    const plain = Math.max(100, await send('name', 'x'.repeat(bytes)))
    const repeated = [' ', '1', '1,', ',111', '.', '$', '\n', ' $ ', '\u00a0']
    for (const field of ['price', 'stock']) {
      for (const each of chosen(repeated, (_, i) => field === 'price' || i % 3 === 0)) {
        const count = Math.floor(bytes / new URLSearchParams({ '': each }).toString().length)
        const ms = await send(field, `${each.repeat(count)}x`)
        assert.ok(ms < 50 * plain, `${JSON.stringify(each)} in ${field}: ${ms} ms, a name ${plain} ms`)
      }
    }
  })

  test('are changed by a form, all fields of it; a box that is not ticked means no', async () => {
    const { api, browser, id } = await startWithLamp()
    const page = await browser.open(`${list}/${id}`)
    assert.match(page.html, /name="active" value="true" checked/)
    assert.match(page.html, /value="1234\.50"/)
    const change = { name: 'Lamp', description: 'Two\r\nlines', price: '9.99', category: 'office', stock: '0' }
    const saved = await browser.follow(await browser.submit(`${list}/${id}`, change))
    assert.match(saved.text, /The product is saved\./)
    const { attributes } = (await api.get(`${productsPath}/${id}`)).body.data
    const { name, description, price, category, stock, active, slug } = attributes
    assert.deepEqual(
      { name, description, price, category, stock, active, slug },
      { ...change, description: 'Two\nlines', price: 9.99, stock: 0, active: false, slug: 'lamp' },
    )
    await browser.submit(`${list}/${id}`, { ...change, active: 'true' })
    assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.active, true)
  })

  test('stay unchanged if the new values are invalid', async () => {
    const { api, browser, id } = await startWithLamp()
    await browser.open(`${list}/${id}`)
    const page = await browser.submit(`${list}/${id}`, {
      name: ' ',
      description: '',
      price: '',
      stock: '1.5',
      active: 'maybe',
    })
    assert.equal(page.status, 422)
    assert.deepEqual(errorsIn(page), {
      name: 'Must not be blank.',
      price: 'Must not be blank.',
      stock: 'Must be an integer.',
    })
    assert.match(page.text, /Must be true or false\./)
    assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.name, 'Desk Lamp')
    // The form can be corrected and submitted again.
    assert.equal((await browser.submit(`${list}/${id}`, { ...lamp, price: '5', active: 'true' })).status, 303)
  })

  test('that somebody else changed are not overwritten: both versions are shown to choose from', async () => {
    const { api, browser, id, user } = await startWithLamp()
    const form = await browser.open(`${list}/${id}`)
    await api.put(`${productsPath}/${id}`, { price: 20, stock: 7 }, user.access)
    const mine = { ...lamp, description: 'Mine', price: '30', active: 'true' }
    const page = await browser.submit(`${list}/${id}`, mine)
    assert.equal(page.status, 412)
    assert.match(page.text, /Somebody else changed this product/)
    assert.match(page.text, /Description Mine Bright and warm Price 30 20\.00 Stock 3 7 /)
    assert.doesNotMatch(page.text, /Name Desk Lamp Desk Lamp/)
    assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.price, 20)
    assert.ok(page.html.includes('>Mine</textarea>') && page.html.includes('value="30"'))
    // After the conflict was shown, saving overwrites; the old form still does not.
    assert.equal((await browser.submit(`${list}/${id}`, mine)).status, 303)
    assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.price, 30)
    assert.equal((await browser.post(`${list}/${id}`, { ...form.hidden(`${list}/${id}`), ...mine })).status, 412)
  })

  test('that were deleted meanwhile keep the input in a form for a new product', async () => {
    const { api, browser, id, user } = await startWithLamp()
    await browser.open(`${list}/${id}`)
    await api.delete(`${productsPath}/${id}`, user.access)
    const page = await browser.submit(`${list}/${id}`, { ...lamp, name: 'Typed with care' })
    assert.equal(page.status, 404)
    assert.match(page.text, /has been deleted meanwhile/)
    assert.ok(page.html.includes('value="Typed with care"'))
    assert.equal((await browser.submit(list, { ...lamp, name: 'Typed with care' })).status, 303)
  })

  test('are deleted and, by a button, back again', async () => {
    const { api, browser, id, user } = await startWithLamp()
    await browser.open(`${list}/${id}`)
    const page = await browser.follow(await browser.submit(`${list}/${id}/delete`))
    assert.match(page.text, /“Desk Lamp” is deleted\. Undo/)
    assert.equal((await api.get(`${productsPath}/${id}`)).status, 404)
    assert.equal((await browser.open(`${list}/${id}`)).status, 404)
    await browser.open(page.location ?? `${list}?deleted=${id}`)
    const sent = await browser.submit(`${list}/${id}/restore`)
    assert.match((await browser.follow(sent)).text, /The product is back\..*Desk Lamp Duplicate/)
    assert.equal((await api.get(`${productsPath}/${id}`)).status, 200)
    assert.equal((await api.get(`${productsPath}/`)).body.meta.total, 1)
    assert.equal((await api.get(`${productsPath}/?q=lamp`)).body.meta.total, 1)
    // Undoing twice is fine; a product that never existed cannot be restored.
    const { _token = '' } = (await browser.open(list)).hidden('/console/sign-out')
    assert.equal((await browser.post(`${list}/${id}/restore`, { _token })).status, 303)
    const stale = await browser.open(`${list}?deleted=${id}`)
    assert.ok(!stale.text.includes('is deleted'), 'it is there')
    assert.equal((await browser.post(`${list}/999/restore`, { _token })).status, 404)
    assert.equal((await api.delete(`${productsPath}/${id}`, user.access)).status, 204)
  })

  test('that were deleted more than an hour ago cannot be restored', async () => {
    const { api, browser, id } = await startWithLamp()
    await browser.open(`${list}/${id}`)
    await browser.submit(`${list}/${id}/delete`)
    api.clock.advance(3590)
    await browser.open(`${list}?deleted=${id}`)
    assert.equal((await browser.submit(`${list}/${id}/restore`)).status, 303)
    await browser.open(`${list}/${id}`)
    await browser.submit(`${list}/${id}/delete`)
    api.clock.advance(3601)
    const { _token = '' } = (await browser.open(list)).hidden('/console/sign-out')
    assert.equal((await browser.post(`${list}/${id}/restore`, { _token })).status, 404)
    assert.equal((await api.get(`${productsPath}/${id}`)).status, 404)
  })

  test('are found by a part of the name, by category, and by both', async () => {
    const { api, browser, user } = await startWithLamp()
    await createProduct(api, user.access, { name: 'Floor lamp', category: 'office' })
    await createProduct(api, user.access, { name: 'Chair', category: 'office', stock: 0 })
    const hidden = await createProduct(api, user.access, { name: 'Old lamp' })
    await api.put(`${productsPath}/${hidden}`, { active: false }, user.access)
    assert.deepEqual(namesIn(await browser.open(`${list}?q=LAMP`)), ['Desk Lamp', 'Floor lamp'])
    assert.deepEqual(namesIn(await browser.open(`${list}?category=office`)), ['Chair', 'Floor lamp'])
    assert.deepEqual(namesIn(await browser.open(`${list}?q=lamp&category=office`)), ['Floor lamp'])
    assert.deepEqual(namesIn(await browser.open(`${list}?q=l&category=office`)), ['Floor lamp'])
    const page = await browser.open(`${list}?q=&category=`)
    assert.deepEqual(namesIn(page), ['Old lamp', 'Chair', 'Floor lamp', 'Desk Lamp'])
    assert.match(page.text, /All categories home office .*Old lamp home \$1,234\.50 3 Inactive/)
    const none = await browser.open(`${list}?q=sofa&category=office`)
    assert.match(none.text, /Nothing found No active product with “sofa” in its name in the category “office”\./)
    assert.match(none.html, /<option value="office" selected>/)
  })

  test('found by a search are shown a hundred at a time, with a note that there are more', async () => {
    const { browser, insert } = await start()
    await insert(250)
    const first = await browser.open(`${list}?q=thing`)
    assert.deepEqual([namesIn(first).length, namesIn(first)[0]], [100, 'Thing 0001'])
    assert.match(first.text, /The first 100 found, by name\. There are more\./)
    assert.match(first.html, /href="\/console\/products\?q=thing&#38;page=2"/)
    const last = await browser.open(`${list}?q=thing&page=3`)
    assert.deepEqual([namesIn(last).length, namesIn(last)[0]], [50, 'Thing 0201'])
    assert.match(last.text, /Found, by name: 201 to 250\. There are no more\./)
    assert.doesNotMatch(last.html, /rel="next"/)
    const category = await browser.open(`${list}?category=general&page=2`)
    assert.equal(namesIn(category)[0], 'Thing 0101')
    for (const beyond of ['4', '999999999999999999999']) {
      assert.match((await browser.open(`${list}?q=thing&page=${beyond}`)).text, /Nothing found/)
    }
  })

  test('come in pages, from the newest to the oldest, and a page beyond the last says so', async () => {
    const { browser, insert } = await start()
    await insert(60)
    const pages = []
    for (const page of [1, 2, 3]) pages.push(await browser.open(`${list}?page=${page}`))
    const expected = Array.from({ length: 60 }, (_, i) => `Thing ${String(60 - i).padStart(4, '0')}`)
    assert.deepEqual(pages.flatMap(namesIn), expected)
    assert.match(pages[0]?.text ?? '', /Page 1 of 3 · 60 in all Next/)
    assert.match(pages[2]?.text ?? '', /Previous Page 3 of 3 · 60 in all/)
    for (const page of ['4', '9007199254740993', '99999999999999999999999']) {
      assert.match((await browser.open(`${list}?page=${page}`)).text, /There is no page .*Go to the last page/)
    }
    for (const page of ['0', '-1', 'x', '1e9', '']) {
      assert.equal(namesIn(await browser.open(`${list}?page=${page}`))[0], 'Thing 0060', page)
    }
  })

  test('can be requested with any input without harm', async () => {
    const { browser } = await startWithLamp()
    const hostile = [
      '%',
      '_',
      "'",
      '"',
      '\\',
      '%00',
      '%ff',
      '%ed%a0%80',
      '%f0%9f%92%a1',
      '*',
      'a'.repeat(2000),
      '--',
      '%3Cb%3E',
    ]
    for (const q of hostile) {
      for (const path of [
        `${list}?q=${q}`,
        `${list}?category=${q}`,
        `${list}?q=${q}&category=${q}&deleted=${q}&done=${q}`,
      ]) {
        const page = await browser.open(path)
        assert.equal(page.status, 200, path)
        assert.match(page.text, /Nothing found/, path)
      }
    }
    assert.deepEqual(namesIn(await browser.open(`${list}?q=lamp&q=x&page=1&page=2`)), ['Desk Lamp'])
    for (const path of [`${list}/0`, `${list}/999`, `${list}/99999999999999999999`, `${list}/x`, `${list}/1x`]) {
      const page = await browser.open(path)
      assert.equal(page.status, 404, path)
      assert.match(page.text, /There is nothing here/)
    }
    const slashed = await browser.open(`${list}/?q=lamp/`)
    assert.deepEqual([slashed.status, slashed.location], [308, `${list}?q=lamp/`])
  })

  test('may have any text: names, categories and descriptions are escaped', async () => {
    const { api, browser, user } = await start()
    const evil = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`
    const id = await createProduct(api, user.access, { name: evil, description: `</textarea>${evil}`, category: evil })
    const pages = [
      await browser.open(list),
      await browser.open(`${list}?q=${encodeURIComponent(evil)}&category=${encodeURIComponent(evil)}`),
      await browser.open(`${list}?q=${encodeURIComponent(`${evil}!`)}`),
      await browser.open(`${list}/${id}`),
      await browser.submit(`${list}/${id}`, {
        name: evil,
        description: evil,
        price: evil,
        category: evil,
        stock: evil,
      }),
    ]
    for (const page of pages) {
      assert.ok(page.text.includes(evil), page.text)
      assert.doesNotMatch(page.html, /<img src=x|<script>|<\/textarea>"/)
      assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self';/)
    }
  })

  test('are changed only with the permission, if one is configured; other users see no buttons', async (t) => {
    const config = createConfig(t, { products: 'products {\n  write_permission = "posts.edit"\n}\n' })
    const { api, browser, id } = await addLamp(await enter(await startApiWithRoles(t, { engine, config })))
    const reader = openConsole(api)
    await reader.signIn((await register(api, 'reader@example.com')).email)
    const page = await reader.open(list)
    assert.deepEqual(namesIn(page), ['Desk Lamp'])
    assert.doesNotMatch(page.text, /New product/)
    const details = await reader.open(`${list}/${id}`)
    assert.match(details.text, /Desk Lamp Bright and warm Status In stock Price \$1,234\.50/)
    assert.ok(!details.hasForm(`${list}/${id}`) && !details.hasForm(`${list}/${id}/delete`))
    assert.doesNotMatch((await reader.open(`${list}?deleted=${id}`)).text, /Undo/)
    assert.equal((await reader.open(`${list}/new`)).status, 403)
    const token = (await reader.open(list)).hidden('/console/sign-out')
    for (const path of [list, `${list}/${id}`, `${list}/${id}/delete`, `${list}/${id}/restore`]) {
      const refused = await reader.post(path, { ...token, ...lamp })
      assert.equal(refused.status, 403, path)
      assert.match(refused.text, /You may not do that/)
    }
    assert.ok((await browser.open(`${list}/${id}`)).hasForm(`${list}/${id}`))
    assert.equal((await api.get(`${productsPath}/${id}`)).status, 200)
  })

  test('are changed by no form that another site could send', async () => {
    const { api, browser, id } = await startWithLamp()
    const other = openConsole(api)
    await other.signIn((await register(api, 'other@example.com')).email)
    const theirs = (await other.open(`${list}/${id}`)).hidden(`${list}/${id}`)
    for (const path of [list, `${list}/${id}`, `${list}/${id}/delete`, `${list}/${id}/restore`]) {
      for (const forged of [{}, { _token: 'x.y' }, theirs]) {
        assert.equal((await browser.post(path, { ...lamp, ...forged })).status, 403, path)
      }
      const own = (await browser.open(list)).hidden('/console/sign-out')
      assert.equal(
        (await browser.post(path, { ...lamp, ...own }, { 'sec-fetch-site': 'cross-site' })).status,
        403,
        path,
      )
    }
    assert.equal((await api.get(`${productsPath}/`)).body.meta.total, 1)
    assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.price, 1234.5)
  })
})

/** An editor who is signed in to the API and the console. */
async function enter(api: ApiWithRoles) {
  const user = await signIn(api)
  await api.grant(user, 'editor')
  const browser = openConsole(api)
  assert.equal((await browser.signIn(user.email)).status, 303)
  return {
    api,
    user,
    browser,
    /** `Thing 0001` and so on. */
    async insert(count: number) {
      const things = Array.from({ length: count }, (_, i) => ({
        ...sampleRow,
        name: `Thing ${String(i + 1).padStart(4, '0')}`,
      }))
      await api.db.write(insertMany(api.db.dialect, things, api.clock.nowIso()))
    },
  }
}

async function addLamp(entered: Awaited<ReturnType<typeof enter>>) {
  return { ...entered, id: await createProduct(entered.api, entered.user.access) }
}

/** In the order of the table. */
function namesIn({ html }: ConsolePage): string[] {
  return [...html.matchAll(/<td class="title"><a [^>]*>([^<]*)<\/a>/g)].map(([, name = '']) => name)
}

/** The message of each field, found by `aria-describedby`. */
function errorsIn({ html }: ConsolePage): Record<string, string> {
  const errors = [...html.matchAll(/<p class="error" id="field-(\w+)-error">([^<]*)<\/p>/g)]
  for (const [, name] of errors) {
    assert.match(
      html,
      new RegExp(`name="${name}"[^>]* aria-invalid="true" aria-describedby="[^"]*field-${name}-error"`),
    )
  }
  return Object.fromEntries(errors.map(([, name = '', text = '']) => [name, text]))
}
