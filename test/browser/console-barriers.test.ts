/** Every page of the console, looked at by axe-core: light and dark, on a phone and on a laptop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBarriers } from '../support/axe.ts'
import { widths } from '../support/browser.ts'
import { startConsoleGround } from '../support/console-ground.ts'
import { fits, isClean } from '../support/console-visits.ts'
import { placesByPart } from '../support/places/places.ts'

/** Four looks at each of many pages take a while where the machine has other things to do. */
const timeout = 300_000

for (const [part, places] of Object.entries(placesByPart)) {
  test(`no page of ${part} keeps anybody out, or is wider than its window`, { timeout }, async (t) => {
    const ground = await startConsoleGround(t)
    for (const { name, as, open } of places) {
      const { page } = ground.visits[as]
      await t.test(name, async () => {
        await open(page, ground)
        for (const [device, width] of Object.entries(widths)) {
          await page.setViewportSize({ width, height: 800 })
          await fits(page)
          await page.emulateMedia({ colorScheme: 'light' })
          assert.deepEqual(await findBarriers(page), [], `${name}, on a ${device}`)
          // The dark differs by its colours alone.
          await page.emulateMedia({ colorScheme: 'dark' })
          assert.deepEqual(await findBarriers(page, ['color-contrast']), [], `${name}, dark, on a ${device}`)
        }
      })
    }
    isClean(...Object.values(ground.visits))
  })
}
