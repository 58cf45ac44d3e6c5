/**
 * Every page of the console, filled with words that look like scripts: looked at by axe-core, light and dark, and for
 * what might have run. None is too wide for a phone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBarriers } from '../support/axe.ts'
import { widths } from '../support/browser.ts'
import { startConsoleGround } from '../support/console-ground.ts'
import { fits, isClean } from '../support/console-visits.ts'
import { hostileWords, isHarmless } from '../support/hostile.ts'
import { placesByPart } from '../support/places/places.ts'

/** Four looks at each of many pages take a while where the machine has other things to do. */
const timeout = 600_000

for (const [part, places] of Object.entries(placesByPart)) {
  test(`no page of ${part} keeps anybody out, runs what was typed, or is wider than its window`, {
    timeout,
  }, async (t) => {
    const ground = await startConsoleGround(t, hostileWords)
    for (const { name, as, open } of places) {
      await t.test(name, async () => {
        const { page } = await ground.visit(as)
        await open(page, ground)
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
    isClean(...ground.visits)
  })
}
