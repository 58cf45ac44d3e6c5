/** A page of the console in one of its states, and how to get there. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { ConsoleFixture, Kind } from '../console-fixture.ts'
import { headingOf } from '../console-steps.ts'
import { eventually } from '../eventually.ts'

export interface PageState {
  name: string
  as: Kind
  /** If its address is all it takes to get there: another browser can open it too. */
  path?: string
  /** Whether it shows a page, or a component, that no state before it does. */
  isChecked?: boolean
  /** The state before it from whose page or rows it goes on. */
  after?: string
  open(page: Page, fixture: ConsoleFixture): Promise<void>
}

/** A page that is opened by its URL. */
export function at(as: Kind, name: string, path: string, heading: string): PageState {
  return { name, as, path, open: (page, { api }) => goTo(page, `${api.url}${path}`, heading) }
}

/**
 * The states that `npm test` checks: each page and each component once. A page that is opened by its address is checked
 * in the first of its states.
 */
export function statesToCheck(states: readonly PageState[]): Set<PageState> {
  const pages = new Set<string>()
  const isNewPage = ({ path }: PageState) => {
    const [page, count] = [path?.split('?')[0], pages.size]
    return page !== undefined && pages.add(page).size > count
  }
  return new Set(states.filter((state) => isNewPage(state) || state.isChecked))
}

/** These states, and those that they go on from. */
export function withStatesBefore(states: readonly PageState[], asked: ReadonlySet<PageState>): Set<PageState> {
  const needed = new Set(asked)
  for (const state of states.toReversed()) {
    if (!needed.has(state) || state.after === undefined) continue
    needed.add(states.find(({ name }) => name === state.after) ?? assert.fail(`no state "${state.after}"`))
  }
  return needed
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
