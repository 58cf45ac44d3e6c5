/** The console in a browser that runs no script: forms and links do everything. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser, widths, widthsFor } from '../support/browser.ts'
import { secretOn } from '../support/console-fixture.ts'
import {
  enter,
  fill,
  fits,
  go,
  goToAccount,
  isClean,
  leave,
  lists,
  press,
  sees,
  tells,
} from '../support/console-steps.ts'
import { password, register, totp } from '../support/people.ts'
import type { ApiWithRoles } from '../support/roles.ts'
import { chosen } from '../support/tiers.ts'

const email = 'ada@example.com'
const lamp = { Name: 'Desk Lamp', Description: 'Bright and warm', 'Price in dollars': '1234.5', Stock: '3' }

// Most of it is shown by tests of test/api, whose console has no scripts either.
for (const [device, width] of chosen(Object.entries(widths), () => false)) {
  test(`signing in and keeping products need no script, on a ${device}`, async (t) => {
    const api = await startBrowsedApi(t)
    const visit = await openBrowser(t, { url: api.url, path: '/', width, hasScripts: false })
    const { page } = visit
    await signsIn(api, page)
    await keepsProducts(page)
    await noticesOthers(api, page)
    await leave(page)
    isClean(visit)
  })
}

for (const [device, width] of widthsFor('desktop')) {
  test(`administrators need no script, on a ${device}`, async (t) => {
    const api = await startBrowsedApi(t)
    const root = await register(api, 'root@example.com')
    await api.grant(root, 'admin')
    await register(api, email)
    const visit = await openBrowser(t, { url: api.url, path: '/console/users', width, hasScripts: false })
    const { page } = visit
    await enter(page, root.email)
    await fill(page, { 'Email or name': 'ada@' })
    await press(page, 'Search')
    await go(page, email)
    await page.getByRole('checkbox', { name: 'editor' }).check()
    await press(page, 'Save the roles')
    await tells(page, 'The roles are saved.')
    assert.ok(await page.getByRole('checkbox', { name: 'editor' }).isChecked())
    await press(page, 'Sign out everywhere')
    await tells(page, 'The user is signed out everywhere.')
    await go(page, 'Audit')
    await sees(page, 'Audit trail')
    await fits(page)
    isClean(visit)
  })
}

/** From the first visit to a session with a second factor. */
async function signsIn(api: ApiWithRoles, page: Page): Promise<void> {
  await go(page, 'Console')
  await go(page, 'Register')
  await fill(page, { Email: email, Name: 'Ada', Password: password })
  await press(page, 'Register')
  await fill(page, { Email: email, Password: 'wrong' })
  await press(page, 'Sign in')
  await tells(page, 'Invalid credentials')
  await enter(page, email)
  await goToAccount(page)
  await go(page, 'Set up')
  await fill(page, { Password: password })
  await press(page, 'Go on')
  const secret = await secretOn(page)
  await fill(page, { Code: totp(api, secret) })
  await press(page, 'Turn on')
  await sees(page, 'Your recovery codes')
  assert.equal(await page.getByRole('button', { name: 'Copy' }).count(), 0, 'no button that would do nothing')
  const [recoveryCode = ''] = await page.locator('#recovery-codes li').allInnerTexts()
  await leave(page)

  for (const code of [recoveryCode, () => totp(api, secret)]) {
    await enter(page, email)
    await sees(page, 'One more step')
    await fits(page)
    api.clock.advance(30)
    await fill(page, { Code: typeof code === 'string' ? code : code() })
    await press(page, 'Go on')
    await sees(page, 'Products')
    if (code === recoveryCode) await leave(page)
  }
}

async function keepsProducts(page: Page): Promise<void> {
  await go(page, 'New product')
  await fill(page, { ...lamp, Stock: 'some' })
  await press(page, 'Create')
  await tells(page, 'Must be an integer')
  assert.equal(await page.getByLabel('Stock').inputValue(), 'some')
  await fill(page, { Stock: '3' })
  await press(page, 'Create')
  await go(page, 'New product')
  await fill(page, { ...lamp, Name: 'Kettle', Category: 'kitchen' })
  await press(page, 'Create')
  await tells(page, 'The product is created.')

  await fill(page, { 'Part of the name': 'KET' })
  await press(page, 'Search')
  await tells(page, '1 product found')
  await lists(page, ['Kettle'])
  await go(page, 'Show all')
  await page.getByRole('combobox', { name: 'Category' }).selectOption('kitchen')
  await press(page, 'Search')
  await lists(page, ['Kettle'])
  await fits(page)

  await go(page, 'Kettle')
  await fill(page, { Name: 'Tea Kettle' })
  await page.getByRole('checkbox', { name: 'Active' }).uncheck()
  await press(page, 'Save')
  await tells(page, 'The product is saved.')
  assert.equal(await page.getByRole('checkbox', { name: 'Active' }).isChecked(), false)
  // There is no confirmation, so it can be undone.
  await press(page, 'Delete this product')
  await tells(page, 'is deleted.')
  await lists(page, ['Desk Lamp'])
  await press(page, 'Undo')
  await tells(page, 'The product is back.')
}

/** Changes of another browser appear on the next page, and are not overwritten. */
async function noticesOthers(api: ApiWithRoles, page: Page): Promise<void> {
  await api.db.write({
    sql: "UPDATE products SET stock = 99, updated_at = $1 WHERE name = 'Tea Kettle'",
    params: [api.clock.nowIso()],
  })
  await fill(page, { Description: 'Whistles' })
  await press(page, 'Save')
  await tells(page, 'Somebody else changed this product')
  await fits(page)
  assert.equal(await page.getByLabel('Description').inputValue(), 'Whistles')
  await press(page, 'Save mine')
  await tells(page, 'The product is saved.')
  await go(page, 'Products')
  await lists(page, ['Tea Kettle', 'Desk Lamp'])
}
