/** What makes the console easy to use: the keyboard, one's own time, problems that are told where they are. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startApi } from '../support/api.ts'
import { openBrowser, type VisitOptions } from '../support/browser.ts'
import { enter, fill, isClean, lists, press, sees, tells } from '../support/console-visits.ts'
import { eventually } from '../support/eventually.ts'
import { logIn, password, register } from '../support/people.ts'

test('the keyboard alone signs in, creates a product, and deletes it', async (t) => {
  const { page, user, visit } = await start(t)
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
  await sees(page, 'Edit product')
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
  await tells(page, 'The product is deleted.')
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

test('times are told in the zone of who reads them, and in UTC without scripts', async (t) => {
  const open = async (hasScripts: boolean) => {
    const { page, user } = await start(t, '/console/account', { timezone: 'Asia/Tokyo', hasScripts })
    await enter(page, user.email)
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

test('whoever is locked out sees the time run down', async (t) => {
  const { page, user, api } = await start(t)
  for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
  await enter(page, user.email)
  const left = page.locator('[data-countdown]')
  await left.getByText(/^1[45]:\d\d$/).waitFor()
  const first = await left.innerText()
  await eventually(async () => assert.notEqual(await left.innerText(), first))
})

async function start(t: TestContext, path = '/console/sign-in', options: Partial<VisitOptions> = {}) {
  const api = await startApi(t)
  const user = await register(api)
  const visit = await openBrowser(t, { url: api.url, path, ...options })
  return { api, user, visit, page: visit.page }
}

/** This, by its name, has the keyboard: a browser gives it away some time after the page is there. */
async function isAt(page: Page, name: string, because = 'that is where one goes on'): Promise<void> {
  const named = '(document.activeElement.labels?.[0] ?? document.activeElement).firstChild?.textContent.trim()'
  await eventually(async () => assert.equal(await page.evaluate(named), name, because))
}
