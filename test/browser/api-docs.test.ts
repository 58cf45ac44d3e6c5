/** /docs and /graphiql in a browser: on a phone and a laptop, in light and dark, by keyboard, with and without scripts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { share } from '../support/api.ts'
import { findBarriers } from '../support/axe.ts'
import { openSignedIn, startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser, type VisitOptions, widthsFor } from '../support/browser.ts'
import { enter, fits, isClean, openMenu, press, sees, tells } from '../support/console-steps.ts'
import { eventually } from '../support/eventually.ts'
import { makeKey } from '../support/keys.ts'
import { anyWords, brokenWords, keepsNobodyOut, shiftsOf, worksByKeyboard } from '../support/page-checks.ts'
import { again, register } from '../support/people.ts'
import { testInFull } from '../support/test-in-full.ts'
import { isFull } from '../support/tiers.ts'

/** All operations are made alike, so fewer are enough where their number is not the claim. */
const env: Record<string, string> = isFull ? {} : { FEATURES_DISABLED: 'backup,overview,passkeys,webhooks' }
const shared = share((owner) => startBrowsedApi(owner, { env }))

for (const [device, width] of widthsFor('phone')) {
  test(`the description is whole without scripts, on a ${device}`, async (t) => {
    const { visit, page } = await open(t, { width, hasScripts: false })
    await page.getByRole('heading', { level: 1, name: 'API' }).waitFor()
    assert.equal(await page.locator(':is(button, [type="search"]):visible').count(), 0, 'nothing that would do nothing')
    const article = page.locator('#createProduct')
    await article.getByText('curl http').waitFor()
    await chooserOf(page).getByLabel('Python').check()
    await article.getByText('import urllib.request').waitFor()
    assert.equal(await article.getByText('curl http').isVisible(), false)
    await article.getByText(/^Errors:/).click()
    await article.getByText('Missing access token').waitFor()
    await page.goto(`${page.url()}#listProducts`)
    assert.ok(await isInView(page, '#listProducts'), 'a link leads to its operation')
    await fits(page)
    isClean(visit)
  })
}

for (const [device, width] of widthsFor('desktop')) {
  test(`/docs keeps nobody out and does not move, on a ${device}`, async (t) => {
    const { visit, page } = await open(t, { width })
    assert.deepEqual(await shiftsOf(page), [])
    // All operations are made alike, and axe-core takes a minute for all of them.
    await page.locator('#docs-search').fill(isFull ? 'products' : 'listProducts')
    await tryIt(page, 'listProducts')
    await page.locator('#listProducts').getByRole('button', { name: 'Send GET' }).click()
    await page.locator('#listProducts .answer').getByText('200 OK').waitFor()
    await page.locator('#listProducts').getByText('What a 200 holds').click()
    await fits(page)
    // axe-core takes a second for what the search has hidden.
    await page.evaluate('for (const each of document.querySelectorAll("article[hidden]")) each.remove()')
    await keepsNobodyOut(page, 'light')
    await worksByKeyboard(page)
    isClean(visit)
  })
}

for (const [device, width] of widthsFor('phone')) {
  test(`/graphiql keeps nobody out, on a ${device}`, async (t) => {
    const { visit, page } = await open(t, { path: '/graphiql', width })
    await page.getByRole('button', { name: 'Execute query' }).waitFor()
    await fits(page)
    for (const count of [2, 3]) {
      await page.getByRole('button', { name: 'New tab' }).click()
      await eventually(async () => assert.equal(await page.locator('.graphiql-tab-button').count(), count))
    }
    await fits(page)
    await keepsNobodyOut(page, 'dark')
    isClean(visit)
  })
}

testInFull('no word is broken at 320 pixels, nor at 200 %', async (t) => {
  const { page } = await open(t, { width: 320 })
  await tryIt(page, 'updateProduct')
  if (!isFull) await page.getByRole('searchbox').fill('updateProduct')
  for (const [width, size] of [
    [320, 100],
    [640, 100],
    [1280, 200],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await page.evaluate(`document.documentElement.style.fontSize = '${size}%'`)
    await page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true')
    await fits(page)
    assert.deepEqual(await brokenWords(page, anyWords), [], `${width} pixels, ${size} %`)
  }
})

testInFull("/docs and /graphiql have the theme that was chosen in the console, and not the system's", async (t) => {
  const api = await shared()
  const { page } = await openSignedIn(t, api, { ...(await register(api)), path: '/console/account' })
  await page.emulateMedia({ colorScheme: 'light' })
  await openMenu(page)
  await press(page, 'Dark')
  await eventually(async () => {
    await page.goto(`${api.url}/docs`)
    assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(15, 17, 22)')
  })
  await page.goto(`${api.url}/graphiql`)
  await page.getByRole('button', { name: 'Execute query' }).waitFor()
  assert.equal(await page.evaluate('document.body.className'), 'graphiql-dark')
  assert.deepEqual(await findBarriers(page, ['color-contrast']), [])
})

test('search, choice of the language and "Try it" work with the keyboard alone', async (t) => {
  const { visit, page } = await open(t)
  const { keyboard } = page
  await keyboard.press('/')
  await keyboard.type('post read')
  await eventually(async () => assert.equal(await page.locator('article:visible').count(), 1))
  assert.match(await page.locator('#docs-found').innerText(), /^1 of \d+$/)
  await keyboard.press('Escape')
  assert.ok((await page.locator('article:visible').count()) > 20)
  await keyboard.type('getMe')
  await keyboard.press('Enter')
  await page.waitForURL(/#getMe$/)
  await tabTo(page, 'Try it')
  await keyboard.press('Enter')
  await page.locator('#getMe form').waitFor()
  await tabTo(page, 'Send GET')
  await keyboard.press('Enter')
  await page.locator('#getMe .answer').getByText('401 Unauthorized').waitFor()
  assert.match(
    String(await page.evaluate('document.activeElement.textContent')),
    /Missing access token/,
    'it is read out',
  )

  await chooserOf(page).getByLabel('curl').focus()
  await keyboard.press('ArrowDown')
  await page.locator('#getMe').getByText('await fetch(').waitFor()
  await page.reload()
  await page.locator('#getMe').getByText('await fetch(').waitFor()
  assert.ok(await chooserOf(page).getByLabel('TypeScript').isChecked(), 'the choice is remembered')
  assert.equal(visit.errors.filter((error) => !error.includes('401')).length, 0)
})

testInFull('a sample is copied as it is shown', async (t) => {
  const { page } = await open(t)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const article = page.locator('#getProduct')
  await article.getByRole('button', { name: 'Copy: curl' }).click()
  await article.getByText('Copied').waitFor()
  assert.match(String(await page.evaluate('navigator.clipboard.readText()')), /^curl http:\S+\/api\/v2\/products\/1$/)
})

testInFull('a link to an operation that the search has hidden shows it', async (t) => {
  const { page } = await open(t)
  await page.getByRole('searchbox').fill('webhook')
  assert.equal(await page.locator('#getMe').isVisible(), false)
  await page.evaluate('location.hash = "getMe"')
  await eventually(async () => assert.ok(await isInView(page, '#getMe')))
})

testInFull('requests are sent with a pasted key, which only this tab keeps until it is forgotten', async (t) => {
  const { api, page } = await open(t)
  const { access } = await again(api, await register(api))
  const { key } = await makeKey(api, access)
  await page.getByLabel('Access token or API key').fill(key)
  await press(page, 'Use it in this tab')
  await tells(page, 'Requests are from whoever has the token lk_')
  await page.reload()
  await tryIt(page, 'createPost')
  const article = page.locator('#createPost')
  await article.getByText('For real: this POST changes data of this service.').waitFor()
  await article.getByLabel('body').fill('{"title": "From the page", "body": "Really"}')
  await article.getByRole('button', { name: 'Send POST' }).click()
  await article.locator('.answer').getByText('201 Created').waitFor()
  await article.getByText('"title": "From the page"').waitFor()
  assert.ok(!String(await page.evaluate('JSON.stringify(localStorage)')).includes(key))
  await press(page, 'Forget')
  await tells(page, 'Requests are from nobody')
  assert.ok(!String(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')).includes(key))
  await article.getByRole('button', { name: 'Send POST' }).click()
  await article.locator('.answer').getByText('401 Unauthorized').waitFor()
})

test('requests are sent with the session of the console, on request, as long as it lasts', async (t) => {
  const { api, page } = await open(t)
  const user = await register(api)
  // Looking for names in all of the page takes long.
  const access = page.locator('#docs-access')
  const session = access.getByRole('button', { name: 'Use my session' })
  await session.click()
  await access.getByText('You are not signed in to the console.').waitFor()
  await access.getByRole('link', { name: 'Sign in' }).click()
  await enter(page, user.email)
  await sees(page, 'Access token')
  await page.goto(`${api.url}/docs`)
  await tryIt(page, 'getMe')
  const article = page.locator('#getMe')
  const send = article.getByRole('button', { name: 'Send GET' })
  await send.click()
  await article.getByText('401 Unauthorized').waitFor()
  await session.click()
  await access.getByText('Requests are from you').waitFor()
  await send.click()
  await article.getByText(`"email": "${user.email}"`).waitFor()
  const kept = String(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })'))
  assert.ok(!kept.includes('eyJ'), 'the token stays in the memory of the page')

  const elsewhere = await page.context().newPage()
  await elsewhere.goto(`${api.url}/console/account`)
  await elsewhere.getByRole('button', { name: 'Sign out', exact: true }).first().click()
  await elsewhere.getByText('You are signed out.').waitFor()
  await send.click()
  await article.locator('.answer').getByText('Invalid access token').waitFor()
})

testInFull('the playground asks as the user of the console, on request, on a small phone', async (t) => {
  const api = await shared()
  const user = await register(api)
  const { page } = await openSignedIn(t, api, { ...user, path: '/graphiql', width: 320 })
  await fits(page)
  const button = page.getByRole('button', { name: 'Use my session' })
  for (const [expected, isPressed] of [
    ['"me": null', 'false'],
    [`"email": "${user.email}"`, 'true'],
    ['"me": null', 'false'],
  ] as const) {
    assert.equal(await button.getAttribute('aria-pressed'), isPressed)
    await ask(page, '{ me { email } }')
    await page.getByRole('region', { name: 'Result Window' }).getByText(expected).waitFor()
    await button.click()
    await eventually(async () => assert.notEqual(await button.getAttribute('aria-pressed'), isPressed))
  }
  const kept = String(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })'))
  assert.ok(!kept.includes('eyJ'))
})

async function open(t: TestContext, options: Partial<VisitOptions> = {}) {
  const api = await shared()
  const visit = await openBrowser(t, { url: api.url, path: '/docs', ...options })
  return { api, visit, page: visit.page }
}

/** Of the language of examples. */
function chooserOf(page: Page) {
  return page.locator('.languages')
}

async function tryIt(page: Page, id: string): Promise<void> {
  await page.locator(`#${id}`).getByRole('button', { name: 'Try it' }).click()
  await page.locator(`#${id} form`).waitFor()
}

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 30; i++) {
    if ((await page.evaluate('document.activeElement.textContent')) === name) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the keyboard does not get to ${name}`)
}

async function ask(page: Page, query: string): Promise<void> {
  await page.getByRole('region', { name: 'Query Editor' }).locator('.CodeMirror:visible').click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.insertText(query)
  // The page parses shortly after the last key; by then the tab has no name of an operation.
  await page.locator('.graphiql-tab-button', { hasText: '<untitled>' }).waitFor()
  await page.getByRole('button', { name: 'Execute query' }).click()
}

function isInView(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`(() => {
    const { top } = document.querySelector('${selector}').getBoundingClientRect()
    return top > -10 && top < innerHeight
  })()`)
}
