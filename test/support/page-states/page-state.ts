/** A page of the console in one of its states, and how to get there. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { ConsoleFixture, Kind } from '../console-fixture.ts'
import { headingOf } from '../console-steps.ts'
import { eventually } from '../eventually.ts'

export interface PageState {
  name: string
  as: Kind
  /** Whether its address is all it takes to get there, so that it can be opened by another browser too. */
  isByAddress?: boolean
  open(page: Page, fixture: ConsoleFixture): Promise<void>
}

/** A page that is opened by its URL. */
export function at(as: Kind, name: string, path: string, heading: string): PageState {
  return { name, as, isByAddress: true, open: (page, { api }) => goTo(page, `${api.url}${path}`, heading) }
}

export async function goTo(page: Page, address: string, heading: string): Promise<void> {
  await page.goto(address)
  assert.equal(await headingOf(page), heading)
}

/** The token of the message that is logged instead of mailed. */
export async function loggedToken(
  api: ConsoleFixture['api'],
  kind: string,
  ask: () => Promise<unknown>,
): Promise<string> {
  const find = () => [...api.log.join('').matchAll(new RegExp(`${kind} token: ([\\w-]+)`, 'g'))]
  const before = find().length
  await ask()
  return eventually(() => find()[before]?.[1] ?? assert.fail('no message'))
}
