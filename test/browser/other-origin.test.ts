/** The API used by a page of another origin, in a browser. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { startApi } from '../support/api.ts'
import { openBrowser } from '../support/browser.ts'
import { password, signIn } from '../support/people.ts'

/** Another server, and so another origin. Returns its URL. */
async function servePage(t: TestContext): Promise<string> {
  const server = createServer((_request, response) => {
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><title>Shop</title><link rel="icon" href="data:,">')
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

/** Runs in the page: signs in, reads the profile, and sends a request that is refused. */
async function useApi({ api, email, password: secret }: { api: string; email: string; password: string }) {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(api + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const login = await post('/api/auth/login', { email, password: secret })
  const tokens = (await login.json()) as { access_token: string }
  const authorization = `Bearer ${tokens.access_token}`
  const me = await fetch(`${api}/me`, { headers: { authorization } })
  const wrong = await post('/api/auth/login', { email, password: 'wrong' })
  const locked = await fetch(`${api}/me`, { method: 'PUT', headers: { authorization } })
  const unknown = await fetch(`${api}/api/nowhere`, { method: 'DELETE', headers: { authorization } })
  const queried = await post('/graphql', { query: '{ me { email } }' }, { authorization })
  return {
    loginStatus: login.status,
    loginId: login.headers.get('x-request-id'),
    me: (await me.json()) as { email: string },
    wrong: [wrong.status, await wrong.json()],
    locked: [locked.status, await locked.json()],
    unknown: [unknown.status, await unknown.json()],
    queried: await queried.json(),
  }
}

test('a page of another origin signs in, acts as its user, and can read errors', async (t) => {
  const api = await startApi(t)
  const user = await signIn(api)
  const shop = await servePage(t)
  const { page } = await openBrowser(t, { url: shop, path: '/' })
  const seen = await page.evaluate(useApi, { api: api.url, email: user.email, password })
  assert.equal(seen.loginStatus, 200)
  assert.ok(seen.loginId)
  assert.equal(seen.me.email, user.email)
  assert.deepEqual(seen.wrong, [401, { error: 'Invalid credentials' }])
  assert.deepEqual(seen.locked, [405, { error: 'Method not allowed' }])
  assert.deepEqual(seen.unknown, [404, { error: 'Not found' }])
  assert.deepEqual(seen.queried, { data: { me: { email: user.email } } })
})

test('a page of an unlisted origin is refused, a listed one is allowed', async (t) => {
  const shop = await servePage(t)
  const other = await servePage(t)
  const api = await startApi(t, { env: { CORS_ORIGINS: shop } })
  const user = await signIn(api)
  const given = { api: api.url, email: user.email, password }
  const { page: listed } = await openBrowser(t, { url: shop, path: '/' })
  assert.equal((await listed.evaluate(useApi, given)).me.email, user.email)
  const { page: stranger } = await openBrowser(t, { url: other, path: '/' })
  await assert.rejects(stranger.evaluate(useApi, given), /Failed to fetch/)
})
