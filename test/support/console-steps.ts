/** Common steps in the console. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { Visit } from './browser.ts'
import { eventually } from './eventually.ts'
import { password } from './people.ts'
import type { ApiWithRoles } from './roles.ts'

/** Fills fields by their labels. */
export async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value)
}

export async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
}

export async function go(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).first().click()
}

/** Waits for the page with this heading, and for its scripts: before them, a button may do without what it does with them. */
export async function sees(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  await page.waitForLoadState('load')
}

/** The heading of a page that has loaded. */
export async function headingOf(page: Page): Promise<string> {
  return String(await page.evaluate('document.querySelector("h1")?.innerText')).trim()
}

/** Waits for this text, and for the scripts of the page. */
export async function tells(page: Page, text: string): Promise<void> {
  await page.getByText(text).waitFor()
  await page.waitForLoadState('load')
}

/** Signs in, up to the next page. */
export async function enter(page: Page, email: string): Promise<void> {
  await fill(page, { Email: email, Password: password })
  await press(page, 'Sign in')
}

/** Waits until a product list receives changes; earlier changes do not appear live. */
export function listens({ parts }: ApiWithRoles): Promise<void> {
  return eventually(() => assert.ok(parts.consoleEngine.counts().subscribers > 0, 'a page listens'))
}

/** Opens the menu of the account, which is on every page. */
export async function openMenu(page: Page): Promise<void> {
  await page.locator('.person summary').click()
}

/** Goes to the page of one's own account. */
export async function goToAccount(page: Page): Promise<void> {
  await openMenu(page)
  await go(page, 'Account')
}

/** Signs out. */
export async function leave(page: Page): Promise<void> {
  await openMenu(page)
  await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click()
  await tells(page, 'You are signed out.')
}

/** Waits for the list of products with these names. */
export async function lists(page: Page, names: readonly string[]): Promise<void> {
  const titles = page.locator('#results td.title')
  await eventually(async () => assert.deepEqual(await titles.allInnerTexts(), names))
}

/** The page does not overflow the window. */
export async function fits(page: Page): Promise<void> {
  // Before its styles have loaded, a page may have any width.
  await page.waitForLoadState('load')
  const overflow = await page.evaluate(`(() => {
    const { scrollWidth: whole, clientWidth: window } = document.documentElement
    if (whole <= window) return ''
    const rightOf = (each) => each.getBoundingClientRect().right
    const [widest] = [...document.body.querySelectorAll('*')].sort((a, b) => rightOf(b) - rightOf(a))
    return whole + ' wide in a window of ' + window + ', by ' + widest.outerHTML.slice(0, 200)
  })()`)
  assert.equal(overflow, '', page.url())
}

/** No requests to other hosts, and no errors. */
export function isClean(...visits: Pick<Visit, 'strays' | 'errors'>[]): void {
  for (const { strays, errors } of visits) assert.deepEqual({ strays, errors }, { strays: [], errors: [] })
}
