/**
 * Every page of the console, filled with text that looks like scripts: checked with axe-core in light and dark mode,
 * for scripts that ran, and for overflow on a phone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBarriers } from '../support/axe.ts'
import { widths } from '../support/browser.ts'
import { startConsoleFixture } from '../support/console-fixture.ts'
import { fits, isClean } from '../support/console-steps.ts'
import { hostileWords, isHarmless } from '../support/hostile-words.ts'
import { pageStatesByPart } from '../support/page-states/page-states.ts'

/** Four checks of each page take a while on a busy machine. */
const timeout = 900_000

for (const [part, states] of Object.entries(pageStatesByPart)) {
  test(`no page of ${part} keeps anybody out, runs what was typed, or is wider than its window`, {
    timeout,
  }, async (t) => {
    const fixture = await startConsoleFixture(t, hostileWords)
    for (const { name, as, open } of states) {
      await t.test(name, async () => {
        const { page } = await fixture.visit(as)
        await open(page, fixture)
        await isHarmless(page)
        for (const width of [widths.phone, widths.desktop]) {
          await page.setViewportSize({ width, height: 800 })
          await fits(page)
        }
        await page.emulateMedia({ colorScheme: 'light' })
        assert.deepEqual(await findBarriers(page), [], name)
        // Dark mode differs only in its colours.
        await page.emulateMedia({ colorScheme: 'dark' })
        assert.deepEqual(await findBarriers(page, ['color-contrast']), [], `${name}, dark`)
      })
    }
    isClean(...fixture.visits)
  })
}
