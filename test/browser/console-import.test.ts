/** Importing a file of products in a browser, with and without scripts. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { share } from '../support/api.ts'
import { openSignedIn, startBrowsedApi } from '../support/browsed-api.ts'
import { widths } from '../support/browser.ts'
import { fits, go, isClean, press, sees, tells } from '../support/console-steps.ts'
import { register } from '../support/people.ts'
import { chosen } from '../support/tiers.ts'

const shared = share((owner) => startBrowsedApi(owner))

const variants = [
  [true, widths.desktop],
  [false, widths.phone],
] as const

// test/api/console-import.test.ts, whose console has no scripts, shows the other.
for (const [hasScripts, width] of chosen(variants, ([each]) => each)) {
  test(`a file is previewed and imported, ${hasScripts ? 'dropped on the page' : 'without scripts, on a phone'}`, async (t) => {
    const api = await shared()
    const { email } = await register(api)
    const visit = await openSignedIn(t, api, { email, path: '/console/products', hasScripts, width })
    const { page } = visit
    await sees(page, 'Products')
    await go(page, 'Import')
    await sees(page, 'Import products')
    const name = `Kettle ${width}`
    const text = `name,description,price\n${name},Whistles,20\nBroken,Whistles,much\n`
    if (hasScripts) {
      const transfer = await page.evaluateHandle(`(() => {
        const transfer = new DataTransfer()
        transfer.items.add(new File([${JSON.stringify(text)}], 'dropped.csv'))
        return transfer
      })()`)
      await page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
    } else {
      const buffer = Buffer.from(text)
      await page.getByLabel('File').setInputFiles({ name: 'chosen.csv', mimeType: 'text/csv', buffer })
    }
    await press(page, 'Preview')
    await tells(page, '1 product to import, 1 row with problems.')
    await fits(page)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      press(page, 'Download the rows with their problems'),
    ])
    const [, row] = readFileSync(await download.path(), 'utf8').split('\n')
    assert.equal(row, '3,price: Must be a number,Broken,Whistles,much,,,')
    await press(page, 'Import 1 product')
    await tells(page, '1 product is imported.')
    await go(page, 'To the products')
    await page.getByRole('link', { name }).waitFor()
    isClean(visit)
  })
}
