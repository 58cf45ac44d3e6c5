/** Product lists update live, and show when they cannot. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { findBarriers } from '../support/axe.ts'
import { openSignedIn, startBrowsedApi } from '../support/browsed-api.ts'
import { widths, widthsFor } from '../support/browser.ts'
import { enter, fits, isClean, lists, press, sees, tells } from '../support/console-steps.ts'
import { eventually } from '../support/eventually.ts'
import { keepsNobodyOut } from '../support/page-checks.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath, sampleRow, withoutProducts } from '../support/products.ts'
import type { ApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'

const list = '/console/products'
const rowOf = (page: Page, name: string) => page.locator('#results tr', { hasText: name })

test('products edited or deleted elsewhere change in the list live', async (t) => {
  const { api, user, page, visit } = await start(t)
  const lamp = await createProduct(api, user.access, { name: 'Desk Lamp', price: 20 })
  await createProduct(api, user.access, { name: 'Kettle' })
  await open(page, `${api.url}${list}`)
  await isLive(page)
  await lists(page, ['Kettle', 'Desk Lamp'])
  await page.evaluate('document.body.dataset.same = "yes"')
  await api.put(`${productsPath}/${lamp}`, { name: 'Floor Lamp', price: 1999.5 }, user.access)
  await lists(page, ['Kettle', 'Floor Lamp'])
  await rowOf(page, 'Floor Lamp').getByText('$1,999.50').waitFor()
  await api.post('/graphql', { query: `mutation { deleteProduct(id: ${lamp}) }` }, user.access)
  await lists(page, ['Kettle'])
  await tells(page, '1 product')
  assert.equal(await page.evaluate('document.body.dataset.same'), 'yes', 'and the page was not loaded anew')
  isClean(visit)
})

test('a product that no longer matches the search disappears from the results', async (t) => {
  const { api, user, page, visit } = await start(t)
  const ids = []
  for (const name of ['Desk Lamp', 'Floor Lamp']) ids.push(await createProduct(api, user.access, { name }))
  await open(page, `${api.url}${list}?q=lamp`)
  await isLive(page)
  await lists(page, ['Desk Lamp', 'Floor Lamp'])
  await api.put(`${productsPath}/${ids[0]}`, { active: false }, user.access)
  await lists(page, ['Floor Lamp'])
  await api.put(`${productsPath}/${ids[1]}`, { name: 'Chandelier' }, user.access)
  await tells(page, 'No active product')
  isClean(visit)
})

for (const [device, width] of widthsFor('desktop')) {
  testInFull(`on a later page, or with the keyboard focus in the list, rows do not move, on a ${device}`, async (t) => {
    const { api, user, page, visit } = await start(t, { width, isAlone: true })
    const things = Array.from({ length: 30 }, (_, i) => ({ ...sampleRow, name: `Thing ${i + 1}` }))
    await api.db.write(insertMany(api.db.dialect, things, api.clock.nowIso()))
    await open(page, `${api.url}${list}?page=2`)
    await isLive(page)
    await lists(page, ['Thing 5', 'Thing 4', 'Thing 3', 'Thing 2', 'Thing 1'])
    await page.getByRole('link', { name: 'Thing 4', exact: true }).focus()
    await api.put(`${productsPath}/4`, { name: 'Thing four', price: 4444 }, user.access)
    await rowOf(page, 'Thing four').getByText('$4,444.00').waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Thing four', 'the keyboard stays')
    await api.delete(`${productsPath}/3`, user.access)
    await rowOf(page, 'Thing 3').getByText('Deleted').waitFor()
    await page.locator('#news').getByText('1 product of this list is deleted.').waitFor()
    await lists(page, ['Thing 5', 'Thing four', 'Thing 3', 'Thing 2', 'Thing 1'])
    await fits(page)
    assert.deepEqual(await findBarriers(page), [])
    await page.locator('#news').getByRole('link').click()
    await lists(page, ['Thing 5', 'Thing four', 'Thing 2', 'Thing 1'])
    isClean(visit)
  })
}

testInFull('a row that no longer matches the search is marked while the keyboard focus is in the list', async (t) => {
  const { api, user, page, visit } = await start(t)
  const id = await createProduct(api, user.access, { name: 'Desk Lamp' })
  await open(page, `${api.url}${list}?q=lamp`)
  await isLive(page)
  await page.getByRole('link', { name: 'Desk Lamp' }).focus()
  await api.put(`${productsPath}/${id}`, { name: 'Desk' }, user.access)
  await rowOf(page, 'Desk Lamp').getByText('Changed').waitFor()
  await page.locator('#news').getByText('The list has changed.').waitFor()
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Desk Lamp', 'the keyboard stays')
  isClean(visit)
})

testInFull('a new product waits until the pointer rests, and an edited one does not', async (t) => {
  const { api, user, page, visit } = await start(t)
  const lamp = await createProduct(api, user.access, { name: 'Desk Lamp' })
  await open(page, `${api.url}${list}`)
  await isLive(page)
  const row = await rowOf(page, 'Desk Lamp').boundingBox()
  let steps = 0
  const wander = async () => {
    steps += 1
    await page.mouse.move((row?.x ?? 0) + 20 + (steps % 5), (row?.y ?? 0) + 10)
  }
  await wander()
  await createProduct(api, user.access, { name: 'Kettle' })
  await api.put(`${productsPath}/${lamp}`, { price: 77 }, user.access)
  await eventually(async () => {
    await wander()
    assert.match(await rowOf(page, 'Desk Lamp').innerText(), /\$77\.00/)
  })
  assert.deepEqual(await page.locator('#results td.title').allInnerTexts(), ['Desk Lamp'])
  await lists(page, ['Kettle', 'Desk Lamp'])
  isClean(visit)
})

testInFull('an edit that cannot be loaded at once is shown later', async (t) => {
  const { api, user, page } = await start(t)
  const id = await createProduct(api, user.access, { name: 'Desk Lamp' })
  await open(page, `${api.url}${list}`)
  await isLive(page)
  await page.getByRole('link', { name: 'Desk Lamp' }).focus()
  let refused = 0
  const refuse = (route: Route) => {
    refused += 1
    return route.fulfill({ status: 503 })
  }
  await page.route(`${api.url}${list}`, refuse, { times: 1 })
  await api.put(`${productsPath}/${id}`, { price: 77 }, user.access)
  await rowOf(page, 'Desk Lamp').getByText('$77.00').waitFor()
  assert.equal(refused, 1)
})

testInFull('who has scrolled down is told, and finds the list up to date on the way back', async (t) => {
  const { api, user, page, visit } = await start(t, { width: widths.phone })
  const things = Array.from({ length: 25 }, (_, i) => ({ ...sampleRow, name: `Thing ${i + 1}` }))
  await api.db.write(insertMany(api.db.dialect, things, api.clock.nowIso()))
  await open(page, `${api.url}${list}`)
  await isLive(page)
  await page.evaluate('scrollTo(0, 600)')
  const placeOfRow = async () => (await rowOf(page, 'Thing 12').boundingBox())?.y ?? 0
  const before = await placeOfRow()
  await createProduct(api, user.access, { name: 'Kettle' })
  await page.locator('#news').getByText('1 new product.').waitFor()
  assert.ok(((await page.locator('#news').boundingBox())?.y ?? -1) >= 0, 'in sight')
  assert.equal(await rowOf(page, 'Kettle').count(), 0)
  assert.ok(Math.abs((await placeOfRow()) - before) < 1, 'rows stay where they are, to the pixel')
  await fits(page)
  assert.deepEqual(await findBarriers(page), [])
  await page.evaluate('scrollTo(0, 0)')
  await rowOf(page, 'Kettle').waitFor()
  await page.locator('#news').waitFor({ state: 'hidden' })
  isClean(visit)
})

for (const [device, width] of widthsFor('phone')) {
  test(`what happens during a restart of the service appears after it, and a dot tells the state, on a ${device}`, async (t) => {
    const { api, page, user, visit } = await start(t, { width, isAlone: true })
    const [lamp, kettle] = [
      await createProduct(api, user.access, { name: 'Desk Lamp' }),
      await createProduct(api, user.access, { name: 'Kettle' }),
    ]
    await open(page, `${api.url}${list}`)
    await isLive(page)
    await page.evaluate('document.body.dataset.same = "yes"')
    await restart(t, api, async (elsewhere, access) => {
      await tells(page, 'Reconnecting…')
      assert.equal(await page.getByRole('status').filter({ hasText: 'Reconnecting…' }).count(), 1, 'and speaks it')
      await keepsNobodyOut(page, 'dark')
      await fits(page)
      await createProduct(elsewhere, access, { name: 'Bench' })
      await elsewhere.put(`${productsPath}/${lamp}`, { name: 'Floor Lamp' }, access)
      await elsewhere.delete(`${productsPath}/${kettle}`, access)
    })
    await isLive(page)
    await lists(page, ['Bench', 'Floor Lamp'])
    assert.equal(await page.evaluate('document.body.dataset.same'), 'yes', 'and the page was not loaded anew')
    assert.deepEqual(visit.strays, [])
  })
}

testInFull('a list whose place in the log is no longer kept is loaded, without a word', async (t) => {
  const { api, user, page } = await start(t, { isAlone: true })
  await createProduct(api, user.access, { name: 'Desk Lamp' })
  await open(page, `${api.url}${list}`)
  await isLive(page)
  await page.evaluate('document.body.dataset.same = "yes"')
  await restart(t, api, async (elsewhere, access) => {
    await createProduct(elsewhere, access, { name: 'Kettle' })
    await elsewhere.db.write({ sql: 'DELETE FROM changes WHERE id < (SELECT MAX(id) FROM changes)' })
  })
  await lists(page, ['Kettle', 'Desk Lamp'])
  await isLive(page)
  assert.equal(await page.locator('#news').isVisible(), false)
  assert.equal(await page.evaluate('document.body.dataset.same'), 'yes', 'and the page was not loaded anew')
})

testInFull('a list whose session ended elsewhere says so, and is what signing in leads back to', async (t) => {
  const { api, user, page } = await start(t)
  await open(page, `${api.url}${list}`)
  await isLive(page)
  await api.post('/api/auth/logout', { all_devices: true }, user.access)
  await tells(page, 'You are signed out.')
  await tells(page, 'Not live')
  await page.locator('#news').getByRole('link', { name: 'Sign in' }).click()
  await enter(page, user.email)
  await page.waitForURL(`${api.url}${list}`)
})

test('without scripts there is no dot', async (t) => {
  const api = await shared()
  const { email } = await signIn(api)
  const { page } = await openSignedIn(t, api, { email, path: list, hasScripts: false })
  await sees(page, 'Products')
  assert.equal(await page.locator('#live').isVisible(), false)
  assert.equal(await page.locator('#news').isVisible(), false)
})

for (const [device, width] of widthsFor('desktop')) {
  test(`a search without a connection shows a message and no old rows, and resumes automatically, on a ${device}`, async (t) => {
    const { api, user, page } = await start(t, { width })
    for (const name of ['Desk Lamp', 'Kettle']) await createProduct(api, user.access, { name })
    await open(page, `${api.url}${list}`)
    await page.context().setOffline(true)
    await page.getByLabel('Part of the name').fill('ket')
    await tells(page, 'No connection')
    assert.equal(await page.getByRole('status').filter({ hasText: 'No connection' }).count(), 1, 'and speaks it')
    assert.equal(await page.locator('#results tr:visible').count(), 0)
    assert.equal(await page.getByText('2 products').isVisible(), false)
    await fits(page)
    assert.deepEqual(await findBarriers(page), [])
    await page.getByLabel('Part of the name').fill('')
    await page.locator('#results.stale').getByText('Desk Lamp').waitFor()
    await tells(page, 'may be out of date')
    assert.deepEqual(await findBarriers(page), [])
    await page.getByLabel('Part of the name').fill('kettl')
    await eventually(async () => assert.equal(await page.locator('#results tr:visible').count(), 0))
    await page.context().setOffline(false)
    await lists(page, ['Kettle'])
    await tells(page, '1 product found')
    await page.getByText('No connection').waitFor({ state: 'hidden' })
  })
}

test('a service that does not respond is shown as a lost connection, and the button retries', async (t) => {
  const { api, user, page } = await start(t)
  await createProduct(api, user.access, { name: 'Kettle' })
  await open(page, `${api.url}${list}`)
  let asked = 0
  await page.route('**/console/products?q=*', (route) => {
    asked += 1
    return asked % 2 === 0 ? route.abort() : route.fulfill({ status: 503, body: 'Service unavailable' })
  })
  await page.getByLabel('Part of the name').fill('kettle')
  await tells(page, 'No connection')
  const before = asked
  await press(page, 'Search')
  await eventually(() => assert.ok(asked > before))
  await eventually(() => assert.ok(asked > before + 1), 30_000)
  assert.match(page.url(), /q=kettle/, 'the page is still there')
  await page.unroute('**/console/products?q=*')
  await press(page, 'Search')
  await lists(page, ['Kettle'])
  await page.getByText('No connection').waitFor({ state: 'hidden' })
})

const shared = share((owner) => startBrowsedApi(owner, { env: unlimitedRates }))

interface StartOptions {
  width?: number
  /** Whether the test stops the service or knows the ids of its products, so that it needs its own. */
  isAlone?: boolean
}

async function start(t: TestContext, { width, isAlone = false }: StartOptions = {}) {
  const api = isAlone ? await startBrowsedApi(t) : await withoutProducts(await shared())
  const user = await signIn(api)
  const visit = await openSignedIn(t, api, { email: user.email, ...(width && { width }) })
  return { api, user, visit, page: visit.page }
}

/** Stops the service, works with its database at another address, and starts it again. */
async function restart(t: TestContext, api: ApiWithRoles, work: (api: ApiWithRoles, access: string) => Promise<void>) {
  await api.close()
  const env = { DATABASE_URL: api.databaseUrl }
  const elsewhere = await startBrowsedApi(t, { env })
  await work(elsewhere, (await signIn(elsewhere)).access)
  await elsewhere.close()
  await startBrowsedApi(t, { env: { ...env, PORT: new URL(api.url).port } })
}

/** With the pointer out of the way: rows do not move under it. */
async function open(page: Page, address: string): Promise<void> {
  await page.mouse.move(0, 0)
  await page.goto(address)
  await sees(page, 'Products')
}

async function isLive(page: Page): Promise<void> {
  await page.locator('#live[data-state="live"]').waitFor()
}
