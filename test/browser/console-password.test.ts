/** Forgotten passwords if the service cannot send mail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBarriers } from '../support/axe.ts'
import { startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser, widthsFor } from '../support/browser.ts'
import { fits, go, isClean, sees, tells } from '../support/console-steps.ts'

for (const [device, width] of widthsFor('phone')) {
  test(`is not offered in production, and the page says to ask an administrator, on a ${device}`, async (t) => {
    const api = await startBrowsedApi(t, { env: { NODE_ENV: 'production' } })
    const visit = await openBrowser(t, { url: api.url, path: '/console/sign-in', width })
    const { page } = visit
    await sees(page, 'Sign in')
    assert.equal(await page.getByText('Forgotten').count(), 0)
    for (const [path, text] of [
      ['forgot', 'cannot send mail'],
      ['reset?token=made-up', 'This link does not work'],
    ] as const) {
      await page.goto(`${api.url}/console/password/${path}`)
      await tells(page, text)
      await tells(page, 'Ask an administrator')
      await fits(page)
      assert.deepEqual(await findBarriers(page), [])
    }
    await go(page, 'Back to sign in')
    await sees(page, 'Sign in')
    isClean(visit)
  })
}
