/** Making and ending a key in a browser, with scripts and without. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../support/api.ts'
import { openSignedIn, startBrowsedApi } from '../support/browsed-api.ts'
import { fill, go, isClean, press, sees, tells } from '../support/console-steps.ts'
import { chosen } from '../support/tiers.ts'

const shared = share((owner) => startBrowsedApi(owner))

// test/api/console-api-keys.test.ts, whose console has no scripts, shows the other.
for (const hasScripts of chosen([true, false], (each) => each)) {
  test(`a key is made, kept and ended ${hasScripts ? 'with' : 'without'} scripts`, async (t) => {
    const api = await shared()
    const user = await api.signInAs('editor')
    const visit = await openSignedIn(t, api, { email: user.email, path: '/console/account', hasScripts })
    const { page } = visit
    await sees(page, 'Account')
    await go(page, 'New API key')
    await fill(page, { Name: 'Deploy', Permissions: 'posts.view' })
    await page.getByLabel('Expires after').selectOption('A year')
    await press(page, 'Make the key')
    await sees(page, 'Your API key')
    const key = (await page.locator('#api-key').innerText()).trim()
    assert.equal((await api.get('/me', key)).status, 200)
    if (hasScripts) {
      // The first one is of the key itself.
      await page.getByRole('button', { name: 'Copy', exact: true }).first().click()
      await page
        .getByText(/Copied\.|copy/)
        .last()
        .waitFor()
    } else {
      await page.locator('#api-key code').click()
      assert.equal(await page.getByRole('button', { name: 'Copy' }).isVisible(), false)
    }
    await go(page, 'I have kept it')
    await sees(page, 'Account')
    await tells(page, 'posts.view')
    assert.ok(!(await page.content()).includes(key))

    await press(page, 'End')
    if (hasScripts) {
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      assert.match(await dialog.innerText(), /End the API key “Deploy”\?/)
      await dialog.getByRole('button', { name: 'End', exact: true }).click()
    }
    await tells(page, 'The API key is ended.')
    assert.equal((await api.get('/me', key)).status, 401)
    isClean(visit)
  })
}
