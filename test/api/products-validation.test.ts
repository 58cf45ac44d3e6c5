import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareApi } from '../support/api.ts'
import { onAnyEngine } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { createProduct, lamp, productsPath } from '../support/products.ts'

const blank = ['Must not be blank']
const nameLength = ['Must be between 2 and 255 characters']

type Case = [body: object, details: Record<string, string[]>]

const onCreate: Case[] = [
  [{}, { name: blank, description: blank, price: blank }],
  [
    { name: null, description: null, price: null },
    { name: blank, description: blank, price: blank },
  ],
  [
    { ...lamp, name: '  ', description: '\n\t', price: ' ' },
    { name: blank, description: blank, price: blank },
  ],
  [{ ...lamp, name: 'x' }, { name: nameLength }],
  [{ ...lamp, name: '😀' }, { name: nameLength }],
  [{ ...lamp, name: 'x'.repeat(256) }, { name: nameLength }],
  [
    { ...lamp, name: 5, description: true, category: [] },
    { name: ['Must be a string'], description: ['Must be a string'], category: ['Must be a string'] },
  ],
  [{ ...lamp, price: '19.99' }, { price: ['Must be a number'] }],
  [{ ...lamp, price: 0 }, { price: ['Must be at least 0.01'] }],
  [{ ...lamp, price: 0.009 }, { price: ['Must be at least 0.01'] }],
  [{ ...lamp, price: -1 }, { price: ['Must be at least 0.01'] }],
  [{ ...lamp, price: 100_000_000 }, { price: ['Must be at most 99999999.99'] }],
  [{ ...lamp, category: 'x'.repeat(101) }, { category: ['Must be at most 100 characters'] }],
  [{ ...lamp, stock: -1 }, { stock: ['Must be at least 0'] }],
  [{ ...lamp, stock: 1.5 }, { stock: ['Must be an integer'] }],
  [{ ...lamp, stock: '1' }, { stock: ['Must be an integer'] }],
  [{ ...lamp, stock: 2_147_483_648 }, { stock: ['Must be at most 2147483647'] }],
  [{ ...lamp, name: 'a\0b' }, { name: ['Must be valid text'] }],
  [
    { name: '', price: 0, stock: -1, category: 'x'.repeat(101) },
    {
      name: blank,
      description: blank,
      price: ['Must be at least 0.01'],
      category: ['Must be at most 100 characters'],
      stock: ['Must be at least 0'],
    },
  ],
]

const onUpdate: Case[] = [
  [{ name: '' }, { name: blank }],
  [{ name: '   ' }, { name: blank }],
  [{ name: 'x' }, { name: nameLength }],
  [{ name: 'x'.repeat(256) }, { name: nameLength }],
  [{ price: 0 }, { price: ['Must be at least 0.01'] }],
  [{ price: 'x' }, { price: ['Must be a number'] }],
  [{ category: 'x'.repeat(101) }, { category: ['Must be at most 100 characters'] }],
  [{ stock: -1 }, { stock: ['Must be at least 0'] }],
  [{ active: 'yes' }, { active: ['Must be true or false'] }],
  [{ active: 1 }, { active: ['Must be true or false'] }],
  [
    { name: 1, description: 2, price: true, category: 3, stock: 'x', active: 0 },
    {
      name: ['Must be a string'],
      description: ['Must be a string'],
      price: ['Must be a number'],
      category: ['Must be a string'],
      stock: ['Must be an integer'],
      active: ['Must be true or false'],
    },
  ],
]

onAnyEngine('a product that is not right', (engine) => {
  const shared = shareApi({ engine })

  test('is refused with all its errors, and is not created', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const before = (await api.get(productsPath)).body.meta.total
    for (const [body, details] of onCreate) {
      const response = await api.post(productsPath, body, access)
      assert.deepEqual([response.status, response.body], [422, { error: 'Validation failed', details }])
    }
    assert.equal((await api.get(productsPath)).body.meta.total, before)
  })

  test('is refused in a change too, which changes nothing', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const id = await createProduct(api, access)
    const before = await api.get(`${productsPath}/${id}`)
    for (const [body, details] of onUpdate) {
      const response = await api.put(`${productsPath}/${id}`, { stock: 9, ...body }, access)
      assert.deepEqual([response.status, response.body], [422, { error: 'Validation failed', details }])
    }
    assert.deepEqual((await api.get(`${productsPath}/${id}`)).body, before.body)
  })

  test('is refused before the product is looked up', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    assert.equal((await api.put(`${productsPath}/999`, { price: 0 }, access)).status, 422)
    assert.equal((await api.put(`${productsPath}/999`, { price: 1 }, access)).status, 404)
  })

  test('is validated by the number as written, with all its digits', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const [least, most] = ['Must be at least 0.01', 'Must be at most 99999999.99']
    for (const [field, written, problem] of [
      ['price', '0.0099999999999999999999999999', least],
      ['price', '99999999.990000000000000000001', most],
      ['price', '1e400', most],
      ['price', '0.00999999999999999999999999', least],
      ['price', '99999999.99499999999999999', most],
      ['price', '1e-400', least],
      ['price', '1e999999999', most],
      ['price', '-1e999999999', least],
      ['price', `1e${'9'.repeat(10_000)}`, most],
      ['price', `1e-${'9'.repeat(10_000)}`, least],
      ['price', '-0', least],
      ['price', '-0.0000000000000000000001', least],
      ['price', `0.00${'9'.repeat(65_536)}`, least],
      ['price', `99999999.99${'0'.repeat(65_536)}1`, most],
      ['price', `0.${'0'.repeat(1000)}1`, least],
      ['stock', '0.99999999999999999999999', 'Must be an integer'],
      ['stock', '1.00000000000000000000001', 'Must be an integer'],
      ['stock', '2147483647.00000000000001', 'Must be an integer'],
      ['stock', '1e-400', 'Must be an integer'],
      ['stock', '12345e-1', 'Must be an integer'],
      ['stock', `1.${'0'.repeat(65_536)}1`, 'Must be an integer'],
      ['stock', '2147483648', 'Must be at most 2147483647'],
      ['stock', '9007199254740993', 'Must be at most 2147483647'],
      ['stock', '2147483647.9999999999999999', 'Must be an integer'],
      ['stock', '-0.0000000000000000000001', 'Must be an integer'],
      ['stock', '1e400', 'Must be at most 2147483647'],
      ['stock', '-1e400', 'Must be at least 0'],
    ] as const) {
      const fields = { name: '"Lamp"', description: '"x"', price: '1', stock: '1', [field]: written }
      const body = `{${Object.entries(fields).map(([name, value]) => `"${name}":${value}`)}}`
      const headers = { 'content-type': 'application/json' }
      const response = await api.request('POST', productsPath, { body, headers, token: access })
      assert.deepEqual([response.status, response.body.details], [422, { [field]: [problem] }], written)
      const form = { name: 'Lamp', description: 'x', price: '1', stock: '1', [field]: written }
      const byForm = await api.request('POST', productsPath, { form, token: access })
      assert.deepEqual([byForm.status, byForm.body.details], [422, { [field]: [problem] }], written)
    }
  })

  test('is valid if its numbers are, however they are written', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    for (const [price, stock, stored] of [
      ['1.00499999999999999999999999', '1.0', [1, 1]],
      ['1.005000000000000000000000000', '1e3', [1.01, 1000]],
      ['1E2', '-0', [100, 0]],
      ['1e-2', '0.0', [0.01, 0]],
      ['0.0100000000000000000000000', '2147483647.000000000000000000', [0.01, 2_147_483_647]],
      ['99999999.990000000000000000', '2.147483647e9', [99_999_999.99, 2_147_483_647]],
      [`1.004${'9'.repeat(65_536)}`, `1${'0'.repeat(60_000)}e-60000`, [1, 1]],
      [`0.${'0'.repeat(60_000)}5e60001`, '12300e-2', [5, 123]],
    ] as const) {
      const body = `{"nested":{"price":0,"stock":[9]},"name":"A \\"lamp\\" {","price":${price}, "stock" : ${stock} ,"description":"1e99"}`
      const headers = { 'content-type': 'application/json' }
      const form = { name: 'Lamp', description: 'x', price, stock }
      for (const sent of [{ body, headers }, { form }]) {
        const response = await api.request('POST', productsPath, { ...sent, token: access })
        assert.equal(response.status, 201, JSON.stringify(response.body))
        const { attributes } = response.body.data
        assert.deepEqual([attributes.price, attributes.stock], stored, `${price.slice(0, 40)}, ${stock.slice(0, 40)}`)
      }
    }
  })

  test('may have fields with awkward names, which are ignored', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const headers = { 'content-type': 'application/json' }
    for (const extra of ['"__proto__":{"price":1}', '"constructor":{"prototype":{}}', '"x":{"__proto__":1}']) {
      const body = `{${extra},"name":"Lamp","description":"x","price":5}`
      const response = await api.request('POST', productsPath, { body, headers, token: access })
      assert.deepEqual([response.status, response.body.data?.attributes.price], [201, 5], extra)
    }
  })

  test('may be at its limits', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const edge = {
      name: '😀'.repeat(255),
      description: 'x'.repeat(500_000),
      price: 99_999_999.99,
      category: 'é'.repeat(100),
      stock: 2_147_483_647,
    }
    const { data } = (await api.post(productsPath, edge, access)).body
    const { attributes } = (await api.get(`${productsPath}/${data.id}`)).body.data
    for (const [field, value] of Object.entries(edge)) assert.equal(attributes[field], value)
    const least = { name: 'ab', description: '.', price: 0.01, category: 'x', stock: 0 }
    assert.equal((await api.post(productsPath, least, access)).status, 201)
  })

  test('a missing body is reported with the messages of the table', async () => {
    const api = await shared()
    const { access } = await signIn(api)
    const json = { 'content-type': 'application/json' }
    for (const body of ['{', '[]', '"x"', '5', 'null']) {
      const response = await api.request('POST', productsPath, { body, headers: json, token: access })
      assert.deepEqual([response.status, response.body], [400, { error: 'Malformed request body' }], body)
    }
    const xml = await api.request('POST', productsPath, {
      body: '<x/>',
      headers: { 'content-type': 'text/xml' },
      token: access,
    })
    assert.deepEqual([xml.status, xml.body], [415, { error: 'Unsupported media type' }])
    const long = await api.post(productsPath, { ...lamp, description: 'x'.repeat(1024 * 1024) }, access)
    assert.deepEqual([long.status, long.body], [413, { error: 'Request body too large' }])
  })
})
