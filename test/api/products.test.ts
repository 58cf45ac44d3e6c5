import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareOnEngines, unlimitedRates } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine, onEachEngine } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { createProduct, lamp, productsPath, withoutProducts } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const service = shareOnEngines((owner, engine) => startApiWithRoles(owner, { engine, env: unlimitedRates }))

onEachEngine('a product', (engine) => {
  const shared = service(engine)

  // The first one, because it knows the id.
  test('is created by a signed-in user and returned in its envelope', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const made = await api.post(`${productsPath}/`, lamp, access)
    assert.equal(made.status, 201)
    const { created_at, updated_at } = made.body.data.attributes
    assert.match(created_at, isoTime)
    assert.equal(updated_at, created_at)
    assert.deepEqual(made.body, {
      data: {
        id: 1,
        type: 'products',
        attributes: {
          name: 'Desk Lamp',
          slug: 'desk-lamp',
          description: 'Bright and warm',
          price: 1234.5,
          formatted_price: '$1,234.50',
          category: 'home',
          stock: 3,
          in_stock: true,
          active: true,
          created_at,
          updated_at,
        },
      },
    })
    assert.equal(made.headers.get('location'), '/api/v2/products/1')
    const got = await api.get(`${productsPath}/1`)
    assert.equal(got.status, 200)
    assert.deepEqual(got.body, made.body)
  })

  test('keeps its price exact to the cent, rounded half up as it was written', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const [written, price, formatted] of [
      ['0.01', 0.01, '$0.01'],
      ['1.005', 1.01, '$1.01'],
      ['2.675', 2.68, '$2.68'],
      ['0.125', 0.13, '$0.13'],
      ['1.00499999999999999999999', 1, '$1.00'],
      ['20', 20, '$20.00'],
      ['2e1', 20, '$20.00'],
      ['999.995', 1000, '$1,000.00'],
      ['1234567.891', 1_234_567.89, '$1,234,567.89'],
      ['99999999.99', 99_999_999.99, '$99,999,999.99'],
    ] as const) {
      const body = `{"name":"Lamp","description":"x","price":${written}}`
      const headers = { 'content-type': 'application/json' }
      const made = await api.request('POST', productsPath, { body, headers, token: access })
      const { id, attributes } = made.body.data
      assert.deepEqual([attributes.price, attributes.formatted_price], [price, formatted], written)
      assert.equal((await api.get(`${productsPath}/${id}`)).body.data.attributes.price, price)
      const form = await api.request('POST', productsPath, {
        form: { name: 'Lamp', description: 'x', price: written },
        token: access,
      })
      assert.equal(form.body.data.attributes.price, price, written)
    }
  })

  test('has a slug made from its name, anew when the name changes', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const [name, slug] of [
      ['  The  Big -- LAMP! ', 'the-big-lamp'],
      ['Crème brûlée', 'creme-brulee'],
      ['Éclair', 'eclair'],
      ['e\u0301clair', 'eclair'],
      ['Smørrebrød, Straße, ŁÓDŹ', 'smorrebrod-strasse-lodz'],
      ['Œuvre Þór Ħal ıspanak ẞ', 'oeuvre-thor-hal-ispanak-ss'],
      ['ﬁne ½ №5 Ｌａｍｐ', 'fine-1-2-no5-lamp'],
      ['100% Wool_Socks', '100-wool-socks'],
      ['日本', ''],
      ['--a--', 'a'],
      ['İ'.repeat(255), 'i'.repeat(255)],
      ['Æ'.repeat(255), 'ae'.repeat(150)],
      ['日a'.repeat(255).slice(0, 255), 'a-'.repeat(127).slice(0, -1)],
    ]) {
      const id = await createProduct(api, access, { name })
      const { attributes } = (await api.get(`${productsPath}/${id}`)).body.data
      assert.deepEqual([attributes.name, attributes.slug], [name, slug])
      const changed = await api.put(`${productsPath}/${id}`, { name: 'Other Name' }, access)
      assert.equal(changed.body.data.attributes.slug, 'other-name')
      const same = await api.put(`${productsPath}/${id}`, { price: 5 }, access)
      assert.equal(same.body.data.attributes.slug, 'other-name')
    }
  })

  test('keeps the slug that an earlier version made, until its name changes', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const id = await createProduct(api, access, { name: 'Éclair' })
    await api.db.write({ sql: "UPDATE products SET slug = 'clair' WHERE id = $1", params: [id] })
    for (const [change, slug] of [
      [{ name: 'Éclair', stock: 5 }, 'clair'],
      [{ stock: 6 }, 'clair'],
      [{ name: 'Éclairs' }, 'eclairs'],
    ] as const) {
      const changed = await api.put(`${productsPath}/${id}`, change, access)
      assert.equal(changed.body.data.attributes.slug, slug)
    }
  })

  test('changes in what is supplied and not null, and nowhere else', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const id = await createProduct(api, access)
    const before = (await api.get(`${productsPath}/${id}`)).body.data.attributes
    const all = { name: 'Lamp II', description: '', price: 9.99, category: 'office', stock: 0, active: false }
    for (const [field, value] of Object.entries(all)) {
      api.clock.advance(1)
      const others = Object.fromEntries(Object.keys(all).map((each) => [each, null]))
      const response = await api.put(`${productsPath}/${id}`, { ...others, [field]: value }, access)
      assert.equal(response.status, 200)
      assert.equal(response.body.data.attributes[field], value)
      assert.ok(response.body.data.attributes.updated_at > before.updated_at)
    }
    const after = (await api.get(`${productsPath}/${id}`)).body.data.attributes
    assert.deepEqual(after, {
      ...all,
      slug: 'lamp-ii',
      formatted_price: '$9.99',
      in_stock: false,
      created_at: before.created_at,
      updated_at: after.updated_at,
    })
    const nothing = await api.put(`${productsPath}/${id}`, {}, access)
    assert.deepEqual([nothing.status, nothing.body.data.attributes], [200, after])
  })

  test('is gone once it is deleted, but its row stays', async () => {
    const api = await withoutProducts(await shared())
    const { access } = await signIn(api)
    const id = await createProduct(api, access)
    const gone = await api.delete(`${productsPath}/${id}`, access)
    assert.deepEqual([gone.status, gone.body], [204, ''])
    for (const response of [
      await api.get(`${productsPath}/${id}`),
      await api.put(`${productsPath}/${id}`, { price: 5 }, access),
      await api.delete(`${productsPath}/${id}`, access),
    ]) {
      assert.deepEqual([response.status, response.body], [404, { error: 'Product not found' }])
    }
    assert.deepEqual((await api.get(productsPath)).body.data, [])
    assert.deepEqual((await api.get(`${productsPath}?q=lamp`)).body.data, [])
    assert.deepEqual((await api.get(`${productsPath}?category=home`)).body.data, [])
    const row = await api.db.get<{ deleted_at: string; name: string }>(
      'SELECT deleted_at, name FROM products WHERE id = $1',
      [id],
    )
    assert.equal(row?.name, 'Desk Lamp')
    assert.match(row?.deleted_at ?? '', isoTime)
  })

  test('that does not exist is 404, and so is an id that is too large', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const id of ['999999', '0', '9007199254740993', '99999999999999999999999']) {
      for (const response of [
        await api.get(`${productsPath}/${id}`),
        await api.put(`${productsPath}/${id}`, {}, access),
        await api.delete(`${productsPath}/${id}`, access),
      ]) {
        assert.deepEqual([response.status, response.body], [404, { error: 'Product not found' }], id)
      }
    }
    for (const id of ['abc', '1a', '-1', '1.5', '1/x']) {
      const response = await api.get(`${productsPath}/${id}`)
      assert.deepEqual([response.status, response.body], [404, { error: 'Not found' }], id)
    }
  })
})

onAnyEngine('a product', (engine) => {
  const shared = service(engine)

  test('has defaults', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const category of [undefined, null, '', '  ']) {
      const id = await createProduct(api, access, { category, stock: null })
      const { attributes } = (await api.get(`${productsPath}/${id}`)).body.data
      assert.deepEqual(
        [attributes.category, attributes.stock, attributes.in_stock, attributes.active],
        ['general', 0, false, true],
      )
    }
  })

  test('is in stock only if it is active and its stock is above 0', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const id = await createProduct(api, access)
    for (const [stock, active, inStock] of [
      [1, true, true],
      [0, true, false],
      [1, false, false],
    ]) {
      const { body } = await api.put(`${productsPath}/${id}`, { stock, active }, access)
      assert.equal(body.data.attributes.in_stock, inStock)
    }
  })

  test('ignores computed fields in the body', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const readOnly = {
      id: 999_999,
      slug: 'mine',
      formatted_price: '$0.00',
      in_stock: false,
      active: false,
      deleted_at: '2020-01-01T00:00:00.000Z',
      created_at: '2020-01-01T00:00:00.000Z',
      updated_at: '2020-01-01T00:00:00.000Z',
      version: 7,
      unknown: true,
    }
    const { data } = (await api.post(productsPath, { ...lamp, ...readOnly }, access)).body
    assert.notEqual(data.id, readOnly.id)
    assert.deepEqual(
      [data.attributes.slug, data.attributes.active, data.attributes.in_stock],
      ['desk-lamp', true, true],
    )
    assert.ok(data.attributes.created_at > '2026')
    const { active: _, ...onUpdate } = readOnly
    assert.deepEqual((await api.put(`${productsPath}/${data.id}`, onUpdate, access)).body.data, data)
  })

  test('cannot be changed without a token, which is checked before anything else', async () => {
    const api = await shared()
    for (const response of [
      await api.post(productsPath, {}),
      await api.post(`${productsPath}/`, lamp),
      await api.put(`${productsPath}/1`, { name: '' }),
      await api.delete(`${productsPath}/1`),
    ]) {
      assert.deepEqual([response.status, response.body], [401, { error: 'Missing access token' }])
    }
    assert.equal((await api.post(productsPath, lamp, 'wrong')).body.error, 'Invalid access token')
  })

  test('needs the permission to write where one is configured', async (t) => {
    const config = createConfig(t, { products: 'products {\n  write_permission = "posts.edit"\n}\n' })
    const api = await startApiWithRoles(t, { engine, config })
    const [viewer, editor] = [await api.signInAs('viewer'), await api.signInAs('editor')]
    assert.equal((await api.post(productsPath, {}, viewer.access)).status, 403)
    assert.equal((await api.post(productsPath, lamp, editor.access)).status, 201)
    for (const response of [
      await api.put(`${productsPath}/1`, { price: 1 }, viewer.access),
      await api.delete(`${productsPath}/1`, viewer.access),
    ]) {
      assert.deepEqual([response.status, response.body], [403, { error: 'Forbidden' }])
    }
    assert.equal((await api.get(`${productsPath}/1`)).status, 200)
    assert.equal((await api.put(`${productsPath}/1`, { price: 1 }, editor.access)).status, 200)
    assert.equal((await api.delete(`${productsPath}/1`, editor.access)).status, 204)
  })

  test('may be sent as a form', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const form = { name: 'Desk Lamp', description: 'Bright', price: '19.99', stock: '4', category: 'home' }
    const made = await api.request('POST', productsPath, { form, token: access })
    assert.equal(made.status, 201)
    assert.deepEqual([made.body.data.attributes.price, made.body.data.attributes.stock], [19.99, 4])
    const changed = await api.request('PUT', `${productsPath}/${made.body.data.id}`, {
      form: { active: 'off', stock: '0' },
      token: access,
    })
    assert.deepEqual([changed.body.data.attributes.active, changed.body.data.attributes.stock], [false, 0])
  })
})
