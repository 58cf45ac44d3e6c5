/** What somebody typed is text, wherever the console shows it: it never runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { startConsoleGround, type Words } from '../support/console-ground.ts'
import { go, isClean, sees } from '../support/console-visits.ts'
import { password } from '../support/people.ts'
import { placesByPart } from '../support/places/places.ts'

const words: Words = {
  person: '<script>window.ran = true</script>"><svg/onload=ran=true>',
  mailbox: "'onfocus='ran=1'${ran}{{ran}}&lt`&#39",
  userAgent: 'Mozilla/5.0 <script>ran = true</script>"><img src=x onerror="window.ran = true"> Firefox/1.0',
  product: `javascript:ran=true//'"><img src=x onerror="window.ran = true">`,
  description: '</textarea><script>window.ran = true</script> &lt;b&gt; &amp; <b>bold</b>',
  category: `' autofocus onfocus='ran = true'></select><svg onload="ran = true">`,
}

for (const [part, places] of Object.entries(placesByPart)) {
  test(`what looks like a script does nothing on the pages of ${part}`, async (t) => {
    const ground = await startConsoleGround(t, words)
    for (const { name, as, open } of places) {
      const { page } = ground.visits[as]
      await t.test(name, async () => {
        await open(page, ground)
        await isHarmless(page)
      })
    }
    isClean(...Object.values(ground.visits))
  })
}

test('and looks as it was typed, in a row that appears by itself too', async (t) => {
  const { api, visits, people, stock } = await startConsoleGround(t, words)
  const { page } = visits.member
  const shows = (text: string) => page.getByText(text, { exact: true }).first().waitFor()
  const id = await stock()
  await page.getByRole('link', { name: words.product }).waitFor()
  await isHarmless(page)
  await shows(words.category)
  await go(page, words.product)
  await sees(page, 'Edit product')
  assert.equal(await page.getByLabel('Name').inputValue(), words.product)
  assert.equal(await page.getByLabel('Description').inputValue(), words.description)
  assert.equal(await page.getByLabel('Category').inputValue(), words.category)
  await page.getByRole('button', { name: 'Delete this product' }).click()
  await shows(`Delete “${words.product}”?`)
  await isHarmless(page)
  await page.goto(`${api.url}/console/account`)
  await shows(people.member.email)
  assert.equal(await page.getByLabel('Name').inputValue(), words.person)

  const viewer = visits.viewer.page
  await viewer.goto(`${api.url}/console/products/${id}`)
  await viewer.getByText(words.description, { exact: true }).waitFor()
  const admin = visits.admin.page
  await admin.goto(`${api.url}/console/users`)
  await admin.getByText(people.member.email, { exact: true }).waitFor()
  await admin.getByText(words.person, { exact: true }).first().waitFor()
  await admin.goto(`${api.url}/console/audit`)
  const titles = (await admin.evaluate(
    '[...document.querySelectorAll("td [title]")].map((each) => each.title)',
  )) as string[]
  assert.ok(titles.includes(words.userAgent), titles.join('\n'))
})

test('nor does what stands in an address', async (t) => {
  const { api, visits } = await startConsoleGround(t)
  const texts = ['<script>ran=true</script>', '"><img src=x onerror=ran=true>', 'javascript:ran=true', '//evil.example']
  const member = visits.member.page
  const nobody = visits.nobody.page
  for (const text of texts.map(encodeURIComponent)) {
    for (const path of [
      `products?q=${text}&category=${text}&page=${text}&deleted=${text}&done=${text}`,
      `account?done=${text}`,
      text,
      `products/${text}`,
    ]) {
      await member.goto(`${api.url}/console/${path}`)
      await isHarmless(member)
    }
    for (const path of [`sign-in?next=${text}&done=${text}`, `password/reset?token=${text}`]) {
      await nobody.goto(`${api.url}/console/${path}`)
      await isHarmless(nobody)
    }
  }
  isClean(visits.member, visits.nobody)
})

test('nor does it lead who signs in to another site', async (t) => {
  const { api, people } = await startConsoleGround(t)
  for (const next of ['https://evil.example/', '//evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    const path = `/console/sign-in?next=${encodeURIComponent(next)}`
    const visit = await openBrowser(t, { url: api.url, path })
    await visit.page.getByLabel('Email').fill(people.viewer.email)
    await visit.page.getByLabel('Password').fill(password)
    await visit.page.getByRole('button', { name: 'Sign in' }).click()
    await sees(visit.page, 'Products')
    isClean(visit)
  }
})

/** Nothing of it ran, and nothing is there that could: no script, no handler, no element that we did not write. */
async function isHarmless(page: Page): Promise<void> {
  const found = await page.evaluate(`({
    ran: 'ran' in window,
    scripts: [...document.scripts].filter(({ src }) => !src.startsWith(location.origin + '/console/assets/')).length,
    handlers: [...document.querySelectorAll('*')].flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith('on')),
    links: [...document.querySelectorAll('a, form')]
      .map((each) => each.getAttribute('href') ?? each.getAttribute('action'))
      .filter((to) => to !== null && !/^(\\/(?!\\/)|#|\\?)/.test(to)),
    foreign: document.querySelectorAll('main :is(svg, b, iframe, object, embed, base, style), img[src="x"]').length,
  })`)
  assert.deepEqual(found, { ran: false, scripts: 0, handlers: [], links: [], foreign: 0 }, page.url())
}
