/** Every response has Cache-Control. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share, unlimitedRates } from '../support/api.ts'
import { startDescribedApi } from '../support/openapi-document.ts'
import { isSignedIn, logIn, password } from '../support/people.ts'
import { createProduct } from '../support/products.ts'

/** Responses without user data or tokens. All others must not be cached. */
const kept: Readonly<Record<string, string>> = {
  'GET /api/v2/products': 'no-cache',
  'GET /api/v2/products/{id}': 'no-cache',
  'POST /api/v2/products': 'no-cache',
  'PUT /api/v2/products/{id}': 'no-cache',
  'DELETE /api/v2/products/{id}': 'no-cache',
  'GET /api/posts/{id}': 'no-cache',
  'GET /.well-known/jwks.json': 'public, max-age=300',
}

const json = { 'content-type': 'application/json' }

const shared = share((owner) => startDescribedApi(owner, { env: unlimitedRates }))

test('every documented route sends Cache-Control, with errors too', async (t) => {
  const api = await startDescribedApi(t, { env: unlimitedRates })
  const { access: token } = await api.signInAs('admin')
  let { access } = await api.signInAs('admin')
  const lamp = { name: 'Lamp', description: 'Bright', price: 5 }
  for (let i = 0; i < 2; i++) await api.post('/api/v2/products', lamp, token)
  await api.post('/api/posts', { title: 'Hello' }, token)
  const succeeded = new Set<string>()
  for (const { name, method, path, operation } of api.operations) {
    const [media] = Object.values(operation.requestBody?.content ?? {})
    if (!(await isSignedIn(api, access))) access = (await api.signInAs('admin')).access
    const target = path.replace('{id}', '1')
    const response = await api.request(method, target, {
      ...(media && { json: media.example }),
      ...(operation.security.length > 0 && { token: access }),
    })
    const isGood = response.status < 400
    if (isGood) succeeded.add(name)
    const expected = (isGood && kept[name]) || 'no-store'
    assert.equal(response.headers.get('cache-control'), expected, `${name} ${response.status}`)
    for (const refused of [
      await api.request(method, target, { token: 'nonsense', ...(media && { body: '{', headers: json }) }),
      await api.request('PATCH', target),
      await api.request(method, `${target}/nowhere`),
    ]) {
      if (refused.status < 400) continue
      assert.equal(refused.headers.get('cache-control'), 'no-store', `${name} ${refused.status}`)
    }
  }
  for (const name of Object.keys(kept)) assert.ok(succeeded.has(name), `${name} was not seen to succeed`)
})

test('an unchanged product is 304 with Cache-Control: no-cache', async () => {
  const api = await shared()
  const { access } = await api.signInAs()
  const id = await createProduct(api, access, { name: 'Lamp' })
  for (const path of [`/api/v2/products/${id}`, '/api/v2/products', '/api/v2/products?q=lamp']) {
    const etag = (await api.get(path)).headers.get('etag') ?? ''
    const again = await api.request('GET', path, { headers: { 'if-none-match': etag } })
    assert.deepEqual([again.status, again.headers.get('cache-control')], [304, 'no-cache'], path)
  }
})

test('responses with tokens or user data are never cached', async () => {
  const api = await shared()
  const user = await api.signInAs()
  const signedIn = await logIn(api, user.email, password)
  const refreshed = await api.post('/api/auth/refresh', { refresh_token: signedIn.body.refresh_token })
  for (const response of [signedIn, refreshed, await api.get('/me', user.access)]) {
    assert.deepEqual([response.status, response.headers.get('cache-control')], [200, 'no-store'])
  }
})

test('pages, their assets, GraphQL and unknown paths send Cache-Control too', async () => {
  const api = await shared()
  for (const [path, expected] of [
    ['/', 'no-cache'],
    ['/docs', 'no-cache'],
    ['/docs/style.css', 'no-cache'],
    ['/openapi.json', 'no-cache'],
    ['/graphiql', 'no-cache'],
    ['/console/assets/console.css', 'no-cache'],
    ['/console/login', 'no-store'],
    ['/console', 'no-store'],
    ['/graphql?query={__typename}', 'no-cache'],
    ['/health/live', 'no-store'],
    ['/health/ready', 'no-store'],
    ['/metrics', 'no-store'],
    ['/nowhere', 'no-store'],
    ['/%zz', 'no-store'],
  ] as const) {
    const { status, headers } = await api.get(path)
    assert.equal(headers.get('cache-control'), expected, `${path} ${status}`)
  }
  const mutation = { query: 'mutation { createPost(title: "x", body: "y") }' }
  assert.equal((await api.post('/graphql', mutation)).headers.get('cache-control'), 'no-store')
})
