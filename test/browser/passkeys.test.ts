/** Passkeys in Chromium, with its virtual authenticator. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { root } from '../../src/config/root.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { startBrowsedApi } from '../support/browsed-api.ts'
import { openBrowser, type Visit, widthsFor } from '../support/browser.ts'
import { enter, fill, fits, go, isClean, leave, press, sees, tells } from '../support/console-steps.ts'
import { blocksOf } from '../support/docs.ts'
import { type ColorScheme, keepsNobodyOut } from '../support/page-checks.ts'
import { enableTwoFactor, password, type SignedIn, signIn } from '../support/people.ts'
import type { ApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'

interface Console extends Visit {
  api: ApiWithRoles
  user: SignedIn
  /** Passkeys belong to localhost, not to an address. */
  url: string
  authenticator: VirtualAuthenticator
}

interface VirtualAuthenticator {
  cdp: CDPSession
  id: string
}

const button = 'Sign in with a passkey'

const shared = share((owner) => startBrowsedApi(owner, { env: unlimitedRates }))

async function open(t: TestContext, path = '/console/sign-in'): Promise<Console> {
  const api = await shared()
  const user = await signIn(api)
  const url = api.url.replace('127.0.0.1', 'localhost')
  const visit = await openBrowser(t, { url })
  const authenticator = await addAuthenticator(visit.page)
  await visit.page.goto(url + path)
  return { ...visit, api, user, url, authenticator }
}

async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { cdp, id }
}

/** While nobody is there, nothing is signed: not even what the email field offers by itself. */
function setPresence({ cdp, id: authenticatorId }: VirtualAuthenticator, enabled: boolean) {
  return cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
}

/** From the next page on, the email field offers no passkey by itself, which could be faster than a press of the button. */
async function offerNothing(page: Page): Promise<void> {
  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
}

/** From the account page. */
async function addPasskey(page: Page, name: string): Promise<void> {
  await go(page, 'Add a passkey')
  await fill(page, { Name: name, Password: password })
  await press(page, 'Go on')
  await press(page, 'Make the passkey')
  await tells(page, 'Passkey added.')
}

async function signInAndAdd({ page, user, url }: Console, name = 'My laptop'): Promise<void> {
  await enter(page, user.email)
  await page.goto(`${url}/console/account`)
  await addPasskey(page, name)
}

/** A passkey of the browser, by the API instead of by pages: with the script of docs/authentication.md. */
async function addByScript({ page, user }: Console): Promise<void> {
  await page.evaluate(
    withScript(`addPasskey(${JSON.stringify({ name: 'My laptop', password, accessToken: user.access })})`),
  )
}

function withScript(code: string): string {
  const [, script = ''] = blocksOf(readFileSync(join(root, 'docs', 'authentication.md'), 'utf8'), 'js')
  return `(async () => {
    ${script.replaceAll('export ', '')}
    return ${code}
  })()`
}

async function hasNoBarriers(page: Page, name: string, scheme: ColorScheme = 'light'): Promise<void> {
  for (const [, width] of widthsFor('phone')) {
    await page.setViewportSize({ width, height: 800 })
    await fits(page)
  }
  await keepsNobodyOut(page, scheme, name)
}

test('a passkey is added on the account page, signs in by the button, and leads to the page that was asked for', async (t) => {
  const visit = await open(t)
  const { page, url } = visit
  await page.getByRole('button', { name: button }).waitFor()
  await signInAndAdd(visit)
  await page.getByRole('cell', { name: 'My laptop' }).waitFor()

  await offerNothing(page)
  await leave(page)
  await page.goto(`${url}/console/sign-in?next=%2Fconsole%2Faccount`)
  await press(page, button)
  await sees(page, 'Account')
  const names = (await page.context().cookies()).map(({ name }) => name)
  assert.ok(names.includes('latchkey_session') && names.includes('latchkey_device'), names.join(', '))
  assert.equal(await page.getByRole('row', { name: 'My laptop' }).getByText('Never').count(), 0)
  isClean(visit)
})

test('the browser offers a passkey in the email field by itself, with two-factor on as well', async (t) => {
  const visit = await open(t, '/')
  const { page, url, api, user } = visit
  await addByScript(visit)
  await enableTwoFactor(api, user)
  await page.goto(`${url}/console/sign-in?next=%2Fconsole%2Faccount`)
  await sees(page, 'Account')
  assert.equal(await page.getByText('Signing in also asks for a code').count(), 1)
  isClean(visit)
})

testInFull('at another host there is no button, and the browser refuses to use the passkey', async (t) => {
  const visit = await open(t)
  const { page, api, user } = visit
  await signInAndAdd(visit)
  await page.goto(`${api.url}/console/sign-in`)
  await sees(page, 'Sign in')
  assert.equal(await page.getByRole('button', { name: button }).count(), 0)
  const refusal = await page.evaluate(`(async () => {
    const response = await fetch('/api/auth/passkeys/login/options', { method: 'POST' })
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await response.json())
    return navigator.credentials.get({ publicKey }).then(() => 'signed', (error) => error.name)
  })()`)
  assert.equal(refusal, 'SecurityError')
  await enter(page, user.email)
  await page.goto(`${api.url}/console/account/passkeys/add`)
  await tells(page, 'This needs a browser with passkeys')
  assert.equal(await page.getByLabel('Password').count(), 1)
  assert.ok(!(await page.getByLabel('Password').isVisible()))
  // Its own other name is no stray.
  assert.deepEqual(
    [visit.errors, visit.strays.filter((each) => new URL(each).host !== new URL(api.url).host)],
    [[], []],
  )
})

test('a passkey that was removed signs in no more, and the page says so', async (t) => {
  const visit = await open(t, '/')
  const { page, url } = visit
  await addByScript(visit)
  await offerNothing(page)
  await page.goto(`${url}/console/sign-in?next=%2Fconsole%2Faccount`)
  await enter(page, visit.user.email)
  await sees(page, 'Account')
  await go(page, 'Remove')
  await sees(page, 'Remove a passkey')
  await fill(page, { Password: 'wrong' })
  await press(page, 'Remove')
  await tells(page, 'This is not your password')
  await hasNoBarriers(page, 'remove, refused')
  await fill(page, { Password: password })
  await press(page, 'Remove')
  await tells(page, 'Passkey removed.')
  assert.equal(await page.getByRole('cell', { name: 'My laptop' }).count(), 0)
  await page.context().clearCookies()
  await page.goto(`${url}/console/sign-in`)
  await press(page, button)
  await tells(page, 'That passkey does not sign you in here.')
  isClean(visit)
})

testInFull('the pages of adding one keep nobody out, and say what went wrong', async (t) => {
  const visit = await open(t)
  const { page, user, url, authenticator } = visit
  await page.getByRole('button', { name: button }).waitFor()
  await hasNoBarriers(page, 'sign in')
  await press(page, button)
  await tells(page, 'That was cancelled, or took too long.')
  await hasNoBarriers(page, 'sign in, cancelled', 'dark')
  await enter(page, user.email)
  await page.goto(`${url}/console/account/passkeys/add`)
  await hasNoBarriers(page, 'add')
  await fill(page, { Name: 'My laptop', Password: 'wrong' })
  await press(page, 'Go on')
  await tells(page, 'This is not your password')
  await hasNoBarriers(page, 'add, refused', 'dark')
  assert.equal(await page.getByLabel('Name').inputValue(), 'My laptop')
  await fill(page, { Password: password })
  await press(page, 'Go on')
  await page.getByRole('button', { name: 'Make the passkey' }).waitFor()
  await hasNoBarriers(page, 'make')
  await press(page, 'Make the passkey')
  await tells(page, 'Passkey added.')
  await hasNoBarriers(page, 'account', 'dark')

  await go(page, 'Add a passkey')
  await fill(page, { Name: 'Again', Password: password })
  await press(page, 'Go on')
  await press(page, 'Make the passkey')
  await tells(page, 'This device has a passkey for your account already.')
  await hasNoBarriers(page, 'make, refused')
  await setPresence(authenticator, false)
  isClean(visit)
})

test('the example of docs/authentication.md adds a passkey and signs in with it', async (t) => {
  const visit = await open(t, '/')
  const { page, api, user } = visit
  await addByScript(visit)
  const pair = (await page.evaluate(withScript('signIn()'))) as { access_token: string }
  assert.equal((await api.get('/me', pair.access_token)).body.email, user.email)
  isClean(visit)
})

test('without scripts the page offers the password, and no button that would do nothing', async (t) => {
  const api = await shared()
  const user = await signIn(api)
  const url = api.url.replace('127.0.0.1', 'localhost')
  const visit = await openBrowser(t, { url, path: '/console/sign-in', hasScripts: false })
  const { page } = visit
  assert.equal(await page.getByRole('button', { name: button }).count(), 0)
  await enter(page, user.email)
  await page.goto(`${url}/console/account/passkeys/add`)
  await tells(page, 'This needs a browser with passkeys')
  assert.equal(await page.getByRole('button', { name: 'Go on' }).count(), 0)
  isClean(visit)
})
