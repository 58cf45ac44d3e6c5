/** The first run in a browser: from the link in the log to a request that works, with and without scripts. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser, widths } from '../support/browser.ts'
import { fill, fits, isClean, press, sees, tells } from '../support/console-steps.ts'
import { password } from '../support/people.ts'
import { loggedPath } from '../support/set-up.ts'
import { chosen } from '../support/tiers.ts'

// test/api/set-up.test.ts, whose console has no scripts, shows the other.
for (const hasScripts of chosen([true, false], (each) => each)) {
  test(`the first administrator gets to products and a request, ${hasScripts ? 'with' : 'without'} scripts`, async (t) => {
    const api = await startBrowsedApi(t)
    const path = await loggedPath(api)
    const visit = await openBrowser(t, { url: api.url, path, width: widths.phone, hasScripts })
    const { page } = visit
    await sees(page, 'Set up Latchkey')
    await fill(page, { Email: 'root@example.com', Name: 'Root', Password: 'Correct-Horse' })
    await press(page, 'Make the administrator')
    await tells(page, 'Must contain a number')
    assert.equal(await page.getByLabel('Email').inputValue(), 'root@example.com')
    // The script writes the address back, so that loading the page again shows the form.
    if (hasScripts) await page.waitForURL(`${api.url}${path}`, { waitUntil: 'commit' })
    await fits(page)
    await fill(page, { Password: password })
    await press(page, 'Make the administrator')
    await sees(page, 'Welcome')
    assert.ok(!page.url().includes('token'))
    await press(page, 'Add sample products')
    await page.getByRole('link', { name: 'See the products' }).waitFor()
    await fits(page)

    const copy = page.getByRole('button', { name: 'Copy' })
    assert.equal(await copy.count(), hasScripts ? 1 : 0)
    if (hasScripts) {
      await copy.click()
      await page.getByText(/Copied|selected/).waitFor()
    }
    const line = await page.locator('#curl-line').innerText()
    const { stdout } = await promisify(execFile)('sh', ['-c', line])
    assert.equal(JSON.parse(stdout).data.length, 20)

    await page.getByRole('link', { name: 'See the products' }).click()
    await sees(page, 'Products')
    await page.getByRole('link', { name: 'Users' }).click()
    await sees(page, 'Users')
    isClean(visit)
  })
}
