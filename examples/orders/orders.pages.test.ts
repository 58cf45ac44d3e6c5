/** Orders in the console. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { engines } from 'latchkey/testing'
import { start } from './orders.testing.ts'

for (const engine of engines) {
  describe(`the pages of orders, on ${engine}`, () => {
    test('are served, and the navigation of every page leads to them', async (t) => {
      const { createProduct, place, signInToConsole } = await start(t, engine)
      const lamp = await createProduct('Lamp', 19.99, 5)
      const { id } = (await place([{ product_id: lamp, quantity: 2 }])).body.data
      const browser = await signInToConsole('ada@example.com')
      const elsewhere = await browser.open('/console/account')
      assert.match(elsewhere.html, /<a href="\/console\/orders">.*? Orders<\/a>/)
      const list = await browser.open('/console/orders')
      assert.equal(list.status, 200)
      assert.match(list.html, /<a href="\/console\/orders" aria-current="page">.*? Orders<\/a>/)
      assert.match(list.html, new RegExp(`<a href="/console/orders/${id}">Order ${id}</a>`))
      assert.match(list.html, /39\.98/)
      const page = await browser.open(`/console/orders/${id}`)
      assert.match(page.html, /<h1>Order \d+<\/h1>/)
      assert.match(page.html, /<td data-label="Name">Lamp<\/td>/)
    })

    test('are for who placed the order: others find nothing, and strangers are led to the form', async (t) => {
      const { service, createProduct, place, stockOf, signInToConsole } = await start(t, engine)
      const lamp = await createProduct('Lamp', 1, 5)
      const { id } = (await place([{ product_id: lamp, quantity: 2 }])).body.data
      const path = `/console/orders/${id}`
      for (const each of ['/console/orders', path]) {
        const { status, headers } = await service.get(each)
        assert.deepEqual([status, headers.get('location')], [303, `/console/sign-in?next=${encodeURIComponent(each)}`])
      }
      const bob = await signInToConsole('bob@example.com')
      assert.doesNotMatch((await bob.open('/console/orders')).html, /Order \d/)
      assert.equal((await bob.open(path)).status, 404)
      const { _token = '' } = (await bob.open('/console/orders/new')).hidden('/console/orders')
      assert.equal((await bob.post(path, { status: 'cancelled', _token })).status, 404)
      assert.equal((await bob.open('/console/orders/999')).status, 404)
      assert.equal(await stockOf(lamp), 3)
    })

    test('cancel an order by a form, which a forged one cannot', async (t) => {
      const { createProduct, place, stockOf, signInToConsole } = await start(t, engine)
      const lamp = await createProduct('Lamp', 1, 5)
      const { id } = (await place([{ product_id: lamp, quantity: 2 }])).body.data
      const path = `/console/orders/${id}`
      const browser = await signInToConsole('ada@example.com')
      await browser.open(path)
      const form = { status: 'cancelled' }
      assert.equal((await browser.submit(path, { ...form, _token: 'forged' })).status, 403)
      assert.equal(await stockOf(lamp), 3)
      await browser.open(path)
      const { status, location } = await browser.submit(path, form)
      assert.deepEqual([status, location], [303, path])
      const page = await browser.open(path)
      assert.match(page.html, /Order saved/)
      assert.match(page.html, /<option value="cancelled" selected>/)
      assert.equal(await stockOf(lamp), 5)
    })

    test('show what a product is called as text, whatever it is called', async (t) => {
      const { createProduct, place, signInToConsole } = await start(t, engine)
      const hostile = `<script>alert("1")</script>'&`
      const { id } = (await place([{ product_id: await createProduct(hostile, 1, 5), quantity: 1 }])).body.data
      const browser = await signInToConsole('ada@example.com')
      const { status, html } = await browser.open(`/console/orders/${id}`)
      assert.equal(status, 200)
      assert.ok(!html.includes('<script>alert'))
      assert.ok(html.includes('&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#39;&#38;'), html)
    })
  })
}
