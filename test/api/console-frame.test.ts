/** The frame of the console: navigation, breadcrumb, appearance, search and shortcuts. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { shareService } from '../support/api.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { register } from '../support/people.ts'
import { createProduct, withoutProducts } from '../support/products.ts'
import { findTableScans, recordStatements } from '../support/query-plans.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const assets = join(root, 'src/platform/pages/assets')
const appearance = '/console/appearance'

async function enter(api: ApiWithRoles) {
  const admin = await api.signInAs('admin')
  const member = await api.signInAs('editor')
  const open = async (email: string) => {
    const browser = openConsole(api)
    await browser.signIn(email)
    return browser
  }
  return { api, admin, member, browser: await open(admin.email), other: await open(member.email) }
}

/** Names of links in a part of the page. */
function linksIn(page: ConsolePage, part: RegExp): string[] {
  const [, inner = ''] = part.exec(page.html) ?? assert.fail('the page does not have this part')
  return [...inner.matchAll(/<a href="([^"]*)"/g)].map(([, path = '']) => path)
}

async function addUsers(
  { db }: Pick<ApiWithRoles, 'db'>,
  ...users: (readonly [email: string, name: string])[]
): Promise<void> {
  await db.write(
    ...users.map(([email, name]) => ({
      sql: `INSERT INTO users (email, name, name_key, password_hash, created_at, updated_at)
            VALUES ($1, $2, $3, '', $4, $4)`,
      params: [email, name, name.toLowerCase(), '2026-01-01T00:00:00.000Z'],
    })),
  )
}

const trail = /<nav class="trail"[^>]*>(.*?)<\/nav>/s
const found = /<div id="found"[^>]*>(.*?)<\/div>/s

onAnyEngine('the frame', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('shows where one is, and the way back', async () => {
    const { api, admin, browser } = await enter(await withoutProducts(await shared()))
    const id = await createProduct(api, admin.access)
    const list = await browser.open('/console/products')
    assert.match(list.html, /href="\/console\/products" aria-current="page"/)
    assert.doesNotMatch(list.html, trail, 'a page at the top needs none')
    assert.deepEqual(linksIn(await browser.open(`/console/products/${id}`), trail), ['/console/products'])
    assert.deepEqual(linksIn(await browser.open('/console/account/keys/new'), trail), ['/console/account'])
    assert.doesNotMatch((await openConsole(api).open('/console/sign-in')).html, trail)
  })

  test('keeps theme and density without scripts, and comes back to the page', async () => {
    const { browser } = await enter(await withoutProducts(await shared()))
    const page = await browser.open('/console/products?q=lamp')
    assert.match(page.html, /<html lang="en" data-theme="system" data-density="comfortable">/)
    const dark = await browser.submit(appearance, { theme: 'dark' })
    assert.deepEqual([dark.status, dark.location], [303, '/console/products?q=lamp'])
    assert.match((await browser.follow(dark)).html, /data-theme="dark" data-density="comfortable"/)
    await browser.submit(appearance, { density: 'compact' })
    assert.match((await browser.open('/console/account')).html, /data-theme="dark" data-density="compact"/)
    assert.deepEqual(browser.cookies.get('latchkey_appearance')?.attributes, [
      'Max-Age=31536000',
      'Path=/',
      'HttpOnly',
      'SameSite=Lax',
    ])
  })

  test('takes nothing else for an appearance, and leads to no other site', async () => {
    const { browser } = await enter(await withoutProducts(await shared()))
    for (const value of ['', '"><script>', 'dark', 'x y', 'dark compact more', '%E0%A4%A']) {
      browser.cookies.set('latchkey_appearance', { value: encodeURIComponent(value), attributes: [] })
      const page = await browser.open('/console/account')
      assert.equal(page.status, 200)
      assert.match(page.html, /<html lang="en" data-theme="(system|dark)" data-density="(comfortable|compact)">/)
    }
    await browser.open('/console/account')
    for (const next of ['https://evil.example', '//evil.example', '/api/products', '/console/../api']) {
      assert.equal((await browser.submit(appearance, { theme: 'light', next })).location, '/console')
      await browser.open('/console/account')
    }
  })

  test('the search finds pages, actions, products and users, each only for those who may see them', async () => {
    const { api, admin, browser, other } = await enter(await withoutProducts(await shared()))
    const id = await createProduct(api, admin.access, { name: 'Invented Lamp' })
    const user = await register(api, 'inventor@example.com')
    const all = linksIn(await browser.open('/console/search?q=INV'), found)
    assert.deepEqual(all, ['/console/users/invite', `/console/users/${user.id}`, `/console/products/${id}`])
    assert.deepEqual(linksIn(await other.open('/console/search?q=inv'), found), [`/console/products/${id}`])
    assert.deepEqual(linksIn(await browser.open('/console/search?q=audit'), found), ['/console/audit'])
    const atFirst = linksIn(await browser.open('/console/search'), found)
    assert.ok(atFirst.includes('/console/products/new') && atFirst.includes('/console/audit'), atFirst.join(' '))
    assert.ok(!atFirst.includes(`/console/products/${id}`), 'nothing was searched for')
    for (let i = 0; i < 6; i++) await createProduct(api, admin.access, { name: `Classic Bowl ${i}` })
    const [best] = linksIn(await other.open('/console/search?q=la'), found)
    assert.equal(best, `/console/products/${id}`, 'a word begins with it')
  })

  test('with many users, the search finds anybody by how an email or a name begins, and reads no whole table', async (t) => {
    const { api, browser } = await enter(await startApiWithRoles(t, { engine }))
    await addUsers(api, ['quill@example.com', 'Zed Underwood'])
    await addUsers(api, ...Array.from({ length: 2000 }, (_, i) => [`person${i}@example.com`, 'Person'] as const))
    await addUsers(api, ['new.underwood@example.com', 'Newest'])
    const [old, newest] = (
      await api.db.all<{ id: number }>(`SELECT id FROM users WHERE name IN ('Zed Underwood', 'Newest') ORDER BY id`)
    ).map(({ id }) => `/console/users/${id}`)
    const all = (q: string) => `/console/users?q=${q}`

    const statements = recordStatements(api.db, { withScans: true })
    const search = async (q: string) => linksIn(await browser.open(`/console/search?q=${q}`), found)
    assert.deepEqual(await search('QUILL'), [old, all('QUILL')])
    assert.deepEqual(await search('zed+u'), [old, all('zed+u')])
    assert.deepEqual(await search('derwood'), [newest, all('derwood')])
    assert.deepEqual(await search('100%25'), [all('100%25')])
    assert.deepEqual(await findTableScans(api, statements(), ['users']), [])
    const { html } = await browser.open(all('derwood'))
    assert.ok(html.includes(`"${old}"`) && html.includes(`"${newest}"`))
  })

  test('the search survives any text', async () => {
    const { browser } = await enter(await withoutProducts(await shared()))
    for (const q of ['<b>', '%', '\ud800', 'x'.repeat(5000), '   ', "' OR 1=1"]) {
      const page = await browser.open(`/console/search?q=${encodeURIComponent(q.toWellFormed())}`)
      assert.equal(page.status, 200, q.slice(0, 20))
      assert.doesNotMatch(page.html, /<b>/)
    }
    assert.match((await browser.open('/console/search?q=zzz')).text, /Nothing has “zzz” in its name/)
  })

  test('shortcuts name the places that one may go to', async () => {
    const { browser, other } = await enter(await withoutProducts(await shared()))
    assert.match((await browser.open('/console/shortcuts')).text, /G U Go to Users/)
    const page = await other.open('/console/shortcuts')
    assert.match(page.text, /G P Go to Products/)
    assert.doesNotMatch(page.text, /Go to Users/)
  })

  test('the pages of the frame are for people who are signed in', async () => {
    const { api } = await enter(await withoutProducts(await shared()))
    for (const path of ['search', 'shortcuts', 'design']) {
      const page = await openConsole(api).open(`/console/${path}`)
      assert.deepEqual([page.status, page.location], [303, `/console/sign-in?next=%2Fconsole%2F${path}`])
    }
  })

  test('the design page shows every token and every icon', async () => {
    const { browser } = await enter(await withoutProducts(await shared()))
    const { html } = await browser.open('/console/design')
    const tokens = new Set(readFileSync(join(assets, 'tokens.css'), 'utf8').match(/--[\w-]+(?=:)/g))
    for (const token of tokens) assert.ok(html.includes(`<code>${token}</code>`), token)
    for (const [, name = ''] of readFileSync(join(assets, 'icons.svg'), 'utf8').matchAll(/symbol id="([^"]+)"/g)) {
      assert.ok(html.includes(`<code>${name}</code>`), name)
    }
  })
})
