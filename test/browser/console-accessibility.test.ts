/**
 * Every page of the console, filled with words that look like scripts: looked at by axe-core, light and dark, and for
 * what might have run. None is too wide for a phone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBarriers } from '../support/axe.ts'
import { widths } from '../support/browser.ts'
import { startConsoleFixture } from '../support/console-fixture.ts'
import { fits, isClean } from '../support/console-steps.ts'
import { hostileWords, isHarmless } from '../support/hostile-words.ts'
import { pageStatesByPart } from '../support/page-states/page-states.ts'

/** Four looks at each of many pages take a while where the machine has other things to do. */
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
        // The dark differs by its colours alone.
        await page.emulateMedia({ colorScheme: 'dark' })
        assert.deepEqual(await findBarriers(page, ['color-contrast']), [], `${name}, dark`)
      })
    }
    isClean(...fixture.visits)
  })
}
