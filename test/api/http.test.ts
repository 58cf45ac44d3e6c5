/** What applies to every route: bodies, errors, headers, ids, the log. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { compressResponse } from '../../src/platform/http/compression.ts'
import { type Api, shareApi, startApi } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { sendRaw } from '../support/raw-http.ts'

const isPublic = { config: { access: 'public' } } as const

/** As a long computation does, but without taking processor time from others. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

let slowHasBegun = Promise.withResolvers<void>()

function testRoutes(app: FastifyInstance): void {
  app.post('/echo', isPublic, async (request) => ({ body: request.body ?? null, ip: request.ip }))
  app.get('/echo/:id', isPublic, async (request) => ({ params: request.params, ip: request.ip }))
  app.delete('/echo/:id', isPublic, async (_request, reply) => reply.code(204).send())
  app.get('/fails', isPublic, async () => {
    throw new Error('the password is hunter2')
  })
  app.get('/throws-nothing', isPublic, async () => {
    throw null
  })
  app.get('/snow', isPublic, async (_request, reply) => reply.header('x-name', 'snow \u2603').send({}))
  app.get('/object', isPublic, async (_request, reply) => reply.type('text/plain').send({ a: 1 }))
  app.get('/long', { ...isPublic, onSend: compressResponse }, async (_request, reply) =>
    reply.header('x-name', '\u2603').send('x'.repeat(5000)),
  )
  app.get('/slow', isPublic, async () => {
    slowHasBegun.resolve()
    await sleep(300)
    return { done: true }
  })
  app.get('/blocks', isPublic, async () => {
    block(400)
    return { done: true }
  })
  app.post('/logs', isPublic, async (request) => {
    request.log.info(
      { request, raw: request.raw, headers: request.headers, body: request.body, deep: { list: [request.body] } },
      'seen',
    )
    return {}
  })
}

function start(t: TestContext, env: Record<string, string> = {}): Promise<Api> {
  return startApi(t, { extend: testRoutes, env })
}

/** Without https, HSTS is never sent. */
const shared = shareApi({ extend: testRoutes, env: { HSTS: 'subdomains' } })
const overHttps = shareApi({ extend: testRoutes, env: { PUBLIC_URL: 'https://api.example.com' } })
const behindProxy = shareApi({ extend: testRoutes, env: { TRUSTED_PROXIES: 'loopback, 10.0.0.0/8' } })

test('JSON and form bodies are read alike', async () => {
  const api = await shared()
  const json = await api.request('POST', '/echo', { json: { a: 'ü & x', b: '' } })
  const form = await api.request('POST', '/echo', { form: { a: 'ü & x', b: '' } })
  assert.deepEqual(json.body.body, { a: 'ü & x', b: '' })
  assert.deepEqual(form.body.body, { a: 'ü & x', b: '' })
})

test('an empty body counts as no body, whatever its content type', async () => {
  const api = await shared()
  for (const headers of [
    {},
    { 'content-type': 'application/json' },
    { 'content-type': 'application/x-www-form-urlencoded' },
  ]) {
    const response = await api.request('POST', '/echo', { headers, body: '' })
    assert.equal(response.status, 200)
    assert.ok(response.body.body === null || Object.keys(response.body.body).length === 0)
  }
  const deleted = await api.request('DELETE', '/echo/1', { headers: { 'content-type': 'application/json' } })
  assert.equal(deleted.status, 204)
})

const malformed: [string, string | Uint8Array][] = [
  ['half an object', '{"a": '],
  ['a list', '[1]'],
  ['a string', '"x"'],
  ['a number', '1'],
  ['null', 'null'],
  ['not JSON', 'hello'],
  ['a trailing comma', '{"a":1,}'],
  ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
]
for (const [what, body] of malformed) {
  test(`a JSON body that is ${what} is 400`, async () => {
    const api = await shared()
    const response = await api.request('POST', '/echo', { body, headers: { 'content-type': 'application/json' } })
    assert.equal(response.status, 400)
    assert.deepEqual(response.body, { error: 'Malformed request body' })
  })
}

test('a response that cannot be sent is a 500, and the service keeps running', async () => {
  const api = await shared()
  for (const path of ['/snow', '/object', '/long']) {
    const response = await api.request('GET', path, { headers: { 'accept-encoding': 'gzip' } })
    assert.deepEqual([response.status, response.body], [500, { error: 'Internal server error' }], path)
    assert.ok(response.headers.get('x-request-id'))
  }
  assert.equal((await api.get('/health/live')).status, 200)
  assert.equal(api.log.filter((line) => line.includes('could not be sent')).length, 3)
})

test('clients that disconnect at once leave no trace in the log', async (t) => {
  const api = await startApi(t)
  const { port } = new URL(api.url)
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const socket = connect(Number(port), '127.0.0.1')
      await once(socket, 'connect')
      socket.write('POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}')
      socket.resetAndDestroy()
    }),
  )
  assert.equal((await api.get('/health/live')).status, 200)
  assert.deepEqual(
    api.log.filter((line) => line.includes('"level":"error"')),
    [],
  )
})

test('a byte order mark in front of a body is skipped', async () => {
  const api = await shared()
  const post = (path: string, type: string, body: string) =>
    api.request('POST', path, { body: `\ufeff${body}`, headers: { 'content-type': type } })
  assert.deepEqual((await post('/echo', 'application/json', '{"a":1}')).body.body, { a: 1 })
  assert.deepEqual((await post('/echo', 'application/json', '{"a":1.00000000000000000001}')).body.body, { a: 1 })
  assert.deepEqual((await post('/echo', 'application/x-www-form-urlencoded', 'a=1&b=2')).body.body, { a: '1', b: '2' })
  assert.equal((await post('/echo', 'application/json', '')).body.body, null)
  assert.deepEqual((await post('/graphql', 'application/json', '{"query":"{__typename}"}')).body, {
    data: { __typename: 'Query' },
  })
  const login = await post('/api/auth/login', 'application/x-www-form-urlencoded', 'email=a%40b.example&password=x')
  assert.deepEqual(login.body, { error: 'Invalid credentials' })
})

test('a key that would poison a prototype is ignored, anywhere in a body', async () => {
  const api = await shared()
  const { access: token } = await signIn(api)
  const inner = ['"__proto__": {"isAdmin": true}', '"constructor": {"prototype": {"isAdmin": true}}']
  const keys = [
    ...inner,
    ...inner.map((key) => `"list": [{${key}}]`),
    ...inner.map((key) => `"deep": {"er": {${key}}}`),
  ]
  for (const key of [
    ...keys,
    String.raw`"\u005f_proto__": {"isAdmin": true}`,
    '"__proto__": null',
    '"constructor": null',
  ]) {
    const headers = { 'content-type': 'application/json' }
    const echoed = await api.request('POST', '/echo', { body: `{"a": 1, ${key}}`, headers })
    assert.deepEqual([echoed.status, echoed.body.body.a], [200, 1], key)
    assert.ok(!JSON.stringify(echoed.body).includes('isAdmin'), key)
    const body = `{"name": "Lamp", "description": "Bright", "price": 5, ${key}}`
    const made = await api.request('POST', '/api/v2/products', { body, headers, token })
    assert.deepEqual([made.status, made.body.data?.attributes.name], [201, 'Lamp'], key)
  }
  for (const key of ['__proto__', 'constructor', 'constructor.prototype', '__proto__[isAdmin]']) {
    const form = { name: 'Lamp', description: 'Bright', price: '5', [key]: 'isAdmin' }
    assert.equal((await api.request('POST', '/api/v2/products', { form, token })).status, 201, key)
  }
  assert.equal(({} as Record<string, unknown>).isAdmin, undefined)
})

test('a body over 1 MiB is 413, one of exactly 1 MiB is read', async () => {
  const api = await shared()
  const fits = JSON.stringify({ a: 'x'.repeat(1024 * 1024 - 8) })
  const headers = { 'content-type': 'application/json' }
  assert.equal((await api.request('POST', '/echo', { body: fits, headers })).status, 200)
  const response = await api.request('POST', '/echo', { body: `${fits} `, headers })
  assert.equal(response.status, 413)
  assert.deepEqual(response.body, { error: 'Request body too large' })
})

test('a body of another type is 415', async () => {
  const api = await shared()
  for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'nonsense']) {
    const response = await api.request('POST', '/echo', { body: 'x', headers: { 'content-type': type } })
    assert.equal(response.status, 415, type)
    assert.deepEqual(response.body, { error: 'Unsupported media type' })
  }
})

test('an unknown path is 404, malformed paths included', async () => {
  const api = await shared()
  for (const path of ['/nowhere', '/echo', '/echo/1/2', '/%zz', '/echo/%', `/echo/${'x'.repeat(5000)}`]) {
    const response = await api.get(path)
    const expected = path === '/echo' ? 405 : 404
    assert.equal(response.status, expected, path)
    if (expected === 404) assert.deepEqual(response.body, { error: 'Not found' })
  }
})

test('a key in the path of a request that the parser refuses is not logged', async () => {
  const api = await shared()
  const key = `lk_${'a'.repeat(40)}`
  const long = `x: ${'y'.repeat(20_000)}`
  for (const [path, header, status, logged] of [
    [`/api/${key}`, 'broken header', 400, ['/api/(redacted)']],
    // The path is known only if the last bytes of the request arrived together with the first.
    [`/nowhere/${key}`, long, 431, ['/nowhere/(redacted)', undefined]],
  ] as const) {
    const response = await sendRaw(api.url, `GET ${path} HTTP/1.1\r\nhost: x\r\n${header}\r\n\r\n`)
    assert.equal(response.status, status)
    await eventually(() => {
      const id = response.headers.get('x-request-id')
      const line = api.log.map((text) => JSON.parse(text)).find(({ requestId }) => requestId === id)
      assert.ok(line?.status === status && (logged as readonly unknown[]).includes(line.path), line?.path)
    })
  }
  assert.ok(!api.log.join('').includes(key))
})

test('a known path with another method is 405 with an Allow header', async () => {
  const api = await shared()
  const response = await api.request('PUT', '/echo/7?x=1')
  assert.equal(response.status, 405)
  assert.deepEqual(response.body, { error: 'Method not allowed' })
  assert.equal(response.headers.get('allow'), 'GET, HEAD, DELETE')
})

test('an unknown route is refused before its body is parsed', async () => {
  const api = await shared()
  const text = { body: 'x', headers: { 'content-type': 'text/plain' } }
  assert.equal((await api.request('POST', '/nowhere', text)).status, 404)
  const wrongMethod = await api.request('PUT', '/echo', text)
  assert.equal(wrongMethod.status, 405)
  assert.equal(wrongMethod.headers.get('allow'), 'POST')
})

test('HTTP/1.1 requires one Host header, HTTP/1.0 none, and Expect is ignored', async () => {
  const api = await shared()
  const ask = (version: string, ...lines: string[]) =>
    sendRaw(api.url, [`GET /health/live HTTP/${version}`, ...lines, 'connection: close', '', ''].join('\r\n'))
  for (const lines of [[], ['host: a', 'host: b'], ['host: a', 'x-other: 1', 'HOST: a']]) {
    const response = await ask('1.1', ...lines)
    assert.deepEqual([response.status, response.body], [400, '{"error":"Malformed request"}'], lines.join())
    assert.ok(response.headers.get('x-request-id'))
  }
  assert.equal((await ask('1.0', 'host: a', 'host: b')).status, 400)
  assert.equal((await ask('1.0')).status, 200)
  assert.equal((await ask('1.0', 'host: a')).status, 200)
  assert.equal((await ask('1.1', 'host: x', 'expect: foo')).status, 200)
})

test('parser errors have the usual body, headers and id, and are in the log and the metrics', async (t) => {
  const api = await start(t)
  const big = `host: x\r\nx-big: ${'x'.repeat(20_000)}\r\n\r\n`
  const graphql = { errors: [{ message: 'Request headers too large', extensions: { code: 'HEADERS_TOO_LARGE' } }] }
  const cases: [string, number, object, string | undefined][] = [
    [`GET /health/live?secret=1 HTTP/1.1\r\n${big}`, 431, { error: 'Request headers too large' }, '/health/live'],
    [`POST /graphql HTTP/1.1\r\n${big}`, 431, graphql, '/graphql'],
    [`GET /graphql?query=${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431, graphql, '/graphql'],
    ['GET /me HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n', 400, { error: 'Malformed request' }, '/me'],
    ['NONSENSE\r\n\r\n', 400, { error: 'Malformed request' }, undefined],
  ]
  for (const [request, status, body, path] of cases) {
    const response = await sendRaw(api.url, request)
    assert.deepEqual([response.status, JSON.parse(response.body)], [status, body])
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    const id = response.headers.get('x-request-id')
    const line = api.log.map((each) => JSON.parse(each)).find(({ requestId }) => requestId === id)
    assert.deepEqual([line?.msg, line?.status, line?.path], ['request', status, path])
  }
  assert.ok(!api.log.join('').includes('secret=1'))
  const metrics = (await api.get('/metrics')).body
  assert.match(metrics, /http_request_duration_seconds_count\{method="any",route="unknown",status="431"\} 3/)
  // Once each, or Prometheus refuses all of them.
  await sendRaw(api.url, 'GET /nowhere HTTP/1.1\r\nconnection: close\r\n\r\n')
  await api.get('/graphql/nowhere')
  await api.get('/nowhere')
  const lines: string[] = (await api.get('/metrics')).body.split('\n')
  const series = lines.filter((line) => /^http_.*_count/.test(line)).map((line) => line.split(' ')[0])
  assert.deepEqual(series, [...new Set(series)])
})

test('an unexpected error is 500 without its cause, which is logged', async () => {
  const api = await shared()
  const nothing = await api.get('/throws-nothing')
  assert.deepEqual([nothing.status, nothing.body], [500, { error: 'Internal server error' }])
  const response = await api.get('/fails')
  assert.equal(response.status, 500)
  assert.deepEqual(response.body, { error: 'Internal server error' })
  const id = response.headers.get('x-request-id')
  assert.ok(api.log.some((line) => line.includes('"level":"error"') && line.includes(`"requestId":"${id}"`)))
})

test('every response has its own id, which a client cannot choose', async () => {
  const api = await shared()
  const ids = new Set<string | null>()
  for (const path of ['/health/live', '/nowhere', '/fails', '/%zz']) {
    const response = await api.request('GET', path, { headers: { 'x-request-id': 'mine' } })
    assert.ok(response.headers.get('x-request-id'), path)
    ids.add(response.headers.get('x-request-id'))
  }
  assert.equal(ids.size, 4)
  assert.ok(!ids.has('mine'))
})

test('responses have security headers', async () => {
  const api = await overHttps()
  const { headers } = await api.get('/nowhere')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/)
  assert.equal(headers.get('strict-transport-security'), 'max-age=31536000')
  assert.equal(headers.get('x-powered-by'), null)
})

test('HSTS is sent over https, with subdomains if configured, and never over http', async (t) => {
  for (const [env, expected] of [
    [{ PUBLIC_URL: 'https://api.example.com', HSTS: 'subdomains' }, 'max-age=31536000; includeSubDomains'],
    [{ PUBLIC_URL: 'https://api.example.com', HSTS: 'off' }, null],
    [{ PUBLIC_URL: 'http://api.example.com', HSTS: 'subdomains' }, null],
  ] as [Record<string, string>, string | null][]) {
    const api = await start(t, env)
    assert.equal((await api.get('/health/live')).headers.get('strict-transport-security'), expected)
  }
  assert.equal((await (await shared()).get('/health/live')).headers.get('strict-transport-security'), null)
})

test('windows of other origins get no reference to our pages', async () => {
  const api = await shared()
  for (const path of ['/', '/docs', '/graphiql', '/console/login', '/console/nowhere']) {
    const { headers } = await api.get(path)
    assert.match(headers.get('content-type') ?? '', /^text\/html/, path)
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path)
  }
})

test('no secret reaches the log', async () => {
  const api = await shared()
  const secret = 'hush-hush-4711'
  const body = Object.fromEntries(
    [
      'password',
      'current_password',
      'new_password',
      'token',
      'refresh_token',
      'challenge_token',
      'code',
      '_token',
      'secret',
    ].map((name) => [name, secret]),
  )
  const headers = { authorization: `Bearer ${secret}`, cookie: `session=${secret}` }
  await api.request('POST', '/logs', { form: { password: secret, visible: 'form' } })
  await api.request('POST', `/logs?token=${secret}`, { json: { ...body, visible: 'yes' }, headers })
  await api.request('POST', '/logs', {
    body: `{"password": "${secret}`,
    headers: { 'content-type': 'application/json' },
  })
  const log = await eventually(() => {
    const paths = api.log.filter((line) => line.includes('"path":"/logs"'))
    assert.equal(paths.length, 3, 'each request has its line')
    return api.log.join('')
  })
  assert.ok(log.includes('"visible":"yes"'))
  assert.ok(log.includes('"visible":"form"'))
  assert.ok(!log.includes(secret))
})

test('forwarding headers of an untrusted peer are ignored, with one warning', async () => {
  const api = await shared()
  for (let i = 0; i < 3; i++) {
    const response = await api.request('GET', '/echo/1', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    assert.equal(response.body.ip, '127.0.0.1')
  }
  assert.equal(api.log.filter((line) => line.includes('untrusted peer')).length, 1)
})

test('a trusted proxy sets the client address and the request id', async () => {
  const api = await behindProxy()
  const headers = { 'x-forwarded-for': '198.51.100.1, 203.0.113.9, 10.1.2.3', 'x-request-id': 'from-the-proxy' }
  const response = await api.request('GET', '/echo/1', { headers })
  assert.equal(
    response.body.ip,
    '203.0.113.9',
    'the last address that is not a trusted proxy; what stands before it is forged',
  )
  assert.equal(response.headers.get('x-request-id'), 'from-the-proxy')
  const forged = await api.request('GET', '/echo/1', { headers: { 'x-request-id': 'a b" {}' } })
  assert.notEqual(forged.headers.get('x-request-id'), 'a b" {}')
})

test('a forwarded address must be valid, or it is ignored', async () => {
  const api = await behindProxy()
  for (const [forwarded, expected] of [
    ['evil', '127.0.0.1'],
    ['unknown', '127.0.0.1'],
    ['"<script>alert(1)</script>"', '127.0.0.1'],
    ['', '127.0.0.1'],
    ['203.0.113.9, evil', '127.0.0.1'],
    ['203.0.113.9, unknown, 10.1.2.3', '10.1.2.3'],
    ['evil, 203.0.113.9', '203.0.113.9'],
    ['evil, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['203.0.113.9:5555', '203.0.113.9'],
    ['[2001:db8::1]:5555', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['203.0.113.999', '127.0.0.1'],
    [`${'1'.repeat(10_000)}`, '127.0.0.1'],
  ] as const) {
    const response = await api.request('GET', '/echo/1', { headers: { 'x-forwarded-for': forwarded } })
    assert.equal(response.body.ip, expected, forwarded.slice(0, 50))
  }
  const sent = { headers: { 'x-forwarded-for': 'evil' } }
  await api.request('GET', '/%zz', sent)
  assert.ok(!api.log.join('').includes('evil'))
})

test('while the event loop is far behind, requests get 503 with Retry-After, but the service is live', async (t) => {
  const api = await start(t, { MAX_EVENT_LOOP_DELAY_MS: '50' })
  const blocking = Promise.all(Array.from({ length: 6 }, () => api.get('/blocks')))
  await blocking
  async function untilShed(path: string) {
    let response = await api.get(path)
    for (let i = 0; i < 20 && response.status === 200; i++) {
      await api.get('/blocks')
      response = await api.get(path)
    }
    return response
  }
  const shed = await untilShed('/echo/1')
  assert.equal(shed.status, 503)
  assert.deepEqual(shed.body, { error: 'Service unavailable' })
  const page = await untilShed('/console/login')
  assert.equal(page.status, 503)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  assert.ok(api.log.some((line) => line.includes('the event loop is overloaded')))
  assert.ok(Number(shed.headers.get('retry-after')) > 0)
  assert.equal((await api.get('/health/live')).status, 200)
})

test('a slow start is not treated as overload: the first request is served', async (t) => {
  const api = await startApi(t, {
    env: { MAX_EVENT_LOOP_DELAY_MS: '3000' },
    extend() {
      block(3500)
    },
  })
  assert.equal((await api.get('/health/ready')).status, 200)
})

test('closing lets a request in flight finish', async (t) => {
  const api = await start(t)
  slowHasBegun = Promise.withResolvers()
  const slow = api.get('/slow')
  await slowHasBegun.promise
  await api.app.close()
  const response = await slow
  assert.deepEqual(response.body, { done: true })
  assert.equal(
    response.headers.get('connection'),
    'close',
    'the client must not reuse a connection that is about to go',
  )
  await assert.rejects(fetch(api.url))
})

test('a route without a declared access stops the start with an error that names it', async (t) => {
  const start = startApi(t, {
    extend(app) {
      app.get('/forgotten', async () => ({}))
    },
  })
  await assert.rejects(start, /GET \/forgotten/)
})
