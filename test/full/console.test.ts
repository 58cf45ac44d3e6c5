/** Typical use of the console, from the first visit on, on a phone and on a laptop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser, widthsFor } from '../support/browser.ts'
import {
  enter,
  fill,
  fits,
  go,
  goToAccount,
  isClean,
  leave,
  listens,
  lists,
  press,
  sees,
  tells,
} from '../support/console-steps.ts'
import { eventually } from '../support/eventually.ts'
import { password, register, totp } from '../support/people.ts'
import type { ApiWithRoles } from '../support/roles.ts'

const email = 'ada@example.com'
interface SecondFactor {
  secret: string
  /** The code that turned it on. */
  used: string
}

const lamp = { Name: 'Desk Lamp', Description: 'Bright and warm', 'Price in dollars': '1234.5', Stock: '3' }

for (const [device, width] of widthsFor('phone')) {
  test(`from registering to being given a role, on a ${device}`, async (t) => {
    const api = await startBrowsedApi(t)
    const visit = (path: string) => openBrowser(t, { url: api.url, path, width })
    const ada = await visit('/')
    await registers(ada.page)
    const { secret, used } = await turnsTwoFactorOn(api, ada.page)
    await signsInWithCode(api, ada.page, { secret, used })
    await keepsProducts(ada.page)

    const { email: bobsEmail } = await register(api, 'bob@example.com')
    const bob = await visit('/console/products/new')
    await enter(bob.page, bobsEmail)
    await listens(api)
    await seesProductsOf(bob.page, ada.page)

    const phone = await visit('/console/sign-in')
    await endsOtherDevice({ api, secret, own: ada.page, other: phone.page })

    const root = await register(api, 'root@example.com')
    await api.grant(root, 'admin')
    const admin = await visit('/console/users')
    await enter(admin.page, root.email)
    await isGivenRole(ada.page, admin.page)
    isClean(ada, bob, phone, admin)
  })
}

async function registers(page: Page): Promise<void> {
  await go(page, 'Console')
  await go(page, 'Register')
  await fill(page, { Email: email, Name: 'Ada Lovelace', Password: 'weak' })
  await press(page, 'Register')
  await tells(page, 'Must be at least 8 characters')
  assert.equal(await page.getByLabel('Name').inputValue(), 'Ada Lovelace', 'what was typed is still there')
  await fill(page, { Password: password })
  await press(page, 'Register')
  await tells(page, 'Your account is made')
  await enter(page, email)
  await tells(page, 'No products yet')
  await fits(page)
}

async function turnsTwoFactorOn(api: ApiWithRoles, page: Page): Promise<SecondFactor> {
  await goToAccount(page)
  await go(page, 'Set up')
  await fill(page, { Password: password })
  await press(page, 'Go on')
  await page.getByAltText('QR code of the secret below').waitFor()
  // Fails if the picture cannot be decoded.
  await page.evaluate('document.querySelector(".qr-code").decode()')
  const secret = (await page.locator('code.secret').innerText()).replaceAll(/\s/g, '')
  await fits(page)
  await fill(page, { Code: '000000' })
  await press(page, 'Turn on')
  await tells(page, 'Invalid two-factor code')
  const used = totp(api, secret)
  await fill(page, { Code: used })
  await press(page, 'Turn on')
  await sees(page, 'Your recovery codes')
  assert.equal(await page.locator('#recovery-codes li').count(), 10)
  await press(page, 'Copy')
  await page.getByText(/^Copied|is selected/).waitFor()
  await fits(page)
  await go(page, 'I have kept them')
  await tells(page, 'You have 10 recovery codes left')
  return { secret, used }
}

async function signsInWithCode(api: ApiWithRoles, page: Page, { secret, used }: SecondFactor): Promise<void> {
  await leave(page)
  await page.goBack()
  await page.reload()
  await sees(page, 'Sign in')
  await enter(page, email)
  await sees(page, 'One more step')
  await fill(page, { Code: used })
  await press(page, 'Go on')
  await page.getByText(/Invalid two-factor code|not right/).waitFor()
  api.clock.advance(30)
  await fill(page, { Code: totp(api, secret) })
  await press(page, 'Go on')
  await sees(page, 'Account')
  await go(page, 'Products')
}

async function keepsProducts(page: Page): Promise<void> {
  await go(page, 'Create the first one')
  await fill(page, { ...lamp, 'Price in dollars': 'much' })
  await press(page, 'Create')
  await tells(page, 'Must be a number')
  await fill(page, lamp)
  await press(page, 'Create')
  await tells(page, 'The product is created.')
  await go(page, 'New product')
  await fill(page, { ...lamp, Name: 'Kettle', Category: 'kitchen' })
  await press(page, 'Create')
  await tells(page, '2 products')
  await lists(page, ['Kettle', 'Desk Lamp'])
  await fits(page)

  // Typed letter by letter, without Enter.
  await page.getByLabel('Part of the name').pressSequentially('LAM')
  await tells(page, '1 product found')
  await lists(page, ['Desk Lamp'])
  // The first letters may already have found the same.
  await eventually(() => assert.equal(new URL(page.url()).search, '?q=LAM'))
  await page.getByRole('combobox', { name: 'Category' }).selectOption('kitchen')
  await tells(page, 'No active product')
  await page.getByLabel('Part of the name').fill('')
  await tells(page, '1 product found')
  await lists(page, ['Kettle'])

  await go(page, 'Kettle')
  await fill(page, { Name: 'Tea Kettle', 'Price in dollars': '20' })
  await press(page, 'Save')
  await tells(page, 'The product is saved.')
  assert.equal(await page.getByLabel('Price in dollars').inputValue(), '20.00')

  await press(page, 'Delete this product')
  await page.getByRole('dialog', { name: 'Delete “Tea Kettle”?' }).waitFor()
  await press(page, 'Cancel')
  await press(page, 'Delete this product')
  await press(page, 'Delete')
  await tells(page, 'is deleted.')
  await lists(page, ['Desk Lamp'])
  await press(page, 'Undo')
  await tells(page, 'The product is back.')
  assert.equal(await page.getByLabel('Name').inputValue(), 'Tea Kettle')
  await go(page, 'Products')
  await tells(page, '2 products')
}

async function seesProductsOf(other: Page, page: Page): Promise<void> {
  await page.evaluate('document.body.dataset.same = "yes"')
  await sees(other, 'New product')
  await fill(other, { ...lamp, Name: 'Bob’s Bench' })
  await press(other, 'Create')
  await tells(other, 'The product is created.')
  await page.getByRole('link', { name: 'Bob’s Bench' }).waitFor()
  await tells(page, '3 products')
  assert.equal(await page.evaluate('document.body.dataset.same'), 'yes', 'and the page was not loaded anew')
}

async function endsOtherDevice(given: { api: ApiWithRoles; secret: string; own: Page; other: Page }): Promise<void> {
  const { api, secret, own, other } = given
  await enter(other, email)
  api.clock.advance(30)
  await fill(other, { Code: totp(api, secret) })
  await press(other, 'Go on')
  await sees(other, 'Products')

  await goToAccount(own)
  await fits(own)
  const devices = own.getByRole('region', { name: 'Devices signed in' }).getByRole('row')
  await devices.filter({ hasText: 'This device' }).waitFor()
  await devices.filter({ hasNotText: 'This device' }).getByRole('button', { name: 'Sign out' }).click()
  await tells(own, 'That device is signed out.')

  await tells(other, 'You are signed out.')
  await tells(other, 'Not live')
  await other.locator('#news').getByRole('link', { name: 'Sign in' }).click()
  await sees(other, 'Sign in')
  assert.match(other.url(), /next=%2Fconsole%2Fproducts/, 'and back to the list')
  await other.goto(`${api.url}/console/products`)
  await sees(other, 'Sign in')
  await own.reload()
  await sees(own, 'Account')
}

async function isGivenRole(page: Page, admin: Page): Promise<void> {
  const places = () => page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()
  assert.deepEqual(await places(), ['Products'])
  await sees(admin, 'Users')
  await fits(admin)
  await fill(admin, { 'Email or name': 'lovelace' })
  await press(admin, 'Search')
  await go(admin, email)
  await sees(admin, email)
  await admin.getByRole('checkbox', { name: 'admin' }).check()
  await press(admin, 'Save the roles')
  await tells(admin, 'The roles are saved.')
  await fits(admin)
  await eventually(async () => {
    await page.reload()
    assert.deepEqual(await places(), [
      'Overview',
      'Products',
      'Users',
      'Audit',
      'Webhooks',
      'Dead letters',
      'Collections',
    ])
  })
  await go(page, 'Audit')
  await sees(page, 'Audit trail')
  await fits(page)

  await admin.getByRole('checkbox', { name: 'admin' }).uncheck()
  await press(admin, 'Save the roles')
  await page.reload()
  await sees(page, 'You may not do that')
}
