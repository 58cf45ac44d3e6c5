/** What people do in the console over and over, by its pages. */
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

/** Waits for the page with this heading. */
export async function sees(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
}

export async function tells(page: Page, text: string): Promise<void> {
  await page.getByText(text).waitFor()
}

/** From the form up to the page behind it. */
export async function enter(page: Page, email: string): Promise<void> {
  await fill(page, { Email: email, Password: password })
  await press(page, 'Sign in')
}

/** Waits until a list of products hears of changes: what happens before it does not appear by itself. */
export function listens({ parts }: ApiWithRoles): Promise<void> {
  return eventually(() => assert.ok(parts.consoleEngine.counts().subscribers > 0, 'a page listens'))
}

/** By the button that is on every page. */
export async function leave(page: Page): Promise<void> {
  await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click()
  await tells(page, 'You are signed out.')
}

/** Waits for the list of products with these names. */
export async function lists(page: Page, names: readonly string[]): Promise<void> {
  const titles = page.locator('#results td.title')
  await eventually(async () => assert.deepEqual(await titles.allInnerTexts(), names))
}

/** No part of the page lies beside the window. */
export async function fits(page: Page): Promise<void> {
  // Before its styles are there, a page is as wide as it likes.
  await page.waitForLoadState('load')
  const { whole, window, widest } = (await page.evaluate(`(() => {
    const { scrollWidth: whole, clientWidth: window } = document.documentElement
    const rightOf = (each) => each.getBoundingClientRect().right
    const [widest] = [...document.body.querySelectorAll('*')].sort((a, b) => rightOf(b) - rightOf(a))
    return { whole, window, widest: widest.outerHTML.slice(0, 200) }
  })()`)) as { whole: number; window: number; widest: string }
  assert.ok(whole <= window, `${page.url()} is ${whole} wide in a window of ${window}, by ${widest}`)
}

/** Nothing came from elsewhere, and nothing went wrong behind anybody's back. */
export function isClean(...visits: Pick<Visit, 'strays' | 'errors'>[]): void {
  for (const { strays, errors } of visits) assert.deepEqual({ strays, errors }, { strays: [], errors: [] })
}
