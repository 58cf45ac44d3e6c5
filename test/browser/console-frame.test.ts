/** What scripts add to the frame of the console: palette, shortcuts, menu, appearance, toasts and connection. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { share, unlimitedRates } from '../support/api.ts'
import { findBarriers } from '../support/axe.ts'
import { openSignedIn, startBrowsedApi } from '../support/browsed-api.ts'
import { widths, widthsFor } from '../support/browser.ts'
import { fill, fits, isClean, openMenu, press, sees, tells } from '../support/console-steps.ts'
import { eventually } from '../support/eventually.ts'
import { keepsNobodyOut, shiftsOf } from '../support/page-checks.ts'
import { createProduct } from '../support/products.ts'
import { type SlowPages, startSlowPages } from '../support/slow-pages.ts'
import { testInFull } from '../support/test-in-full.ts'

const shared = share((owner) => startBrowsedApi(owner, { env: unlimitedRates }))

async function start(t: TestContext, width: number = widths.desktop) {
  const api = await shared()
  const admin = await api.signInAs('admin')
  const visit = await openSignedIn(t, api, { email: admin.email, path: '/console/account', width })
  await sees(visit.page, 'Account')
  return { api, admin, visit, page: visit.page }
}

for (const [device, width] of widthsFor('desktop')) {
  test(`the palette finds and opens by keyboard alone, on a ${device}`, async (t) => {
    const { admin, page, visit, api } = await start(t, width)
    const name = `Desk Lamp of a ${device}`
    const id = await createProduct(api, admin.access, { name })
    await page.keyboard.press('Control+k')
    const field = page.getByRole('dialog').getByRole('combobox')
    await field.waitFor()
    assert.equal(await page.evaluate('document.activeElement.role'), 'combobox')
    await page.getByRole('option', { name: 'Audit' }).waitFor()
    await keepsNobodyOut(page, 'dark')
    await fits(page)
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.keyboard.type(`lamp of a ${device}`)
    await page.getByRole('option', { name }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${api.url}/console/products/${id}`)
    isClean(visit)
  })
}

test('single keys lead to pages, never while somebody types, and can be turned off', async (t) => {
  const { page, visit, api } = await start(t)
  await page.getByLabel('Name').first().focus()
  await page.keyboard.type('gp?')
  assert.equal(page.url(), `${api.url}/console/account`)
  await page.locator('main').focus()
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog')
  await sheet.getByText('Go to Products').waitFor()
  assert.deepEqual(await findBarriers(page), [])
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await sees(page, 'Products')
  await page.keyboard.press('n')
  await sees(page, 'New product')
  await page.locator('main').focus()
  await page.keyboard.press('?')
  await sheet.getByLabel('Use shortcuts of single keys').uncheck()
  await page.keyboard.press('Escape')
  await page.reload()
  await page.locator('main').focus()
  await page.keyboard.press('g')
  await page.keyboard.press('u')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').waitFor()
  assert.equal(page.url(), `${api.url}/console/products/new`)
  isClean(visit)
})

test('the theme changes in place, and nothing typed is lost', async (t) => {
  const { page, visit } = await start(t)
  await page.goto(page.url().replace('account', 'products/new'))
  await sees(page, 'New product')
  await fill(page, { Name: 'Half typed' })
  await openMenu(page)
  await press(page, 'Dark')
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor') as Promise<string>
  assert.equal(await ground(), 'rgb(15, 17, 22)')
  assert.equal(await page.getByLabel('Name').inputValue(), 'Half typed')
  await press(page, 'Compact')
  await eventually(async () => {
    await page.reload()
    assert.deepEqual(await page.evaluate('({ ...document.documentElement.dataset })'), {
      theme: 'dark',
      density: 'compact',
    })
  })
  assert.equal(await ground(), 'rgb(15, 17, 22)')
  await openMenu(page)
  await page.keyboard.press('Escape')
  assert.equal(await page.getByRole('button', { name: 'Sign out' }).isVisible(), false)
  isClean(visit)
})

testInFull('two choices in a row are both kept, and one that cannot be kept is taken back', async (t) => {
  const { page } = await start(t)
  const chosen = () => page.evaluate('({ ...document.documentElement.dataset })')
  const bodies: string[] = []
  await page.route('**/console/appearance', (route) => {
    bodies.push(route.request().postData() ?? '')
    // The first has no answer yet when the second is sent.
    return bodies.length === 1 ? undefined : route.continue()
  })
  await openMenu(page)
  await press(page, 'Dark')
  await eventually(() => assert.equal(bodies.length, 1))
  await press(page, 'Compact')
  await eventually(() => assert.equal(bodies.length, 2))
  const [, last = ''] = bodies
  assert.match(last, /theme=dark/)
  assert.match(last, /density=compact/)
  const kept = { theme: 'dark', density: 'compact' }
  assert.deepEqual(await chosen(), kept)
  await eventually(async () => {
    await page.reload()
    assert.deepEqual(await chosen(), kept)
  })
  await page.unroute('**/console/appearance')
  await openMenu(page)
  await page.route('**/console/appearance', (route) => route.abort())
  await press(page, 'Light')
  await eventually(async () => assert.deepEqual(await chosen(), kept))
})

test('a notice moves nothing, can be dismissed, and goes once it has been read', async (t) => {
  const { page, visit } = await start(t)
  const top = () => page.evaluate('document.querySelector("h1").getBoundingClientRect().top')
  const before = await top()
  await page.clock.install()
  await press(page, 'Save')
  await tells(page, 'Your profile is saved.')
  assert.equal(await top(), before)
  assert.deepEqual(await findBarriers(page), [])
  await press(page, 'Dismiss')
  assert.equal(await page.getByText('Your profile is saved.').count(), 0)
  await press(page, 'Save')
  await tells(page, 'Your profile is saved.')
  await page.clock.fastForward(60_000)
  await page.getByText('Your profile is saved.').waitFor({ state: 'detached' })
  isClean(visit)
})

/** Opens a page of the console whose second part comes late. */
async function openInPieces(
  t: TestContext,
  page: Page,
  { path, ...pages }: Omit<SlowPages, 'pauseMs'> & { path: string },
): Promise<void> {
  // A browser counts nothing that moves in the first half second.
  const url = await startSlowPages(t, { ...pages, pauseMs: 700 })
  // The second time its styles are known already, so nothing else waits.
  for (let i = 0; i < 2; i++) await page.goto(`${url}/console/${path}`)
}

testInFull('a page that arrives in pieces does not move', async (t) => {
  const { page, api } = await start(t, widths.phone)
  await fill(page, { Name: 'Maximiliane Mustermann-Beispielhausen' })
  await press(page, 'Save')
  await tells(page, 'Your profile is saved.')
  for (const cut of ['<nav aria-label="For', '<summary>', '<h1']) {
    await openInPieces(t, page, { target: api.url, cut, path: 'audit' })
    await sees(page, 'Audit trail')
    assert.deepEqual(await shiftsOf(page), [], cut)
  }
})

testInFull('a form does not move when the cards beside it arrive', async (t) => {
  const { page, api, admin } = await start(t)
  const id = await createProduct(api, admin.access)
  for (const [path, heading, cut] of [
    [`products/${id}`, 'Desk Lamp', '<div>\n<section class="card" aria-labelledby="facts"'],
    ['account', 'Account', '<section class="card" aria-labelledby="password"'],
  ] as const) {
    await openInPieces(t, page, { target: api.url, cut, path, isShownEarly: true })
    await sees(page, heading)
    assert.deepEqual(await shiftsOf(page), [], path)
  }
})

testInFull('the columns of a list do not move when its rows arrive', async (t) => {
  const { page, api, admin } = await start(t)
  const long = 'A lamp for the desk, with a foot of wood and a shade of paper'
  const edited = await createProduct(api, admin.access, { name: long, category: long })
  await createProduct(api, admin.access, { name: long, category: 'home' })
  await openInPieces(t, page, { target: api.url, cut: '<form id="edit-', path: `products?edit=${edited}` })
  await sees(page, 'Products')
  assert.deepEqual(await shiftsOf(page), [])
})

test('a lost network is shown', async (t) => {
  const { page } = await start(t)
  await page.getByText('Connected', { exact: true }).waitFor()
  await page.context().setOffline(true)
  await page.getByText('Offline', { exact: true }).waitFor()
  await page.context().setOffline(false)
  await page.getByText('Connected', { exact: true }).waitFor()
})
