/** User input is shown as text and never runs. console-accessibility.test.ts checks this on all pages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../support/api.ts'
import { startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser } from '../support/browser.ts'
import { startConsoleFixture } from '../support/console-fixture.ts'
import { enter, go, isClean, listens, sees } from '../support/console-steps.ts'
import { hostileWords, isHarmless } from '../support/hostile-words.ts'
import { register } from '../support/people.ts'
import { chosen } from '../support/tiers.ts'

const shared = share((owner) => startConsoleFixture(owner, hostileWords))

test('text that looks like a script is shown as typed, in live rows too', async () => {
  const { api, visit, people, stock } = await shared()
  const { page } = await visit('member')
  await page.goto(`${api.url}/console/products`)
  const shows = (text: string) => page.getByText(text, { exact: true }).first().waitFor()
  await listens(api)
  const id = await stock()
  await page.getByRole('link', { name: hostileWords.product }).waitFor()
  await isHarmless(page)
  await shows(hostileWords.category)
  await go(page, hostileWords.product)
  await sees(page, hostileWords.product)
  assert.equal(await page.getByLabel('Name').inputValue(), hostileWords.product)
  assert.equal(await page.getByLabel('Description').inputValue(), hostileWords.description)
  assert.equal(await page.getByLabel('Category').inputValue(), hostileWords.category)
  await page.getByRole('button', { name: 'Delete this product' }).click()
  await shows(`Delete “${hostileWords.product}”?`)
  await isHarmless(page)
  await page.goto(`${api.url}/console/account`)
  await shows(people.member.email)
  assert.equal(await page.getByLabel('Name').inputValue(), hostileWords.person)

  const viewer = (await visit('viewer')).page
  await viewer.goto(`${api.url}/console/products/${id}`)
  await viewer.getByText(hostileWords.description, { exact: true }).waitFor()
  const admin = (await visit('admin')).page
  await admin.goto(`${api.url}/console/users`)
  await admin.getByText(people.member.email, { exact: true }).waitFor()
  await admin.getByText(hostileWords.person, { exact: true }).first().waitFor()
  await admin.goto(`${api.url}/console/audit`)
  const titles = (await admin.evaluate(
    '[...document.querySelectorAll("td [title]")].map((each) => each.title)',
  )) as string[]
  assert.ok(titles.includes(hostileWords.userAgent), titles.join('\n'))
})

test('text in a URL does nothing', async () => {
  const { api, visit, visits } = await shared()
  const texts = ['<script>ran=true</script>', '"><img src=x onerror=ran=true>', 'javascript:ran=true', '//evil.example']
  const member = (await visit('member')).page
  const nobody = (await visit('nobody')).page
  for (const [index, text] of texts.map(encodeURIComponent).entries()) {
    // Each path meets one of them, and all of them in `npm run test:full`.
    const inTurn = (paths: string[]) => chosen(paths, (_, place) => place % texts.length === index)
    for (const path of inTurn([
      `products?q=${text}&category=${text}&page=${text}&deleted=${text}&done=${text}`,
      `account?done=${text}`,
      text,
      `products/${text}`,
    ])) {
      await member.goto(`${api.url}/console/${path}`)
      await isHarmless(member)
    }
    for (const path of inTurn([`sign-in?next=${text}&done=${text}`, `password/reset?token=${text}`])) {
      await nobody.goto(`${api.url}/console/${path}`)
      await isHarmless(nobody)
    }
  }
  isClean(...visits)
})

// test/api/console-frame.test.ts has more addresses. Only a browser reads a backslash as a slash.
const elsewhere = ['https://evil.example/', '//evil.example/', '/\\evil.example', 'javascript:alert(1)']
const addresses = chosen(elsewhere, (each) => each.includes('\\'))

test('sign-in never redirects to another site', async (t) => {
  const api = await startBrowsedApi(t)
  const { email } = await register(api)
  const visit = await openBrowser(t, { url: api.url, path: '/console/sign-in' })
  const { page } = visit
  for (const next of addresses) {
    await page.context().clearCookies()
    await page.goto(`${api.url}/console/sign-in?next=${encodeURIComponent(next)}`)
    await enter(page, email)
    await sees(page, 'Products')
  }
  isClean(visit)
})
