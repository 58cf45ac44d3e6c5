/** The table of products in a browser with scripts: rows are edited and selected in place, while others change them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { share } from '../support/api.ts'
import { openSignedIn, startBrowsedApi } from '../support/browsed-api.ts'
import { isClean, listens, press, sees, tells } from '../support/console-steps.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow } from '../support/products.ts'

const shared = share((owner) => startBrowsedApi(owner))

test('price and stock are edited in their row, and rows selected, while somebody else changes the list', async (t) => {
  const api = await shared()
  const user = await signIn(api)
  const rows = ['Lamp', 'Chair', 'Table'].map((name) => ({ ...sampleRow, name, price_cents: 1000 }))
  await api.db.write(insertMany(api.db.dialect, rows, api.clock.nowIso()))
  const visit = await openSignedIn(t, api, { email: user.email, path: '/console/products' })
  const { page } = visit
  const rowOf = (name: string) => page.locator('#results tr', { hasText: name })
  const read = async (id: number) => (await api.get(`${productsPath}/${id}`)).body.data.attributes
  await sees(page, 'Products')
  await listens(api)

  await t.test('a click makes a field of the cell, and Enter saves it', async () => {
    await rowOf('Lamp').getByRole('link', { name: '$10.00' }).click()
    await page.getByLabel('Price of Lamp').fill('12,50')
    await page.keyboard.press('Enter')
    await rowOf('Lamp').getByRole('link', { name: '$12.50' }).waitFor()
    assert.equal((await read(1)).price, 12.5)
    assert.equal(new URL(page.url()).search, '', 'the same page')
  })

  await t.test('Enter on the cell opens it, and Escape leaves it as it was', async () => {
    await rowOf('Chair').locator('a[data-edit="stock"]').focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Stock of Chair').fill('99')
    await page.keyboard.press('Escape')
    await rowOf('Chair').getByRole('link', { name: '1', exact: true }).waitFor()
    assert.equal((await read(2)).stock, 1)
    await eventually(async () => assert.equal(await page.evaluate('document.activeElement.className'), 'edit'))
  })

  await t.test('what somebody types stays, while the row is changed elsewhere, and then both are shown', async () => {
    await rowOf('Chair').locator('a[data-edit="price"]').click()
    await page.getByLabel('Price of Chair').fill('33')
    // Not in the field any more, and the pointer is elsewhere.
    await page.getByLabel('Price of Chair').blur()
    await page.mouse.move(0, 0)
    await api.put(`${productsPath}/2`, { price: 20 }, user.access)
    await api.put(`${productsPath}/3`, { price: 44 }, user.access)
    await rowOf('Table').getByText('$44.00').waitFor()
    assert.equal(await page.getByLabel('Price of Chair').inputValue(), '33')
    await press(page, 'Save')
    await tells(page, 'the price is $20.00 now')
    assert.equal(await page.getByLabel('Price of Chair').inputValue(), '33')
    await press(page, 'Save')
    await rowOf('Chair').getByRole('link', { name: '$33.00' }).waitFor()
    assert.equal((await read(2)).price, 33)
  })

  await t.test('selected rows stay selected while rows change, in the version that is shown', async () => {
    await page.getByRole('checkbox', { name: 'Select Table' }).check()
    await tells(page, '1 selected')
    await api.put(`${productsPath}/3`, { price: 45 }, user.access)
    await rowOf('Table').getByText('$45.00').waitFor()
    assert.ok(await page.getByRole('checkbox', { name: 'Select Table' }).isChecked())
    await page.getByRole('checkbox', { name: 'All on this page' }).check()
    await tells(page, '3 selected')
    await press(page, 'Deactivate')
    await tells(page, '3 products are changed.')
    assert.equal((await read(3)).active, false)
    await tells(page, 'Nothing selected')
    await page.getByText('Select all on this page').click()
    await tells(page, '3 selected')
  })

  await t.test('what is typed in a row stays when its product is deleted meanwhile, and that is said', async () => {
    await rowOf('Table').locator('a[data-edit="stock"]').click()
    await page.getByLabel('Stock of Table').fill('77')
    await api.delete(`${productsPath}/3`, user.access)
    await press(page, 'Save')
    await tells(page, '“Table” has been deleted meanwhile, so nothing is saved.')
    assert.equal(await page.getByLabel('Stock of Table').inputValue(), '77')
    await press(page, 'Undo the deletion')
    await sees(page, 'Table')
    assert.equal((await read(3)).active, false)
  })
  isClean(visit)
})

test('what a page shows to be copied is copied by its own button', async (t) => {
  const api = await shared()
  const user = await signIn(api)
  const id = await createProduct(api, user.access)
  const visit = await openSignedIn(t, api, { email: user.email, path: `/console/products/${id}` })
  const { page } = visit
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await sees(page, 'Desk Lamp')
  await page.getByText('As GraphQL').click()
  const shown = page.getByRole('group').filter({ hasText: 'As GraphQL' })
  await shown.getByRole('button', { name: 'Copy' }).click()
  await shown.getByText('Copied.').waitFor()
  const copied = String(await page.evaluate('navigator.clipboard.readText()'))
  assert.ok(copied.startsWith(`query {\n  product(id: ${id}) {\n    id\n`), copied)
  isClean(visit)
})
