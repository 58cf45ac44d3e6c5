/** The page of a product: what it shows, how programs use the product, duplicates and suggestions. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { root } from '../../src/config/root.ts'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { ask } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const list = '/console/products'

onAnyEngine('the page of a product', (engine) => {
  const service = share(async (owner) => {
    const api = await startApiWithRoles(owner, { engine, env: unlimitedRates })
    const user = await signIn(api)
    const browser = openConsole(api)
    assert.equal((await browser.signIn(user.email)).status, 303)
    return { api, user, browser }
  })

  test('has the name as its title, and tells id, slug, version and times', async () => {
    const { api, user, browser } = await service()
    const id = await createProduct(api, user.access, { name: 'Brass Lamp & Co' })
    await api.put(`${productsPath}/${id}`, { stock: 9 }, user.access)
    const page = await browser.open(`${list}/${id}`)
    assert.match(page.html, /<title>Brass Lamp &#38; Co · Latchkey<\/title>/)
    assert.match(page.html, /<h1>Brass Lamp &#38; Co<\/h1>/)
    const { created_at, updated_at } = (await api.get(`${productsPath}/${id}`)).body.data.attributes
    assert.match(page.text, new RegExp(`ID ${id} Slug brass-lamp-co Version 2 Created [\\d: -]+ UTC Changed`))
    assert.ok(page.html.includes(`datetime="${created_at}"`) && page.html.includes(`datetime="${updated_at}"`))
    assert.match(page.text, /History Edited by you .* Stock 3 → 9 Created by you/)
    await browser.open(`${list}/${id}`)
    const refused = await browser.submit(`${list}/${id}`, { name: '' })
    assert.match(refused.html, /<h1>Brass Lamp &#38; Co<\/h1>/, 'the saved name, while another one is wrong')
  })

  test('shows commands and queries that work as they are shown', async () => {
    const { api, user, browser } = await service()
    const id = await createProduct(api, user.access, { name: `It's "quoted" $HOME`, price: 12.34, stock: 5 })
    const page = await browser.open(`${list}/${id}`)
    assert.deepEqual(JSON.parse(snippet(page, 'json')), (await api.get(`${productsPath}/${id}`)).body)

    const curl = snippet(page, 'curl')
    const run = async () => {
      const env = { PATH: process.env.PATH ?? '', TOKEN: user.access }
      const { stdout } = await promisify(execFile)('sh', ['-e', '-c', curl.replaceAll('curl ', 'curl -sS ')], { env })
      return stdout.replaceAll('}{', '}\n{').split('\n')
    }
    const [read = '', saved = ''] = await run()
    assert.equal(JSON.parse(read).data.attributes.price, 12.34)
    assert.equal(JSON.parse(saved).data.attributes.stock, 5)
    const [, again = ''] = await run()
    assert.deepEqual(JSON.parse(again), { error: 'Product has changed' }, 'it names the version of the page')

    const { data } = await ask(api, snippet(page, 'graphql'))
    const { name, slug, price, formattedPrice, inStock } = data.product
    assert.deepEqual(
      [name, slug, price, formattedPrice, inStock],
      [`It's "quoted" $HOME`, 'it-s-quoted-home', 12.34, '$12.34', true],
    )

    const typescript = snippet(await browser.open(`${list}/${id}`), 'typescript')
    assert.ok(typescript.includes(`createLatchkey({ url: '${api.url}', apiKey: 'lk_…' })`), typescript)
    const { key } = (await api.post('/api/auth/keys', { name: 'Snippet' }, user.access)).body
    const client = pathToFileURL(join(root, 'packages', 'client', 'src', 'index.ts')).href
    const program = `${typescript.replace('@latchkey/client', client).replace('lk_…', key)}\nexport { product }`
    const { product } = await import(`data:text/javascript,${encodeURIComponent(program)}`)
    assert.deepEqual([product.id, product.attributes.price], [id, 12.34])
    const { updated_at } = (await api.get(`${productsPath}/${id}`)).body.data.attributes
    assert.notEqual(updated_at, product.attributes.updated_at, 'it was saved')
  })

  test('shortens a long description in what is to be copied, and says so', async () => {
    const { api, user, browser } = await service()
    const id = await createProduct(api, user.access, { description: `${'x'.repeat(999)}😀${'y'.repeat(5000)}` })
    const page = await browser.open(`${list}/${id}`)
    const { description } = JSON.parse(snippet(page, 'json')).data.attributes
    assert.equal(description.length, 1001)
    assert.ok(description.isWellFormed())
    assert.match(page.text, /As the API returns it, but with a shortened description\./)
  })

  test('a description of 900 kB makes no page of megabytes, and saving the other fields leaves it as it is', async () => {
    const { api, user, browser } = await service()
    const description = '&x'.repeat(450_000)
    const id = await createProduct(api, user.access, { name: 'Long one', description })
    const path = `${list}/${id}`
    const page = await browser.open(path)
    assert.match(
      page.text,
      /Description Too long to edit here\. Saving leaves it as it is.*Show all 900,000 characters/,
    )
    const { tag = '' } = page.hidden(path)
    const fields = { name: 'Longer', price: '3', category: 'books', stock: '1', active: 'true' }
    assert.equal((await browser.submit(path, fields)).status, 303)
    const saved = (await api.get(`${productsPath}/${id}`)).body.data.attributes
    assert.deepEqual([saved.name, saved.description === description], ['Longer', true])

    await browser.open(path)
    const conflict = await browser.submit(path, { ...fields, tag, name: 'Longest' })
    assert.equal(conflict.status, 412)
    assert.match(conflict.text, /Name Longest Longer/)
    const typed = 'x'.repeat(50_000)
    const shortened = await browser.submit(path, { ...fields, tag, description: typed })
    assert.equal(shortened.status, 412)
    assert.ok(shortened.html.includes(typed), 'what was typed is in the form')
    for (const shown of [page, conflict, shortened, await browser.open(`${path}/history`)]) {
      assert.ok(shown.html.length < 150_000, `${shown.html.length} characters`)
    }
    assert.ok((await browser.open(`${list}/new?from=${id}`)).html.length < 100_000)
  })

  test('fills the form of a duplicate, of which nothing is saved before it is submitted', async () => {
    const { api, user, browser } = await service()
    const fields = { name: 'Model T', description: 'Any\ncolour', price: 850, category: 'cars & more', stock: 2 }
    const id = await createProduct(api, user.access, fields)
    const total = async () => (await api.get(`${productsPath}/`)).body.meta.total
    const before = await total()
    const page = await browser.open(`${list}/${id}`)
    const [, address = ''] = /href="([^"]*)">Duplicate/.exec(page.html) ?? []
    const form = await browser.open(address)
    assert.match(form.text, /New product Filled in from Model T \. Nothing is saved yet\./)
    for (const value of ['Model T', '850.00', 'cars &#38; more', '2'])
      assert.ok(form.html.includes(`value="${value}"`), value)
    assert.ok(form.html.includes('>Any\ncolour</textarea>'))
    assert.equal(await total(), before)
    const sent = { ...fields, name: 'Model A', price: '850,00', stock: '2' }
    assert.equal((await browser.submit(list, sent)).status, 303)
    assert.equal(await total(), before + 1)
    const made = (await api.get(`${productsPath}?q=model%20a`)).body.data[0].attributes
    assert.deepEqual([made.price, made.category, made.description], [850, 'cars & more', 'Any\ncolour'])
    for (const from of ['999999', 'x', '-1']) assert.equal((await browser.open(`${list}/new?from=${from}`)).status, 404)
  })

  test('suggests the categories that are used most, and not those of deleted products', async () => {
    const { api, user, browser } = await service()
    const row = { ...sampleRow, name: 'Thing' }
    const used = Object.entries({ often: 40, sometimes: 20, rarely: 10 })
    const things = used.flatMap(([category, count]) => Array.from({ length: count }, () => ({ ...row, category })))
    await api.db.write(insertMany(engine, things, api.clock.nowIso()))
    const id = await createProduct(api, user.access, { category: 'aaa-gone' })
    await api.delete(`${productsPath}/${id}`, user.access)
    const page = await browser.open(`${list}/new`)
    const [, options = ''] = /<datalist id="categories">(.*?)<\/datalist>/s.exec(page.html) ?? []
    const shown = [...options.matchAll(/value="([^"]*)"/g)].map(([, value]) => value)
    assert.deepEqual(shown.slice(0, 3), ['often', 'sometimes', 'rarely'])
    assert.ok(!shown.includes('aaa-gone'))
  })
})

function snippet({ html }: ConsolePage, id: string): string {
  const [, text] = html.split(`<pre id="as-${id}" tabindex="0"`)[1]?.match(/^[^>]*><code>([^<]*)<\/code>/) ?? []
  assert.ok(text, `a text as ${id}`)
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}
