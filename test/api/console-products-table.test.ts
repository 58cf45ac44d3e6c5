/** The table of products in the console: fields in rows, columns, counts, jumps and export, without scripts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const list = '/console/products'

onAnyEngine('the table of products', (engine) => {
  const service = share(async (owner) => {
    const api = await startApiWithRoles(owner, { engine, env: unlimitedRates })
    const user = await signIn(api)
    const things = Array.from({ length: 300 }, (_, i) => ({
      ...sampleRow,
      name: `Thing ${String(i + 1).padStart(3, '0')}`,
      description: i === 7 ? 'Long '.repeat(5000) : `=cmd() "${i}", and\nmore`,
      price_cents: 100 * (300 - i),
      stock: i,
      category: i % 2 === 0 ? 'even' : 'odd',
      active: i !== 5,
    }))
    await api.db.write(insertMany(engine, things, api.clock.nowIso()))
    const browser = openConsole(api)
    assert.equal((await browser.signIn(user.email)).status, 303)
    const read = async (id: number) => (await api.get(`${productsPath}/${id}`)).body.data.attributes
    return { api, user, browser, read }
  })

  test('has a form in the row for price and stock, and returns to the same list', async () => {
    const { api, user, browser, read } = await service()
    const id = await createProduct(api, user.access, { name: 'Editable' })
    const page = await browser.open(`${list}?category=home`)
    assert.ok(!page.hasForm(`${list}/${id}/quick`))
    const [, address = ''] = /<a class="edit" href="([^"]*)"[^>]*>\$1,234\.50</.exec(page.html) ?? []
    const form = await browser.open(address.replaceAll('&#38;', '&'))
    assert.match(form.html, /name="price" value="1234\.50" aria-label="Price of Editable"/)
    assert.match(form.html, /name="stock" value="3" aria-label="Stock of Editable"/)
    const saved = await browser.submit(`${list}/${id}/quick`, { price: '12,50', stock: '7' })
    assert.deepEqual([saved.status, saved.location, saved.notice], [303, `${list}?category=home`, 'product-saved'])
    const { price, stock, description } = await read(id)
    assert.deepEqual([price, stock, description], [12.5, 7, 'Bright and warm'])
    await browser.open(`${list}?edit=${id}`)
    assert.equal((await browser.submit(`${list}/${id}/quick`, { stock: '8' })).status, 303, 'one of them alone')
    assert.deepEqual([(await read(id)).price, (await read(id)).stock], [12.5, 8])
  })

  test('says what is wrong with what was typed into a row, and keeps it', async () => {
    const { api, user, browser, read } = await service()
    const id = await createProduct(api, user.access, { name: 'Wrong' })
    await browser.open(`${list}?q=wrong&edit=${id}`)
    const page = await browser.submit(`${list}/${id}/quick`, { price: '1.234', stock: '-1' })
    assert.equal(page.status, 422)
    assert.match(page.text, /Price: “1\.234” is unclear: type 1234\.00 or 1\.23\. Stock: Must be at least 0\./)
    assert.match(page.html, /name="price" value="1\.234"[^>]* aria-invalid="true" aria-describedby="edit-\d+-note"/)
    assert.match(page.html, /name="stock" value="-1"/)
    const blank = await browser.submit(`${list}/${id}/quick`, { price: '', stock: '' })
    assert.match(blank.text, /Price: Must not be blank\. Stock: Must not be blank\./)
    assert.equal((await browser.submit(`${list}/${id}/quick`, { price: '5', stock: '1' })).status, 303)
    assert.equal((await read(id)).price, 5)
  })

  test('does not overwrite in a row what somebody else has saved, but shows it', async () => {
    const { api, user, browser, read } = await service()
    const id = await createProduct(api, user.access, { name: 'Contested' })
    await browser.open(`${list}?sort=name&edit=${id}`)
    await api.put(`${productsPath}/${id}`, { price: 20, stock: 5 }, user.access)
    const page = await browser.submit(`${list}/${id}/quick`, { price: '30', stock: '3' })
    assert.equal(page.status, 412)
    assert.match(page.text, /Somebody else changed it: the price is \$20\.00 now, the stock 5\. Save again/)
    assert.match(page.html, /name="price" value="30"/)
    assert.equal((await read(id)).price, 20)
    assert.equal((await browser.submit(`${list}/${id}/quick`, { price: '30', stock: '3' })).status, 303)
    assert.equal((await read(id)).price, 30)
    await browser.open(`${list}?edit=${id}`)
    await api.delete(`${productsPath}/${id}`, user.access)
    const gone = await browser.submit(`${list}/${id}/quick`, { price: '1.75' })
    assert.equal(gone.status, 404)
    assert.match(gone.text, /“Contested” has been deleted meanwhile, so nothing is saved\. You typed: price 1\.75\./)
    assert.deepEqual(headsIn(gone).slice(0, 1), ['Name'], 'the list is there')
    assert.equal((await browser.submit(`${list}/${id}/restore`)).status, 303)
    assert.equal((await read(id)).price, 30)
  })

  test('shows the columns of choice, on every page and in every order', async () => {
    const { browser } = await service()
    const usual = await browser.open(list)
    assert.deepEqual(headsIn(usual), ['Name', 'Category', 'Price', 'Stock', 'Status'])
    const chosen = await browser.open(`${list}?columns=changed&columns=id&columns=nonsense&columns=slug`)
    assert.deepEqual(headsIn(chosen), ['Name', 'ID', 'Slug', 'Changed'])
    for (const asked of ['q=a&columns=id', 'sort=price&columns=id']) {
      const { html } = await browser.open(`${list}?${asked}`)
      assert.match(html, /href="\/console\/products\?columns=id">Show all, newest first/, 'the columns stay')
      assert.ok(!html.includes(`href="${list}">Show all`), asked)
    }
    assert.match(chosen.text, /thing-300/)
    for (const text of ['Next →', 'Name']) {
      const address = linkTo(chosen, text)
      assert.match(address, /columns=id%2Cslug%2Cchanged/)
      assert.deepEqual(headsIn(await browser.open(address)), ['Name', 'ID', 'Slug', 'Changed'])
    }
    assert.match(chosen.html, /role="search".*?<input type="hidden" name="columns" value="id,slug,changed">/s)
    const found = await browser.open(`${list}?q=thing&columns=price`)
    assert.deepEqual(headsIn(found), ['Name', 'Price'])
    assert.match(linkTo(found, 'Next →'), /columns=price/)
    assert.deepEqual(headsIn(await browser.open(`${list}?columns=nothing`)), headsIn(usual))
  })

  test('counts exactly where it has not counted', async () => {
    const { browser } = await service()
    // Not sorted by an index that settles it, and more than are looked at: only a count knows.
    const page = await browser.open(`${list}?category=even`)
    assert.match(page.text, /The first 100 found, by name\. There are more\./)
    const counted = await browser.open(linkTo(page, 'Count exactly'))
    assert.match(counted.text, / 150 products /)
    assert.equal(namesIn(counted)[0], 'Thing 001')
  })

  test('goes to a page by its number, and to a value of a sorted list', async () => {
    const { api, browser } = await service()
    const page = await browser.open(list)
    assert.match(page.html, /<form method="get" action="\/console\/products" class="jump">.*?name="page" value="1"/s)
    const { total } = (await api.get(productsPath)).body.meta
    assert.match((await browser.open(`${list}?page=3`)).text, new RegExp(`Page 3 of ${Math.ceil(total / 25)} `))
    const names = await browser.open(`${list}?sort=name&from=thing%2020`)
    assert.equal(namesIn(names)[0], 'Thing 200')
    assert.equal(namesIn(await browser.open(linkTo(names, '← Previous'))).at(-1), 'Thing 199')
    assert.equal(namesIn(await browser.open(`${list}?sort=-name&from=THING%2020`))[0], 'Thing 209')
    assert.equal(namesIn(await browser.open(`${list}?sort=price&category=even&from=%24100,00`))[0], 'Thing 201')
    assert.equal(namesIn(await browser.open(`${list}?sort=-stock&from=250`))[0], 'Thing 251')
    assert.equal(namesIn(await browser.open(`${list}?sort=id&from=17`))[0], 'Thing 017')
    const wrong = await browser.open(`${list}?sort=price&from=cheap`)
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /from: Must be a number with at most two decimals/)
  })

  test('is exported as it is filtered and sorted, with formulas made harmless', async () => {
    const { browser } = await service()
    const file = async (query: string) => {
      const { status, headers, html } = await browser.open(`${list}/export?${query}`)
      assert.equal(status, 200, html)
      assert.match(headers.get('content-type') ?? '', /^text\/csv/)
      assert.equal(headers.get('content-disposition'), 'attachment; filename="products.csv"')
      return html
    }
    const namesOf = (text: string) => [...text.matchAll(/^\d+,(Thing \d+),/gm)].map(([, name]) => name)
    const page = await browser.open(`${list}?sort=-price&filter%5Bstock%5D%5Blte%5D=249`)
    const sorted = await file(linkTo(page, 'Export as CSV').split('?')[1] ?? '')
    assert.match(sorted, /^id,name,slug,description,price,category,stock,active,created_at,updated_at\n/)
    assert.equal(namesOf(sorted).length, 250, 'all pages of it')
    assert.deepEqual(namesOf(sorted).slice(0, 2), ['Thing 001', 'Thing 002'])
    assert.match(sorted, /,Thing 001,thing-001,"'=cmd\(\) ""0"", and\nmore",300\.00,even,0,true,/)
    assert.ok(sorted.includes('Long '.repeat(5000)), 'long descriptions too')
    assert.equal(namesOf(await file('category=odd')).length, 149, 'as the list: active ones by name')
    assert.deepEqual(namesOf(await file('q=thing%2029')).slice(0, 2), ['Thing 290', 'Thing 291'])
    assert.equal(namesOf(await file('q=thing&category=even')).length, 150)
    const all = namesOf(await file(''))
    assert.deepEqual([all.length, all[0], all.at(-1)], [300, 'Thing 300', 'Thing 001'])
    const wrong = await browser.open(`${list}/export?sort=colour`)
    assert.equal(wrong.status, 422)
    assert.equal((await openConsole((await service()).api).open(`${list}/export`)).status, 303)
  })

  test('is exported to eight clients at once, which hold nothing up once they are gone', async (t) => {
    const api = await startApiWithRoles(t, { engine, threads: 1 })
    // More than connections buffer.
    const things = Array.from({ length: 10 }, (_, i) => ({
      ...sampleRow,
      name: `Thing ${i}`,
      description: 'x'.repeat(500_000),
    }))
    for (let i = 0; i < 5; i++) await api.db.write(insertMany(engine, things, api.clock.nowIso()))
    const browser = openConsole(api)
    await browser.signIn((await signIn(api)).email)
    const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
    const begin = async () => {
      const leave = new AbortController()
      const headers = { cookie, 'accept-encoding': 'identity' }
      const response = await fetch(`${api.url}${list}/export`, { headers, signal: leave.signal })
      // Kept, because the connection ends once it is collected.
      return { response, status: response.status, leave: () => leave.abort() }
    }
    const eight = []
    for (let i = 0; i < 8; i++) eight.push(await begin())
    assert.deepEqual(new Set(eight.map(({ status }) => status)), new Set([200]))
    assert.equal((await begin()).status, 503)
    for (const { leave } of eight) leave()
    await eventually(async () => {
      const { status, leave } = await begin()
      leave()
      assert.equal(status, 200)
    })
  })
})

/** In the order of the table. */
function namesIn({ html }: ConsolePage): string[] {
  return [...html.matchAll(/<td class="title"><a [^>]*>([^<]*)<\/a>/g)].map(([, name = '']) => name)
}

function headsIn({ html }: ConsolePage): string[] {
  const [, head = ''] = /<thead>(.*?)<\/thead>/s.exec(html) ?? []
  const cells = [...head.matchAll(/<th scope="col"(?! class="pick")[^>]*>(.*?)<\/th>/gs)]
  return cells.map(([, text = '']) => text.replace(/<[^>]*>|[↑↓]/g, '').trim())
}

function linkTo({ html }: ConsolePage, text: string): string {
  const links = [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)</g)]
  const [, address] = links.find(([, , name]) => name === text) ?? []
  assert.ok(address, `a link "${text}"`)
  return address.replaceAll('&#38;', '&')
}
