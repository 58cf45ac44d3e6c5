/**
 * Every page of the console in every state, filled with text that looks like scripts. Each is loaded once and checked for
 * scripts that ran, for what moved, at every size, with axe-core in light and dark mode, and by keyboard; each address once
 * more in a browser without scripts.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findBarriers } from '../support/axe.ts'
import { openBrowser, widths } from '../support/browser.ts'
import { type ConsoleFixture, startConsoleFixture } from '../support/console-fixture.ts'
import { fits, headingOf, isClean } from '../support/console-steps.ts'
import { hostileWords, isHarmless } from '../support/hostile-words.ts'
import { brokenWords, fitsAtEverySize, hasNoDeadButtons, shiftsOf, worksByKeyboard } from '../support/page-checks.ts'
import { pageStatesByPart } from '../support/page-states/page-states.ts'

/** The checks of each page take a while on a busy machine. */
const timeout = 900_000

for (const [part, states] of Object.entries(pageStatesByPart)) {
  test(`no page of ${part} keeps anybody out, runs what was typed, moves, or is wider than its window`, {
    timeout,
  }, async (t) => {
    const fixture = await startConsoleFixture(t, hostileWords)
    const isWholeWithoutScripts = await openWithoutScripts(t, fixture)
    for (const { name, as, open, isByAddress = false } of states) {
      await t.test(name, async () => {
        const { page } = await fixture.visit(as)
        // What needs no steps is loaded on a phone, where there is less room to move.
        if (isByAddress) await page.setViewportSize({ width: widths.phone, height: 800 })
        await open(page, fixture)
        await isHarmless(page)
        assert.deepEqual(await shiftsOf(page), [], 'what moved')
        await fitsAtEverySize(page)
        await page.emulateMedia({ colorScheme: 'light' })
        assert.deepEqual(await findBarriers(page), [], name)
        // Dark mode differs only in its colours.
        await page.emulateMedia({ colorScheme: 'dark' })
        assert.deepEqual(await findBarriers(page, ['color-contrast']), [], `${name}, dark`)
        await worksByKeyboard(page)
        if (isByAddress) await isWholeWithoutScripts(page)
      })
    }
    isClean(...fixture.visits)
  })
}

/** Opens the address of a page on a small phone without scripts, with the cookies of its browser. */
async function openWithoutScripts(t: TestContext, { api, visits }: ConsoleFixture) {
  const visit = await openBrowser(t, { url: api.url, width: 320, hasScripts: false })
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
