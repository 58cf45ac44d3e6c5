/** Several products of the console's list changed at once, in a browser without scripts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { register, signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const list = '/console/products'
const bulk = `${list}/bulk`

onAnyEngine('products of the console, changed together', (engine) => {
  const service = share(async (owner) => {
    const api = await startApiWithRoles(owner, { engine, env: unlimitedRates })
    const user = await signIn(api)
    const browser = openConsole(api)
    assert.equal((await browser.signIn(user.email)).status, 303)
    const read = async (id: number) => (await api.get(`${productsPath}/${id}`)).body.data?.attributes
    /** Three products of a name that no other test has, and what selects them on their list. */
    async function make(name: string, fields: object = {}) {
      const ids: number[] = []
      for (const each of ['one', 'two', 'three']) {
        ids.push(await createProduct(api, user.access, { name: `${name} ${each}`, price: 10, ...fields }))
      }
      return { ids, picks: async () => picksIn(await browser.open(`${list}?q=${name}`)) }
    }
    return { api, user, browser, read, make }
  })

  test('are activated and deactivated, with as many entries in the change log as there are changes', async () => {
    const { api, browser, read, make } = await service()
    const { ids, picks } = await make('switch')
    const [first = 0, second = 0, third = 0] = ids
    const picked = await picks()
    assert.equal(picked.length, 3)
    const { body } = await api.get(`${productsPath}?per_page=1`)
    assert.ok(body.meta.total >= 3)
    const cursor = (await api.get(productsPath)).headers.get('x-cursor')
    const off = await browser.submit(bulk, { action: 'deactivate', pick: picked.slice(0, 2), back: 'q=switch' })
    assert.deepEqual([off.status, off.location], [303, `${list}?q=switch`])
    assert.match((await browser.follow(off)).text, /2 products are changed\./)
    assert.deepEqual([(await read(first)).active, (await read(second)).active, (await read(third)).active].sort(), [
      false,
      false,
      true,
    ])
    const log = (await api.get(`${productsPath}/changes?after=${cursor}`)).body.data
    assert.deepEqual(log.map(({ type, data }: { type: string; data: { id: number } }) => [type, data.id]).length, 2)
    assert.ok(log.every(({ type }: { type: string }) => type === 'product.updated'))
    const history = await browser.open(`${list}/${log[0].data.id}`)
    assert.match(history.text, /Edited by you .* Active yes → no/)

    const all = picksIn(await browser.open(`${list}?sort=-id`)).filter((pick) =>
      ids.includes(Number.parseInt(pick, 10)),
    )
    const on = await browser.submit(bulk, { action: 'activate', pick: all })
    assert.equal(on.status, 200)
    assert.match(on.text, /2 products changed 1 was like that already\./)
    assert.deepEqual(
      [(await read(first)).active, (await read(second)).active, (await read(third)).active],
      [true, true, true],
    )
  })

  test('that somebody else has changed meanwhile are not overwritten, but named', async () => {
    const { api, user, browser, read, make } = await service()
    const { ids, picks } = await make('meanwhile')
    const [first = 0, second = 0, third = 0] = ids
    const pick = await picks()
    await api.put(`${productsPath}/${second}`, { price: 77 }, user.access)
    await api.delete(`${productsPath}/${third}`, user.access)
    const sent = { action: 'price', pick, percent: '10', step: 'confirmed' }
    const page = await browser.submit(bulk, sent)
    assert.match(
      page.text,
      /1 product changed 1 product was changed by somebody else meanwhile and was not changed: meanwhile two \. 1 is deleted already\./,
    )
    assert.deepEqual([(await read(first)).price, (await read(second)).price], [11, 77])
    // The same form again: nothing is as it was.
    await browser.open(`${list}?q=meanwhile`)
    assert.match((await browser.submit(bulk, sent)).text, /0 products changed 2 products were changed by somebody else/)
    assert.deepEqual([(await read(first)).price, (await read(second)).price], [11, 77])
  })

  test('are deleted after a question that shows them, and come back by a button', async () => {
    const { api, browser, read, make } = await service()
    const { ids, picks } = await make('doomed')
    const pick = await picks()
    const asked = await browser.submit(bulk, { action: 'delete', pick })
    assert.match(asked.text, /Delete 3 products\? .*doomed one home \$10\.00.*doomed two/)
    for (const id of ids) assert.ok(await read(id), 'only asked')
    const done = await browser.post(bulk, { ...asked.hidden(bulk), pick, action: 'delete', step: 'confirmed' })
    assert.match(done.text, /3 products deleted Undo/)
    for (const id of ids) assert.equal((await api.get(`${productsPath}/${id}`)).status, 404)
    const back = ids.map((id) => `${id}:1`)
    const undone = await browser.submit(bulk, { action: 'restore', pick: back })
    assert.match((await browser.follow(undone)).text, /3 products are back\./)
    for (const id of ids) assert.ok(await read(id))
  })

  test('get a price by percent, rounded as prices are, after a preview', async () => {
    const { browser, read, make } = await service()
    const { ids, picks } = await make('percent', { price: 9.99 })
    const pick = await picks()
    const asked = await browser.submit(bulk, { action: 'price', pick })
    assert.match(asked.text, /The price of 3 products .* Change in percent/)
    const fields = { ...asked.hidden(bulk), pick, action: 'price' }
    const preview = await browser.post(bulk, { ...fields, percent: '-12,5', step: 'preview' })
    assert.match(preview.text, /New price percent one home \$9\.99 \$8\.74 .* Change the prices/)
    assert.equal((await read(ids[0] ?? 0)).price, 9.99)
    const done = await browser.post(bulk, { ...preview.hidden(bulk), pick, step: 'confirmed' })
    assert.match((await browser.follow(done)).text, /3 products are changed\./)
    for (const id of ids) assert.equal((await read(id)).price, 8.74)
  })

  test('keep their price if the new one would be impossible, or the percentage is none', async () => {
    const { browser, read, make } = await service()
    const { ids, picks } = await make('cheap', { price: 0.01 })
    const pick = await picks()
    for (const [percent, problem] of [
      ['-60', /Prices must be from \$0\.01 to \$99,999,999\.99: “cheap one” would cost \$0\.00/],
      ['-100', /Must be more than -100 and at most 1000/],
      ['0', /Must not be 0/],
      ['lots', /Must be a number such as 10 or -12\.5/],
      ['', /Must be a number such as 10 or -12\.5/],
    ] as const) {
      for (const step of ['preview', 'confirmed']) {
        const page = await browser.submit(bulk, { action: 'price', pick, percent, step })
        assert.equal(page.status, 422, percent)
        assert.match(page.text, problem)
        assert.ok(page.html.includes(`value="${percent}"`), 'what was typed')
      }
    }
    const { ids: dear, picks: dearPicks } = await make('dear', { price: 99999999.99 })
    const page = await browser.submit(bulk, { action: 'price', pick: await dearPicks(), percent: '1', step: 'preview' })
    assert.match(page.text, /“dear one” would cost \$100,999,999\.99/)
    assert.equal((await read(ids[0] ?? 0)).price, 0.01)
    assert.equal((await read(dear[0] ?? 0)).price, 99999999.99)
  })

  test('get a category, which is asked for first', async () => {
    const { browser, read, make } = await service()
    const { ids, picks } = await make('moved')
    const pick = await picks()
    const asked = await browser.submit(bulk, { action: 'category', pick, back: 'q=moved' })
    assert.match(asked.text, /The category of 3 products .* New category/)
    const fields = { ...asked.hidden(bulk), pick, action: 'category', step: 'confirmed' }
    const wrong = await browser.post(bulk, { ...fields, category: 'c'.repeat(101) })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /Must be at most 100 characters\./)
    assert.ok(wrong.html.includes(`value="${'c'.repeat(101)}"`))
    const done = await browser.post(bulk, { ...fields, category: 'a & b' })
    assert.equal(done.location, `${list}?q=moved`)
    for (const id of ids) assert.equal((await read(id)).category, 'a & b')
    const cleared = await browser.post(bulk, { ...fields, pick: await picks(), category: ' ' })
    assert.equal(cleared.status, 303)
    for (const id of ids) assert.equal((await read(id)).category, 'general')
  })

  test('are selected one by one, or all of a page by a link', async () => {
    const { browser, make } = await service()
    await make('whole')
    const page = await browser.open(`${list}?q=whole`)
    assert.doesNotMatch(page.html, /name="pick"[^>]* checked>/)
    const [, address = ''] = /href="([^"]*)" data-pick-link/.exec(page.html) ?? []
    const selected = await browser.open(address.replaceAll('&#38;', '&'))
    assert.equal(selected.html.match(/name="pick"[^>]* checked>/g)?.length, 3)
    assert.equal(selected.hidden(bulk).back, 'q=whole')
  })

  test('are left alone by a form that selects none of them, or sends anything else', async () => {
    const { browser, read, make } = await service()
    const { ids, picks } = await make('alone')
    const pick = await picks()
    for (const sent of [
      { action: 'deactivate' },
      { action: 'deactivate', pick: ['', 'x', '1', ':', '0:1', '-1:1', '99999999999999999999:1'] },
      { action: 'explode', pick },
      { action: 'toString', pick },
      { pick },
    ]) {
      await browser.open(`${list}?q=alone`)
      const page = await browser.submit(bulk, sent)
      assert.equal(page.notice, 'products-none-picked', JSON.stringify(sent))
    }
    await browser.open(`${list}?q=alone`)
    const strange = await browser.submit(bulk, { action: 'deactivate', pick: '987654321:1' })
    assert.match(strange.text, /0 products changed 1 is deleted already\./)
    await browser.open(`${list}?q=alone`)
    const elsewhere = await browser.submit(bulk, { action: 'activate', back: 'https://evil.example/?q=1&deleted=2' })
    assert.equal(elsewhere.location, list)
    for (const id of ids) assert.equal((await read(id)).active, true)
  })

  test('are changed a hundred at a time', async () => {
    const { api, browser } = await service()
    const rows = Array.from({ length: 100 }, (_, i) => ({ ...sampleRow, name: `Hundred ${i}` }))
    await api.db.write(insertMany(engine, rows, api.clock.nowIso()))
    const pick = picksIn(await browser.open(`${list}?q=hundred`))
    assert.equal(pick.length, 100)
    const done = await browser.submit(bulk, { action: 'deactivate', pick })
    assert.match((await browser.follow(done)).text, /100 products are changed\./)
    const { body } = await api.get(`${productsPath}?q=hundred`)
    assert.equal(body.meta.total, 0)
  })

  test('are changed only with the permission, if one is configured', async (t) => {
    const config = createConfig(t, { products: 'products {\n  write_permission = "posts.edit"\n}\n' })
    const api = await startApiWithRoles(t, { engine, config })
    const user = await signIn(api)
    await api.grant(user, 'editor')
    const id = await createProduct(api, user.access)
    const reader = openConsole(api)
    await reader.signIn((await register(api, 'reader@example.com')).email)
    const page = await reader.open(list)
    assert.ok(!page.hasForm(bulk) && picksIn(page).length === 0)
    assert.doesNotMatch((await reader.open(`${list}?edit=${id}`)).html, /data-edited|class="edit"/)
    const token = page.hidden('/console/sign-out')
    for (const path of [bulk, `${list}/${id}/quick`]) {
      const refused = await reader.post(path, { ...token, action: 'deactivate', pick: `${id}:1`, price: '1' })
      assert.equal(refused.status, 403)
    }
    assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.active, true)
  })
})

/** What the boxes of the rows send. */
function picksIn({ html }: ConsolePage): string[] {
  return [...html.matchAll(/name="pick" value="([^"]*)"/g)].map(([, value = '']) => value)
}
