/** Products in the console in an order of choice, in a browser without scripts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { share } from '../support/api.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { signIn } from '../support/people.ts'
import { sampleRow } from '../support/products.ts'
import { startApiWithRoles } from '../support/roles.ts'

const list = '/console/products'

onAnyEngine('products in the console, sorted and filtered', (engine) => {
  const service = share(async (owner) => {
    const api = await startApiWithRoles(owner, { engine })
    const things = Array.from({ length: 60 }, (_, i) => ({
      ...sampleRow,
      name: `Thing ${String(i + 1).padStart(2, '0')}`,
      price_cents: 100 * (60 - i),
      stock: i,
      category: i % 2 === 0 ? 'home & garden' : 'office',
      active: i !== 5,
    }))
    await api.db.write(insertMany(engine, things, api.clock.nowIso()))
    const browser = openConsole(api)
    assert.equal((await browser.signIn((await signIn(api)).email)).status, 303)
    return browser
  })

  test('by the heads of columns, back and forth, page by page', async () => {
    const browser = await service()
    const newest = await browser.open(list)
    assert.equal(namesIn(newest)[0], 'Thing 60')
    const byPrice = await browser.open(linkTo(newest, 'Price'))
    assert.deepEqual([namesIn(byPrice)[0], namesIn(byPrice).length], ['Thing 60', 25])
    assert.match(byPrice.html, /aria-sort="ascending"/)
    assert.match(byPrice.text, /60 products/)
    const dearest = await browser.open(linkTo(byPrice, 'Price'))
    assert.equal(namesIn(dearest)[0], 'Thing 01')
    assert.match(dearest.html, /aria-sort="descending"/)
    const second = await browser.open(linkTo(dearest, 'Next →'))
    assert.equal(namesIn(second)[0], 'Thing 26')
    assert.deepEqual(namesIn(await browser.open(linkTo(second, '← Previous'))), namesIn(dearest))
    const last = await browser.open(linkTo(second, 'Next →'))
    assert.deepEqual([namesIn(last).length, last.html.includes('rel="next"')], [10, false])
  })

  test('by the form, whose blank fields count for nothing, and which shows what was asked for', async () => {
    const browser = await service()
    const query = new URLSearchParams({
      sort: '-stock',
      'filter[active]': '',
      category: 'home & garden',
      'filter[price][gte]': '$10.00',
      'filter[price][lte]': '',
      'filter[stock][gte]': '',
      'filter[stock][lte]': '20',
    })
    const page = await browser.open(`${list}?${query}`)
    assert.deepEqual(
      namesIn(page),
      Array.from({ length: 11 }, (_, i) => `Thing ${String(21 - 2 * i).padStart(2, '0')}`),
    )
    assert.match(page.text, /11 products/)
    assert.match(page.html, /<details class="orders" open>/)
    assert.match(page.html, /<option value="-stock" selected>/)
    assert.match(page.html, /<option value="home &#38; garden" selected>/)
    assert.match(page.html, /name="filter\[price\]\[gte\]" value="\$10.00"/)
    const inactive = await browser.open(`${list}?filter%5Bactive%5D=false`)
    assert.deepEqual(namesIn(inactive), ['Thing 06'])
    const active = await browser.open(`${list}?filter%5Bactive%5D=true`)
    assert.equal(namesIn(active)[0], 'Thing 60', 'the newest first')
    const blank = await browser.open(`${list}?sort=&filter%5Bactive%5D=`)
    assert.equal(namesIn(blank)[0], 'Thing 60')
    assert.doesNotMatch(blank.html, /<details class="orders" open>/)
  })

  test('by a part of the name, inactive ones too, from a search by the heads of its columns', async () => {
    const browser = await service()
    const found = await browser.open(`${list}?q=THING%200`)
    assert.equal(namesIn(found).length, 8, 'a search finds active products')
    const byPrice = await browser.open(linkTo(found, 'Price'))
    assert.deepEqual(namesIn(byPrice), namesIn(found).toReversed())
    assert.match(byPrice.html, /name="q" value="THING 0"/)
    const dearest = await browser.open(linkTo(byPrice, 'Price'))
    assert.deepEqual(namesIn(dearest), namesIn(found))
    const all = await browser.open(`${list}?q=thing+0&sort=-stock&category=office`)
    assert.deepEqual(namesIn(all), ['Thing 08', 'Thing 06', 'Thing 04', 'Thing 02'])
    const file = await browser.open(linkTo(all, 'Export as CSV'))
    assert.deepEqual([...file.html.matchAll(/Thing \d+/g)].map(String), namesIn(all))
    const none = await browser.open(`${list}?q=lamp&sort=price`)
    assert.match(none.text, /No product passes all of these filters/)
  })

  test('says what is wrong, and what was not found', async () => {
    const browser = await service()
    const wrong = await browser.open(`${list}?filter%5Bprice%5D%5Bgte%5D=cheap`)
    assert.deepEqual([wrong.status, namesIn(wrong)], [422, []])
    assert.match(wrong.text, /cannot be used.*Must be a number with at most two decimals/)
    assert.match(wrong.html, /value="cheap"/)
    const none = await browser.open(`${list}?filter%5Bstock%5D%5Bgte%5D=1000`)
    assert.match(none.text, /No product passes all of these filters/)
  })
})

/** In the order of the table. */
function namesIn({ html }: ConsolePage): string[] {
  return [...html.matchAll(/<td class="title"><a [^>]*>([^<]*)<\/a>/g)].map(([, name = '']) => name)
}

function linkTo({ html }: ConsolePage, text: string): string {
  const links = [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)</g)]
  const [, address] = links.find(([, , name]) => name === text) ?? []
  assert.ok(address, `a link "${text}"`)
  return address.replaceAll('&#38;', '&')
}
