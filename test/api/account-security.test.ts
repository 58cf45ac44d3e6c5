/** What docs/security.md claims of accounts and no other test shows. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../src/config/root.ts'
import { share, shareApi, startApi } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsoleBrowser, type ConsolePage, openConsole } from '../support/console.ts'
import { forEngines, onAnyEngine } from '../support/databases.ts'
import { startDescribedApi } from '../support/openapi-document.ts'
import { enableTwoFactor, logIn, register } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const year = 365 * 86_400

const services = forEngines((engine) => shareApi({ engine }))

onAnyEngine('accounts', (engine) => {
  const shared = services[engine]

  test('a new service has no users, so no default account', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    assert.deepEqual(await api.db.all('SELECT id FROM users'), [])
  })

  test('a password stays valid for years: nothing asks for another one', async () => {
    const api = await shared()
    const { email } = await register(api)
    api.clock.advance(5 * year)
    assert.equal((await logIn(api, email)).status, 200)
  })

  test('a password is compared exactly as it was sent', async () => {
    const api = await shared()
    const email = 'ada@example.com'
    const given = ' Correct Horse 1é '
    assert.equal((await api.post('/api/auth/register', { email, password: given, name: '' })).status, 201)
    for (const other of [given.trim(), given.toLowerCase(), given.normalize('NFD'), given.slice(0, -1)]) {
      assert.equal((await logIn(api, email, other)).status, 401, JSON.stringify(other))
    }
    assert.equal((await logIn(api, email, given)).status, 200)
    await openConsole(api).signIn(email, given)
  })
})

test('a password may have 64 characters of ASCII', async () => {
  const api = await services.sqlite()
  const email = 'grace@example.com'
  const given = `Aa1${' -~'.repeat(20)}x`
  assert.equal(given.length, 64)
  assert.equal((await api.post('/api/auth/register', { email, password: given, name: '' })).status, 201)
  assert.equal((await logIn(api, email, given)).status, 200)
})

test('where no kind of character is required, a password may be of any', async (t) => {
  const api = await startApi(t, {
    config: createConfig(t, { auth: 'auth { password { require_upper = false require_number = false } }' }),
  })
  for (const [i, given] of [
    'all of lower case',
    '0123456789',
    '~!@#$%^&*()',
    'пароль без цифр',
    '🐎🔋📎🐎🔋📎🐎🔋',
  ].entries()) {
    const email = `user${i}@example.com`
    assert.equal((await api.post('/api/auth/register', { email, password: given, name: '' })).status, 201, given)
    assert.equal((await logIn(api, email, given)).status, 200, given)
  }
})

/** Opens every page of the console that the router knows: signed out, signed in, and with two-factor on. */
const openEveryPage = share(async (owner) => {
  const api = await startDescribedApi(owner)
  const user = await api.signInAs('admin')
  const paths = api.routes
    .flatMap((route) => (route.startsWith('GET /console') ? [route.slice('GET '.length)] : []))
    .filter((path) => !path.startsWith('/console/assets/'))
    .map((path) => path.replace('{id}', String(user.id)).replace('{wildcard}', 'nowhere'))
  const open = async (browser: ConsoleBrowser) => {
    const pages: { path: string; page: ConsolePage }[] = []
    for (const path of paths) {
      const page = await browser.open(path)
      const isPage = page.headers.get('content-type')?.startsWith('text/html') ?? false
      if (isPage && page.status !== 303) pages.push({ path, page })
    }
    return pages
  }
  const signedOut = await open(openConsole(api))
  const browser = openConsole(api)
  await browser.signIn(user.email)
  const signedIn = await open(browser)
  await enableTwoFactor(api, user)
  signedIn.push(...(await open(browser)))
  return { signedOut, signedIn }
})

test('every password field of the console is masked, and open to paste and to password managers', async () => {
  const { signedOut, signedIn } = await openEveryPage()
  const fields = [...signedOut, ...signedIn].flatMap(({ page }) =>
    [...page.html.matchAll(/<input\b[^>]*>/g)]
      .map(([input]) => input)
      // `next` is the address of a page, which may have the word in it.
      .filter((input) => input.includes('password') && !input.includes('name="next"')),
  )
  assert.ok(new Set(fields).size >= 6, `only ${new Set(fields).size} fields were found`)
  for (const field of fields) {
    assert.match(field, / type="password"/)
    assert.match(field, / autocomplete="(current|new)-password\b/)
    assert.doesNotMatch(field, / readonly| onpaste/)
  }
  const assets = join(root, 'src', 'platform', 'pages', 'assets')
  for (const file of readdirSync(assets).filter((name) => name.endsWith('.js'))) {
    assert.doesNotMatch(readFileSync(join(assets, file), 'utf8'), /paste/, file)
  }
})

test('every page that a signed-in user sees has the button that signs out', async () => {
  const { signedIn } = await openEveryPage()
  assert.ok(signedIn.length >= 10, `only ${signedIn.length} pages were found`)
  for (const { path, page } of signedIn) assert.ok(page.hasForm('/console/sign-out'), path)
})
