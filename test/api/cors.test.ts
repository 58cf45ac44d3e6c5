/** CORS: pages of other origins may use the API and read all responses. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { ClientResponse } from '../../src/testing/client.ts'
import { type Api, type ApiOptions, shareApi, startApi } from '../support/api.ts'
import { keepBusy } from '../support/busy-loop.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/graphql.ts'
import { signIn } from '../support/people.ts'
import { sendRaw } from '../support/raw-http.ts'

const exposed = 'ETag, Link, Location, Retry-After, x-cursor, x-device-token, x-request-id, x-truncated'
const origin = 'https://shop.example'
const json = { 'content-type': 'application/json' }

/** Paths of every part that pages may use, some of which do not exist. */
const shared = [
  '/api/auth/login',
  '/api/auth/2fa/verify',
  '/api/admin/users/7/roles',
  '/api/posts/1',
  '/api/v2/products',
  '/api/v2/products/1',
  '/api/nowhere/at/all',
  '/api/%zz',
  `/api/posts/${'1'.repeat(5000)}`,
  '/api',
  '/me',
  '/me/',
  '/graphql',
  '/graphql/nowhere',
  '/.well-known/jwks.json',
  '/.well-known/nothing',
]
const unshared = [
  '/console',
  '/console/login',
  '/',
  '/docs',
  '/metrics',
  '/health/live',
  '/apix',
  '/mexico',
  '/nowhere',
]

function routes(app: FastifyInstance): void {
  const config = { access: 'public', docs: false } as const
  app.get('/api/fails', { config }, async () => {
    throw new Error('unforeseen')
  })
  app.get('/api/unsendable', { config }, async (_request, reply) => reply.header('x-name', '\u2603').send({}))
}

const service = shareApi({ extend: routes })

function start(t: TestContext, options: ApiOptions = {}): Promise<Api> {
  return startApi(t, { extend: routes, ...options })
}

function assertReadable({ status, headers }: Pick<ClientResponse, 'status' | 'headers'>, by = '*'): void {
  assert.equal(headers.get('access-control-allow-origin'), by, String(status))
  assert.equal(headers.get('access-control-expose-headers'), exposed, String(status))
  assert.equal(headers.get('access-control-allow-credentials'), null)
  assert.ok(headers.get('x-request-id'), String(status))
}

test('a preflight is 204 for every path of the API, and for no other', async () => {
  const api = await service()
  const headers = {
    origin,
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'authorization,content-type,if-match',
  }
  for (const path of shared) {
    const response = await api.request('OPTIONS', path, { headers })
    assert.equal(response.status, 204, path)
    assertReadable(response)
    assert.equal(response.headers.get('access-control-max-age'), '600')
    assert.equal(response.headers.get('access-control-allow-methods'), 'GET, HEAD, POST, PUT, PATCH, DELETE')
    assert.equal(response.headers.get('access-control-allow-headers'), 'authorization,content-type,if-match')
    assert.match(response.headers.get('vary') ?? '', /access-control-request-headers/)
  }
  for (const path of unshared) {
    const response = await api.request('OPTIONS', path, { headers })
    for (const [name] of response.headers) assert.ok(!name.startsWith('access-control-'), `${path} ${name}`)
  }
})

test('OPTIONS without a preflight returns the allowed methods', async () => {
  const api = await service()
  const known = await api.request('OPTIONS', '/api/posts/1')
  assert.deepEqual([known.status, known.headers.get('allow')], [204, 'GET, HEAD, PUT, DELETE, OPTIONS'])
  assert.equal((await api.request('OPTIONS', '/api/nowhere')).status, 404)
})

test('refusals of every kind can be read by a page', async (t) => {
  const api = await start(t, { env: { RATE_LIMIT_RESET: '1/60' } })
  const { access: token } = await signIn(api)
  const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = json) =>
    api.request('POST', path, { body, headers: { origin, ...headers } })
  await post('/api/auth/password/forgot', '{}')
  const responses: [number, ClientResponse][] = [
    [400, await post('/api/auth/login', '{')],
    [400, await post('/graphql', '{')],
    [401, await post('/api/auth/login', '{}')],
    [401, await api.get('/me')],
    [401, await api.get('/graphql?query={__typename}', 'nonsense')],
    [403, await api.get('/api/admin/users', token)],
    [404, await api.get('/api/nowhere')],
    [404, await api.get('/api/v2/products/1')],
    [404, await api.get('/api/%zz')],
    [404, await api.get(`/api/posts/${'1'.repeat(5000)}`)],
    [404, await api.get('/.well-known/nothing')],
    [405, await api.request('PUT', '/me')],
    [405, await api.request('DELETE', '/graphql')],
    [
      413,
      await post('/api/posts', `{"title":"${'x'.repeat(1024 * 1024)}"}`, { ...json, authorization: `Bearer ${token}` }),
    ],
    [415, await post('/api/auth/login', 'x', { 'content-type': 'text/plain' })],
    [422, await post('/api/auth/register', '{}')],
    [429, await post('/api/auth/password/forgot', '{}')],
    [500, await api.get('/api/fails')],
    [500, await api.get('/api/unsendable')],
  ]
  for (const [status, response] of responses) {
    assert.equal(response.status, status, JSON.stringify(response.body))
    assertReadable(response)
  }
  for (const path of unshared) {
    const { headers } = await api.request('GET', path, { headers: { origin } })
    assert.equal(headers.get('access-control-allow-origin'), null, path)
  }
})

test('parser errors can be read by a page too, as far as the path is known', async () => {
  const api = await service()
  const big = `x-big: ${'x'.repeat(20_000)}\r\n`
  const tooLarge = await sendRaw(api.url, `GET /api/posts/1 HTTP/1.1\r\nhost: x\r\norigin: ${origin}\r\n${big}\r\n`)
  assert.deepEqual([tooLarge.status, tooLarge.body], [431, '{"error":"Request headers too large"}'])
  assertReadable(tooLarge)
  for (const target of [`/api/v2/products?q=${'x'.repeat(17_000)}`, `/api/${'x'.repeat(17_000)}`]) {
    const tooLong = await sendRaw(api.url, `GET ${target} HTTP/1.1\r\nhost: x\r\norigin: ${origin}\r\n\r\n`)
    assert.equal(tooLong.status, 431)
    assertReadable(tooLong)
  }
  const broken = await sendRaw(api.url, 'GET /me HTTP/1.1\r\nhost: x\r\nno colon here\r\n\r\n')
  assert.equal(broken.status, 400)
  assertReadable(broken)
  const head =
    'POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n'
  const chunk = await sendRaw(api.url, `${head}\r\nnot a size\r\n`)
  assert.equal(chunk.status, 400)
  assertReadable(chunk)
  for (const path of ['/console', '/nowhere']) {
    const { status, headers } = await sendRaw(api.url, `GET ${path} HTTP/1.1\r\nhost: x\r\n${big}\r\n`)
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [431, null])
    assert.ok(headers.get('x-request-id'))
  }
})

test('load shedding can be read too, and never affects preflights', async (t) => {
  const api = await start(t, {
    env: { MAX_EVENT_LOOP_DELAY_MS: '1' },
    extend: keepBusy,
  })
  await eventually(async () => {
    for (const path of ['/api/posts/1', '/graphql', '/me', '/api/nowhere']) {
      const response = await api.get(path)
      assert.equal(response.status, 503)
      assertReadable(response)
      const headers = { origin, 'access-control-request-method': 'GET' }
      assert.equal((await api.request('OPTIONS', path, { headers })).status, 204)
    }
  }, 30_000)
})

test('if origins are listed, only those may read, and Vary is sent', async (t) => {
  const other = 'http://localhost:8080'
  const api = await start(t, { env: { CORS_ORIGINS: `${origin}, ${other}` } })
  for (const path of [...shared, '/api/fails', '/api/unsendable', '/api/%zz']) {
    for (const [asking, allowed] of [
      [origin, origin],
      [other, other],
      ['https://evil.example', null],
      ['https://shop.example.evil.example', null],
      ['null', null],
    ] as const) {
      const { headers } = await api.request('GET', path, { headers: { origin: asking } })
      assert.equal(headers.get('access-control-allow-origin'), allowed, `${path} ${asking}`)
      assert.match(headers.get('vary') ?? '', /\borigin\b/i, path)
    }
  }
  const big = `x-big: ${'x'.repeat(20_000)}\r\n`
  for (const [asking, allowed] of [
    [origin, origin],
    ['https://evil.example', null],
  ] as const) {
    const headers = { origin: asking }
    for (const asked of [
      await send(api, '{ __typename }', { headers }),
      await send(api, '{', { headers: { ...headers, authorization: 'Bearer x' } }),
      await send(api, 'subscription { counter { count } }', { headers }),
    ]) {
      assert.equal(asked.headers.get('access-control-allow-origin'), allowed, String(asked.status))
    }
    const response = await sendRaw(api.url, `GET /me HTTP/1.1\r\nhost: x\r\nOrigin: ${asking}\r\n${big}\r\n`)
    assert.deepEqual([response.status, response.headers.get('access-control-allow-origin')], [431, allowed])
  }
})
