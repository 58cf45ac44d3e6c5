/**
 * Every page of the console, filled with text that looks like scripts. Each is loaded once and checked for scripts that
 * ran, for what moved, on a phone or a laptop, with axe-core in light or dark mode, and by keyboard; in `npm run test:full`
 * each in every state, at every size and in both modes. Each address is loaded once more in a browser without scripts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Owner, share } from '../support/api.ts'
import { openBrowser, widths } from '../support/browser.ts'
import { type ConsoleFixture, startConsoleFixture } from '../support/console-fixture.ts'
import { fits, headingOf, isClean } from '../support/console-steps.ts'
import { hostileWords, isHarmless } from '../support/hostile-words.ts'
import {
  brokenWords,
  fitsAt,
  hasNoDeadButtons,
  keepsNobodyOut,
  shiftsOf,
  worksByKeyboard,
} from '../support/page-checks.ts'
import { statesToCheck, withStatesBefore } from '../support/page-states/page-state.ts'
import { pageStatesByPart } from '../support/page-states/page-states.ts'
import { isFull } from '../support/tiers.ts'

/** The checks of each page take a while on a busy machine. */
const timeout = 900_000

/** A usual and a small phone, and a laptop, first with everything at twice its size. */
const sizes = [widths.phone, 320, 640, widths.desktop]

for (const parts of pageStatesByPart) {
  const shared = share(start)
  for (const [index, [part, states]] of Object.entries(parts).entries()) {
    const checked = isFull ? new Set(states) : statesToCheck(states)
    const opened = withStatesBefore(states, checked)
    test(`no page of ${part} keeps anybody out, runs what was typed, moves, or is wider than its window`, {
      timeout,
    }, async (t) => {
      const { fixture, isWholeWithoutScripts } = await shared()
      for (const state of states.filter((each) => opened.has(each))) {
        const { name, as, open, path } = state
        await t.test(name, async () => {
          const { page } = await fixture.visit(as)
          // What needs no steps is loaded on a phone, where there is less room to move.
          const width = path === undefined ? widths.desktop : widths.phone
          await page.setViewportSize({ width, height: 800 })
          await open(page, fixture)
          await isHarmless(page)
          if (!checked.has(state)) return
          if (path !== undefined || isFull) assert.deepEqual(await shiftsOf(page), [], 'what moved')
          await fitsAt(page, isFull ? sizes : [width])
          // Parts take turns, because all of a page is drawn anew for the other.
          await keepsNobodyOut(page, index % 2 ? 'dark' : 'light', name)
          await worksByKeyboard(page)
          if (path !== undefined) await isWholeWithoutScripts(page)
        })
      }
      isClean(...fixture.visits)
    })
  }
}

async function start(owner: Owner) {
  const fixture = await startConsoleFixture(owner, hostileWords)
  return { fixture, isWholeWithoutScripts: await openWithoutScripts(owner, fixture) }
}

/** Opens the address of a page on a small phone without scripts, with the cookies of its browser. */
async function openWithoutScripts(owner: Owner, { api, visits }: ConsoleFixture) {
  const visit = await openBrowser(owner, { url: api.url, width: 320, hasScripts: false })
  const { page: plain } = visit
  return async (page: Page) => {
    const heading = await headingOf(page)
    await plain.context().clearCookies()
    await plain.context().addCookies(await page.context().cookies())
    await plain.goto(page.url())
    assert.equal(await headingOf(plain), heading)
    await fits(plain)
    assert.deepEqual(await brokenWords(plain), [], 'words broken without scripts')
    await hasNoDeadButtons(plain)
    isClean(visit, ...visits)
  }
}
