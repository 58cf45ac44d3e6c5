/** Usability of the console: keyboard, time zones, error messages at their fields. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { share, unlimitedRates } from '../support/api.ts'
import { openSignedIn, startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser, type VisitOptions } from '../support/browser.ts'
import { enter, fill, fits, go, isClean, lists, press, sees, tells } from '../support/console-steps.ts'
import { eventually } from '../support/eventually.ts'
import { logIn, password, register } from '../support/people.ts'
import { createProduct, withoutProducts } from '../support/products.ts'
import { testInFull } from '../support/test-in-full.ts'

test('signing in, creating and deleting a product work with the keyboard alone', async (t) => {
  const { page, user, visit } = await start(t, '/console/sign-in')
  const { keyboard } = page
  await isAt(page, 'Email', 'one can type at once')
  await keyboard.type(user.email)
  await keyboard.press('Tab')
  await keyboard.type(password)
  await keyboard.press('Enter')
  await sees(page, 'Products')

  await keyboard.press('Tab')
  await isAt(page, 'Skip to the content')
  await keyboard.press('Enter')
  await keyboard.press('Tab')
  await isAt(page, 'New product', 'past the bar')
  await keyboard.press('Enter')
  await sees(page, 'New product')
  await isAt(page, 'Name')
  for (const text of ['Kettle', 'Whistles', '20', '3', 'kitchen']) {
    await keyboard.type(text)
    await keyboard.press('Tab')
  }
  await isAt(page, 'Create')
  await keyboard.press('Enter')
  await tells(page, 'The product is created.')

  await page.getByRole('link', { name: 'Kettle' }).focus()
  await keyboard.press('Enter')
  await sees(page, 'Kettle')
  await page.getByRole('button', { name: 'Delete this product' }).focus()
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await isAt(page, 'Cancel', 'what is harmless is at hand')
  await keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await isAt(page, 'Delete this product', 'back where one was')
  await keyboard.press('Enter')
  await isAt(page, 'Cancel')
  await keyboard.press('Shift+Tab')
  await isAt(page, 'Delete')
  await keyboard.press('Enter')
  await tells(page, 'is deleted.')
  await lists(page, [])
  isClean(visit)
})

for (const hasScripts of [true, false])
  test(`the cursor is in the first field that is wrong, ${hasScripts ? 'with' : 'without'} scripts`, async (t) => {
    const { page } = await start(t, '/console/register', { hasScripts })
    await fill(page, { Email: 'new@example.com', Password: 'weak' })
    await press(page, 'Register')
    await tells(page, 'Some fields need another look')
    await isAt(page, 'Password')
    const told = await page.evaluate(`document.activeElement.getAttribute('aria-describedby').split(' ')
      .map((id) => document.getElementById(id).textContent).join(' ')`)
    assert.match(String(told), /At least 8 characters.*Must be at least 8 characters/, 'it says why')
  })

testInFull("times are shown in the reader's time zone, and in UTC without scripts", async (t) => {
  const open = async (hasScripts: boolean) => {
    const { page } = await start(t, '/console/account', { timezone: 'Asia/Tokyo', hasScripts })
    await sees(page, 'Account')
    return page.locator('time').first()
  }
  const time = await open(true)
  const told = new Date((await time.getAttribute('datetime')) ?? '').toLocaleTimeString('en-US', {
    timeZone: 'Asia/Tokyo',
    timeStyle: 'short',
  })
  await eventually(async () => assert.ok((await time.innerText()).includes(told)))
  assert.match(await (await open(false)).innerText(), /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/)
})

testInFull('a locked-out user sees a countdown', async (t) => {
  const { page, user, api } = await start(t)
  for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
  await enter(page, user.email)
  const left = page.locator('[data-countdown]')
  await left.getByText(/^1[45]:\d\d$/).waitFor()
  const first = await left.innerText()
  await eventually(async () => assert.notEqual(await left.innerText(), first))
  assert.equal(await page.getByRole('timer').count(), 1, 'no screen reader speaks every second of it')
})

testInFull('a locked-out user is notified when the lock-out ends', async (t) => {
  const { page, user, api } = await start(t)
  for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
  await page.clock.install()
  await enter(page, user.email)
  await tells(page, 'You can try again in')
  await page.clock.fastForward('16:00')
  await tells(page, 'You can try again now.')
})

testInFull('going back does not ask to resubmit a form', async (t) => {
  const { page } = await start(t, '/console/products/new')
  await sees(page, 'New product')
  await fill(page, { Name: 'Kettle', Description: 'Whistles', 'Price in dollars': 'dear' })
  await press(page, 'Create')
  await tells(page, 'Must be a number.')
  // The script that removes the submitted form from the history runs after the page has loaded.
  await page.waitForLoadState('load')
  await fill(page, { 'Price in dollars': '20' })
  await press(page, 'Create')
  await tells(page, 'The product is created.')
  await page.goBack()
  await sees(page, 'New product')
})

test('input typed when the session ended is restored after signing in', async (t) => {
  const { api, page, user } = await start(t, '/console/products/new')
  await sees(page, 'New product')
  await fill(page, { Name: 'Typed with care', Description: 'Two\nlines', 'Price in dollars': 'dear' })
  await press(page, 'Create')
  await tells(page, 'Must be a number.')
  await fill(page, { 'Price in dollars': '20' })
  api.clock.advance(8 * 86_400)
  await press(page, 'Create')
  await tells(page, 'You are signed out, so nothing was changed.')
  await enter(page, user.email)
  await tells(page, 'What you typed is here again. It is not saved yet.')
  assert.equal(await page.getByLabel('Description').inputValue(), 'Two\nlines')
  await press(page, 'Create')
  await tells(page, 'The product is created.')
  await lists(page, ['Typed with care'])
  await page.goto(`${api.url}/console/products/new`)
  assert.equal(await page.getByLabel('Name').inputValue(), '', 'and waits no longer')
})

test("input from an earlier session is restored, and overwrites nobody's changes", async (t) => {
  const { api, page, user } = await start(t, '/console/sign-in')
  const { body } = await logIn(api, user.email)
  const address = `${api.url}/console/products/${await createProduct(api, body.access_token)}`
  await enter(page, user.email)
  await sees(page, 'Products')
  await page.goto(address)
  await fill(page, { Name: 'Typed with care' })
  api.clock.advance(8 * 86_400)
  const other = await page.context().newPage()
  await other.goto(address)
  await enter(other, user.email)
  await sees(other, 'Desk Lamp')
  await fill(other, { Description: 'Newer' })
  await press(other, 'Save')
  await tells(other, 'The product is saved.')
  await press(page, 'Save')
  await sees(page, 'This form has expired')
  await go(page, 'Back to what you typed')
  await tells(page, 'What you typed is here again. It is not saved yet.')
  await press(page, 'Save')
  await tells(page, 'Somebody else changed this product')
})

test('another user does not see what was typed', async (t) => {
  const { api, page } = await start(t, '/console/account')
  const other = await register(api)
  await sees(page, 'Account')
  await fill(page, { Name: 'Only mine' })
  api.clock.advance(8 * 86_400)
  await page.locator('main').getByRole('button', { name: 'Save' }).click()
  await tells(page, 'You are signed out, so nothing was changed.')
  const kept = String(await page.evaluate('JSON.stringify({ ...sessionStorage })'))
  assert.ok(kept.includes('Only mine') && !/token|password/.test(kept), kept)
  await enter(page, other.email)
  await sees(page, 'Account')
  assert.notEqual(await page.getByLabel('Name').inputValue(), 'Only mine')
  assert.equal(await page.evaluate('sessionStorage.length'), 0)
})

testInFull('the link back to the list leads to the previous search', async (t) => {
  const { api, page, user } = await start(t, '/console/products?q=lamp')
  const { body } = await logIn(api, user.email)
  await createProduct(api, body.access_token)
  await page.reload()
  await sees(page, 'Products')
  // By then the scripts of the page have run; an earlier click would work without them.
  await page.waitForLoadState()
  await page.locator('#results td.title a').first().click()
  await sees(page, 'Desk Lamp')
  await page.waitForLoadState()
  await go(page, 'Back to the list')
  await sees(page, 'Products')
  assert.equal(await page.getByLabel('Part of the name').inputValue(), 'lamp')
})

testInFull('a notice is shown once, not again after a reload or going back', async (t) => {
  const { page } = await start(t, '/console/products/new')
  await sees(page, 'New product')
  await fill(page, { Name: 'Kettle', Description: 'Whistles', 'Price in dollars': '20' })
  await press(page, 'Create')
  await tells(page, 'The product is created.')
  await go(page, 'Kettle')
  await sees(page, 'Kettle')
  await go(page, 'Back to the list')
  await sees(page, 'Products')
  assert.equal(await page.getByText('The product is created.').count(), 0)
  await go(page, 'Kettle')
  await press(page, 'Save')
  await tells(page, 'The product is saved.')
  await page.reload()
  assert.equal(await page.getByText('The product is saved.').count(), 0)
})

/** Everything at twice the size, then text of twice the size on a phone. */
const sizes = [
  { width: 640, textSize: '100%' },
  { width: 375, textSize: '200%' },
]
testInFull('nothing overflows the window or overlaps at twice the size', async (t) => {
  const api = await startBrowsedApi(t)
  const user = await api.signInAs('admin')
  await createProduct(api, user.access)
  const { page } = await openSignedIn(t, api, user)
  for (const path of ['products', 'products/1', 'products/new', 'account', 'users', `users/${user.id}`, 'audit']) {
    await page.goto(`${api.url}/console/${path}`)
    await page.evaluate('document.adoptedStyleSheets = [new CSSStyleSheet()]')
    for (const { width, textSize } of sizes) {
      await page.setViewportSize({ width, height: 700 })
      await page.evaluate(`document.adoptedStyleSheets[0].replaceSync(':root { font-size: ${textSize} }')`)
      await fits(page)
      assert.deepEqual(await page.evaluate(cutOff), [], `${path}, ${width}`)
      assert.ok(await page.evaluate(isBarClear), `${path}, ${width}`)
    }
  }
})

/** Text that overflows its card and is not visible. */
const cutOff = `[...document.querySelectorAll('.card')].flatMap((card) => [...card.querySelectorAll('time, code, .badge')]
  .filter((each) => each.getBoundingClientRect().right > card.getBoundingClientRect().right + 1)
  .map((each) => each.textContent))`

const isBarClear = `(() => {
  const [a, b] = [...document.querySelectorAll('.brand, .person > summary')].map((each) => each.getBoundingClientRect())
  return a.right <= b.left || a.bottom <= b.top
})()`

const shared = share((owner) => startBrowsedApi(owner, { env: unlimitedRates }))

/** Pages for who is not signed in. */
const publicPaths = ['/console/sign-in', '/console/register']

async function start(t: TestContext, path = '/console/sign-in', options: Partial<VisitOptions> = {}) {
  const api = await withoutProducts(await shared())
  const user = await register(api)
  const visit = publicPaths.includes(path)
    ? await openBrowser(t, { url: api.url, path, ...options })
    : await openSignedIn(t, api, { ...user, path, ...options })
  return { api, user, visit, page: visit.page }
}

/** Waits until the element with this name has the focus, which the browser sets after loading. */
async function isAt(page: Page, name: string, because = 'that is where one goes on'): Promise<void> {
  const named = '(document.activeElement.labels?.[0] ?? document.activeElement).firstChild?.textContent.trim()'
  await eventually(async () => assert.equal(await page.evaluate(named), name, because))
}
