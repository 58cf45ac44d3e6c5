/** The OpenAPI document is valid, complete and correct. Independent of the database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import Type from 'typebox'
import { readVersion } from '../../src/config/version.ts'
import { playgroundPath } from '../../src/platform/graphql/playground/playground.ts'
import { resolveResponse, resolveSchema } from '../../src/platform/openapi/document.ts'
import { toPascalCase } from '../../src/platform/openapi/schemas.ts'
import type { ClientResponse, RequestOptions } from '../../src/testing/client.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { examplesOf, problemsOf, responseProblems, startDescribedApi } from '../support/openapi-document.ts'
import { again, logIn, password, signIn, totp } from '../support/people.ts'
import { amount } from '../support/tiers.ts'

/** Routes that are deliberately undocumented. */
const hidden = [
  'POST /graphql',
  ...['/docs', '/docs/{file}', '/openapi.json', '/graphql', playgroundPath, `${playgroundPath}/{file}`].map(
    (path) => `GET ${path}`,
  ),
]
/** Pages are not part of the API. */
const isPage = (route: string) => /^\w+ \/(console(\/.*)?)?$/.test(route)
const isPreflight = (route: string) => route.startsWith('OPTIONS ')

/** The same path with a trailing slash is not a separate endpoint. */
const isTwin = (route: string, routes: readonly string[]) => route.endsWith('/') && routes.includes(route.slice(0, -1))

/** For tests that only read. */
const shared = share((owner) => startDescribedApi(owner))

const writable = share((owner) => startDescribedApi(owner, { env: unlimitedRates }))

test('the description is valid OpenAPI 3.1, of this version', async () => {
  const { document } = await shared()
  const validator = new Validator()
  const { valid, errors } = await validator.validate({ ...structuredClone(document) })
  assert.ok(valid, JSON.stringify(errors, null, 2))
  assert.equal(validator.version, '3.1')
  assert.equal(document.info.version, readVersion())
  assert.deepEqual(document.servers, [{ url: '/', description: 'Where this description comes from.' }])
})

test("redocly's recommended rules find nothing in it", async () => {
  const { document } = await shared()
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  assert.deepEqual(
    problems.map(({ severity, ruleId, message, location }) => [severity, ruleId, message, location[0]?.pointer]),
    [],
  )
})

test('operations have readable, stable names', async () => {
  const { operations } = await shared()
  const names = Object.fromEntries(operations.map(({ name, operation }) => [name, operation.operationId]))
  for (const [route, name] of Object.entries({
    'GET /api/v2/products': 'listProducts',
    'POST /api/v2/products': 'createProduct',
    'GET /api/v2/products/{id}': 'getProduct',
    'PUT /api/v2/products/{id}': 'updateProduct',
    'DELETE /api/v2/products/{id}': 'deleteProduct',
    'POST /api/auth/register': 'register',
    'POST /api/auth/login': 'login',
    'POST /api/auth/refresh': 'refreshTokens',
    'POST /api/auth/logout': 'logout',
    'POST /api/auth/2fa/verify': 'verifySecondFactor',
    'GET /api/auth/sessions': 'listSessions',
    'GET /me': 'getMe',
    'GET /api/admin/users': 'listUsers',
    'PUT /api/admin/users/{id}/roles': 'setUserRoles',
    'POST /api/posts': 'createPost',
  })) {
    assert.equal(names[route], name)
  }
  for (const { name, method, path, operation } of operations) {
    // For a path of one word, that is the natural name: getMe.
    if (path.lastIndexOf('/') === 0) continue
    assert.notEqual(operation.operationId, method.toLowerCase() + toPascalCase(path), `${name} is named by nobody`)
  }
})

test('schemas work with client generators', async () => {
  const { document, operations } = await shared()
  const { schemas } = document.components
  assert.ok(!('Error' in schemas))
  assert.ok(!JSON.stringify(document).includes('patternProperties'))
  assert.deepEqual(schemas.DetailedErrorBody?.properties?.details, {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description: 'What is wrong, by field.',
  })
  assert.deepEqual(schemas.ListedUser?.properties?.locked_until?.type, ['integer', 'null'])
  for (const { name, operation } of operations) {
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
      const body = resolveSchema(document, schema)
      for (const [field, property] of Object.entries(body.properties ?? {})) {
        assert.ok(!('default' in property), `${name} ${field}`)
      }
    }
    for (const response of Object.values(operation.responses)) {
      for (const { schema } of Object.values(resolveResponse(document, response).content ?? {})) {
        for (const each of schema.anyOf ?? [schema]) {
          assert.ok(each.$ref !== undefined || each.type !== 'object', `${name}: an answer without a name`)
        }
      }
    }
  }
})

test('fields are documented with the lengths, limits and formats they are validated by, and as optional if they are', async () => {
  const { document } = await shared()
  const { CreateProductBody, RegisterBody, CreatePostBody, LogoutBody } = document.components.schemas
  assert.deepEqual(CreateProductBody?.required, ['name', 'description', 'price'])
  const { name, price, category, stock } = CreateProductBody?.properties ?? {}
  assert.deepEqual([name?.minLength, name?.maxLength, category?.maxLength], [2, 255, 100])
  assert.deepEqual([price?.minimum, price?.maximum], [0.01, 99_999_999.99])
  assert.deepEqual([stock?.minimum, stock?.maximum, stock?.format], [0, 2_147_483_647, 'int32'])
  assert.equal(stock?.description, 'Default: `0`.')
  const { email, password: secret, name: called } = RegisterBody?.properties ?? {}
  assert.deepEqual([email?.format, email?.maxLength, called?.maxLength], ['email', 255, 255])
  assert.deepEqual([secret?.minLength, secret?.maxLength], [8, 72])
  assert.deepEqual(CreatePostBody?.required, ['title'])
  assert.equal(CreatePostBody?.properties?.body?.maxLength, 65_536)
  assert.equal(LogoutBody?.required, undefined)
})

/** More than are allowed. */
const attempts = amount({ full: 8, otherwise: 4 })
const limits = Object.fromEntries(
  ['LOGIN', 'REGISTER', 'REFRESH', 'VERIFY', 'RESET'].map((name) => [`RATE_LIMIT_${name}`, `${attempts - 2}/600`]),
)
const published = share((owner) =>
  startDescribedApi(owner, { env: { ...limits, PUBLIC_URL: 'https://api.example.com/' } }),
)

test('every response is documented, including rate limits', async () => {
  const api = await published()
  const { access } = await api.signInAs('admin')
  const seen = new Set<number>()
  // Logout comes last: the others need the token.
  const isLast = ({ path }: { path: string }) => path === '/api/auth/logout'
  const operations = api.operations.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))
  for (const { name, method, path, operation } of operations) {
    const [media] = Object.values(operation.requestBody?.content ?? {})
    const times = '429' in operation.responses ? attempts : 2
    for (let i = 0; i < times; i++) {
      const response = await api.request(method, path.replace('{id}', '7'), {
        ...(media && { json: i % 2 === 0 ? media.example : {} }),
        ...(operation.security.length > 0 && { token: access }),
      })
      seen.add(response.status)
      assert.deepEqual(responseProblems(api.document, { method, path }, response), [], `${name} ${response.status}`)
    }
  }
  for (const status of [200, 401, 404, 422, 429]) assert.ok(seen.has(status), String(status))
})

test('it is public JSON, and contains the public URL if there is one', async () => {
  const api = await published()
  const { status, headers } = await api.get('/openapi.json')
  assert.deepEqual(
    [status, headers.get('content-type'), headers.get('cache-control')],
    [200, 'application/json; charset=utf-8', 'no-cache'],
  )
  assert.deepEqual(api.document.servers, [{ url: 'https://api.example.com' }])
})

test('every route that the router knows is described, and nothing else is', async () => {
  const { operations, routes } = await shared()
  assert.ok(routes.length > 30)
  assert.deepEqual(
    operations.map(({ name }) => name).sort(),
    routes
      .filter((route) => !hidden.includes(route) && !isPage(route) && !isTwin(route, routes) && !isPreflight(route))
      .sort(),
  )
})

test('every operation has a summary, a tag, a unique name, and responses with valid examples', async () => {
  const { document, operations } = await shared()
  const tags = document.tags.map(({ name }) => name)
  for (const { name, operation } of operations) {
    assert.ok(operation.summary.length > 3 && !operation.summary.includes(name), name)
    assert.ok(operation.tags.length === 1 && operation.tags.every((tag) => tags.includes(tag)), name)
    assert.ok(!tags.includes('Other'))
    const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
    assert.ok(good.length > 0, name)
    for (const [status, response] of Object.entries(operation.responses)) {
      const media = Object.values(resolveResponse(document, response).content ?? {})
      assert.equal(media.length, ['204', '304'].includes(status) ? 0 : 1, `${name} ${status}`)
      for (const each of media) {
        const examples = examplesOf(each)
        assert.ok(examples.length > 0, `${name} ${status}`)
        for (const example of examples) {
          assert.deepEqual(problemsOf(document, each.schema, example), [], `${name} ${status}`)
        }
      }
    }
  }
  const ids = operations.map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length)
})

/** The error table of the API. */
const texts: Record<string, string[]> = {
  400: ['Malformed request body', 'Malformed request'],
  401: [
    'Invalid credentials',
    'Missing access token',
    'Invalid access token',
    'Invalid refresh token',
    'Invalid challenge token',
    'Invalid two-factor code',
    'Invalid reset token',
    'Invalid verification token',
    'Invalid confirmation token',
    'Invalid passkey',
  ],
  403: ['Forbidden', 'Registration is closed', 'Email not verified'],
  404: ['Product not found', 'Not found'],
  408: ['Request timeout'],
  409: [
    'Email already registered',
    'Two-factor already enabled',
    'Two-factor not enabled',
    'Last administrator',
    'Too many API keys',
    'Too many webhooks',
    'User has no open invitation',
    'User is still referred to',
    'Passkey already registered',
    'Too many passkeys',
  ],
  410: ['Cursor has expired', 'Change is no longer kept'],
  412: ['Product has changed'],
  413: ['Request body too large'],
  415: ['Unsupported media type'],
  422: ['Validation failed'],
  423: ['Account temporarily locked after too many failed attempts'],
  429: ['Too many attempts'],
  431: ['Request headers too large'],
  500: ['Internal server error'],
  503: ['Service unavailable'],
}

test('documented errors are those of the table, on the operations where they can happen', async () => {
  const { document, operations } = await shared()
  const found = new Set<string>()
  for (const { name, path, operation } of operations) {
    const statuses = Object.keys(operation.responses)
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status < '400') continue
      for (const media of Object.values(resolveResponse(document, response).content ?? {})) {
        for (const example of examplesOf(media) as { error: string }[]) {
          assert.ok(texts[status]?.includes(example.error), `${name}: ${status} ${example.error}`)
          found.add(example.error)
        }
      }
    }
    const expected = [
      ...(operation.security.length > 0 ? ['401'] : []),
      ...(/permission|role|policy/.test(operation['x-access']) ? ['403'] : []),
      ...(path.includes('{') ? ['404'] : []),
      ...(operation.requestBody ? ['413', '415', '422'] : []),
      '400',
      '408',
      '431',
      '500',
      '503',
    ]
    assert.deepEqual(
      expected.filter((status) => !statuses.includes(status)),
      [],
      name,
    )
  }
  assert.deepEqual(
    Object.values(texts)
      .flat()
      .filter((text) => !found.has(text)),
    [],
  )
})

test('access requirements are documented', async () => {
  const { document } = await shared()
  const at = (path: string, method: string) => {
    const operation = document.paths[path]?.[method]
    return [operation?.['x-access'], operation?.security]
  }
  assert.deepEqual(at('/api/auth/login', 'post'), ['anyone', []])
  assert.deepEqual(at('/me', 'get'), ['any signed-in user', [{ bearer: [] }]])
  assert.deepEqual(at('/api/admin/users', 'get'), ['users with the permission users.view', [{ bearer: [] }]])
  assert.deepEqual(at('/api/posts/{id}', 'get'), [
    'users whom the policy posts allows to view; an API key with a list of permissions also needs posts.read, unless anyone may',
    [{}, { bearer: [] }],
  ])
  assert.deepEqual(at('/api/auth/sessions', 'get'), ['any signed-in user', [{ bearer: [] }]])
  assert.deepEqual(at('/api/posts/{id}', 'put'), [
    'users whom the policy posts allows to update; an API key with a list of permissions also needs posts.update',
    [{ bearer: [] }],
  ])
})

function asRequest(type: string, example: unknown): RequestOptions {
  if (type === 'application/json') return { json: example }
  if (typeof example === 'string') return { body: example, headers: { 'content-type': type } }
  const fields = Object.entries(example as Record<string, unknown>)
  return { form: Object.fromEntries(fields.map(([name, value]) => [name, String(value)])) }
}

test('every example of a request passes, as JSON and as a form', async () => {
  const api = await writable()
  let { access } = await api.signInAs('admin')
  for (const { name, method, path, operation } of api.operations) {
    for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
      assert.deepEqual(problemsOf(api.document, media.schema, media.example), [], name)
      // Some examples end the session of their user, or what the user may do.
      if ((await api.get('/api/admin/users?per_page=1', access)).status !== 200)
        access = (await api.signInAs('admin')).access
      const response = await api.request(method, path.replace('{id}', '1'), {
        token: operation.security.length > 0 ? access : undefined,
        ...asRequest(type, media.example),
      })
      const isWrongCode = path === '/api/auth/2fa/enable' && response.body.details.code[0] === 'Invalid two-factor code'
      assert.ok(
        isWrongCode || ![400, 413, 415, 422, 500].includes(response.status),
        `${name} ${type} ${response.status}`,
      )
      assert.deepEqual(responseProblems(api.document, { method, path }, response), [], name)
    }
  }
})

test('responses match the documentation, field by field', async () => {
  const api = await writable()
  const fits = (method: string, path: string, response: ClientResponse, status: number) => {
    assert.equal(response.status, status, `${method} ${path} ${JSON.stringify(response.body)}`)
    assert.deepEqual(responseProblems(api.document, { method, path }, response), [], `${method} ${path}`)
  }
  const email = 'grace@example.com'
  fits('POST', '/api/auth/register', await api.post('/api/auth/register', { email, password }), 201)
  fits('POST', '/api/auth/register', await api.post('/api/auth/register', { email, password }), 409)
  fits('POST', '/api/auth/register', await api.post('/api/auth/register', { email: 'x' }), 422)
  fits('POST', '/api/auth/login', await logIn(api, email), 200)
  fits('POST', '/api/auth/login', await logIn(api, email, 'wrong'), 401)
  for (let i = 0; i < 3; i++) await logIn(api, email, 'wrong')
  fits('POST', '/api/auth/login', await logIn(api, email, 'wrong'), 423)
  fits('GET', '/.well-known/jwks.json', await api.get('/.well-known/jwks.json'), 200)
  for (const path of ['/health/live', '/health/ready', '/metrics']) fits('GET', path, await api.get(path), 200)

  const forgot = '/api/auth/password/forgot'
  fits('POST', forgot, await api.post(forgot, { email }), 202)

  const user = await signIn(api)
  const admin = await api.signInAs('admin')
  for (const path of ['/me', '/api/auth/me', '/api/auth/sessions', '/api/auth/2fa']) {
    fits('GET', path, await api.get(path, user.access), 200)
    fits('GET', path, await api.get(path), 401)
  }
  for (const path of ['/api/admin/users', '/api/admin/audit']) {
    fits('GET', path, await api.get(path, admin.access), 200)
    fits('GET', path, await api.get(path, user.access), 403)
  }
  fits('POST', '/api/auth/2fa/setup', await api.post('/api/auth/2fa/setup', { password }, user.access), 200)
  const made = await api.post('/api/posts', { title: 'Hello' }, user.access)
  fits('POST', '/api/posts', made, 201)
  const described = api.document.paths['/api/posts']?.post?.responses['201']
  assert.ok(described && 'headers' in described && described.headers?.location && made.headers.has('location'))
  fits('GET', '/api/posts/{id}', await api.get(`/api/posts/${made.body.data.id}`), 200)
  fits('GET', '/api/posts/{id}', await api.get('/api/posts/999999'), 404)
  fits('PUT', '/api/posts/{id}', await api.put(`/api/posts/${made.body.data.id}`, { title: 'x' }, user.access), 403)
  fits('DELETE', '/api/posts/{id}', await api.delete(`/api/posts/${made.body.data.id}`, admin.access), 204)
})

test('product events are announced too', async () => {
  const api = await writable()
  const { access } = await signIn(api)
  const [all, one] = ['/api/v2/products', '/api/v2/products/{id}']
  const fits = (method: string, path: string, response: ClientResponse, status: number) => {
    assert.equal(response.status, status, `${method} ${path} ${JSON.stringify(response.body)}`)
    assert.deepEqual(responseProblems(api.document, { method, path }, response), [], `${method} ${path}`)
  }
  const lamp = { name: 'Desk Lamp', description: 'Bright', price: 5 }
  const made = await api.post(all, lamp, access)
  const path = `${all}/${made.body.data.id}`
  fits('POST', all, made, 201)
  fits('POST', all, await api.post(all, {}, access), 422)
  fits('POST', all, await api.post(all, lamp), 401)
  for (const query of ['', '?q=lamp', '?category=general']) fits('GET', all, await api.get(all + query), 200)
  fits('GET', one, await api.get(path), 200)
  fits('GET', one, await api.get(`${all}/999999`), 404)
  fits('PUT', one, await api.put(path, { price: 6 }, access), 200)
  const headers = { 'if-match': '"other"' }
  fits('PUT', one, await api.request('PUT', path, { headers, json: { price: 7 }, token: access }), 412)
  fits('DELETE', one, await api.request('DELETE', path, { headers, token: access }), 412)
  fits('DELETE', one, await api.delete(path, access), 204)
})

test('responses about two-factor, sessions and administration are not cached either', async (t) => {
  const api = await startDescribedApi(t)
  const fits = async (
    method: 'POST' | 'PUT' | 'DELETE',
    path: string,
    status: number,
    options: RequestOptions,
    id = '',
  ) => {
    const response = await api.request(method, path.replace('{id}', id), options)
    assert.equal(response.status, status, `${method} ${path} ${JSON.stringify(response.body)}`)
    assert.deepEqual(responseProblems(api.document, { method, path }, response), [], `${method} ${path}`)
    return response
  }
  const user = await signIn(api)
  const token = user.access
  const secret = (await fits('POST', '/api/auth/2fa/setup', 200, { token, json: { password } })).body.secret
  const enabled = await fits('POST', '/api/auth/2fa/enable', 200, { token, json: { code: totp(api, secret) } })
  await fits('POST', '/api/auth/2fa/setup', 409, { token, json: { password } })
  const codes: string[] = enabled.body.recovery_codes
  const challenge_token = (await fits('POST', '/api/auth/login', 200, { json: { email: user.email, password } })).body
    .challenge_token
  await fits('POST', '/api/auth/2fa/verify', 401, { json: { challenge_token, code: 'wrong' } })
  const pair = (await fits('POST', '/api/auth/2fa/verify', 200, { json: { challenge_token, code: codes[0] } })).body
  const { body: renewed } = await fits('POST', '/api/auth/2fa/recovery-codes', 200, {
    token,
    json: { password, code: codes[1] },
  })
  await fits('POST', '/api/auth/2fa/disable', 200, { token, json: { password, code: renewed.recovery_codes[0] } })

  await fits('POST', '/api/auth/refresh', 200, { json: { refresh_token: pair.refresh_token } })
  await fits('POST', '/api/auth/refresh', 401, { json: { refresh_token: pair.refresh_token } })
  const other = await again(api, user)
  const sessions = (await api.get('/api/auth/sessions', token)).body.data as { id: string; current: boolean }[]
  const { id = '' } = sessions.find(({ current }) => !current) ?? {}
  await fits('DELETE', '/api/auth/sessions/{id}', 204, { token }, id)
  await fits('DELETE', '/api/auth/sessions/{id}', 404, { token }, id)
  await fits('POST', '/api/auth/logout', 401, { token: other.access })
  const change = { current_password: password, new_password: 'Better-Horse-2' }
  await fits('POST', '/api/auth/password', 200, { token, json: change })

  const admin = await api.signInAs('admin')
  const asAdmin = { token: admin.access }
  const [userId, adminId] = [String(user.id), String(admin.id)]
  const roles = '/api/admin/users/{id}/roles'
  await fits('PUT', roles, 200, { ...asAdmin, json: { roles: ['editor'] } }, userId)
  await fits('PUT', roles, 422, { ...asAdmin, json: { roles: ['typist'] } }, userId)
  await fits('PUT', roles, 409, { ...asAdmin, json: { roles: [] } }, adminId)
  for (const name of ['lock', '2fa', 'sessions'])
    await fits('DELETE', `/api/admin/users/{id}/${name}`, 204, asAdmin, userId)
  await fits('POST', '/api/auth/logout', 200, { ...asAdmin, json: {} })
})

test('the rules of a body are documented as configured, and no internal keyword leaks', async () => {
  const { document } = await shared()
  assert.ok(!/"x-(check|decimals|not-blank|or-empty)/.test(JSON.stringify(document)))
  const { RegisterBody: body } = document.components.schemas
  assert.deepEqual(body?.required, ['email', 'password'])
  assert.deepEqual(body?.properties?.password, {
    type: 'string',
    minLength: 8,
    maxLength: 72,
    pattern: '\\S',
    description:
      'Must be at least 8 characters. Must contain an upper-case letter. Must contain a number. Must be at most 72 bytes.',
  })
})

test('routes of extensions are documented with what is known, or left out if they ask for it', async (t) => {
  const api = await startDescribedApi(t, {
    async extend(app) {
      const body = Type.Object({ text: Type.String({ 'x-not-blank': true }) })
      app.put('/notes/:id', { config: { access: { role: 'editor' } }, schema: { body } }, async () => ({}))
      app.get('/secret', { config: { access: 'public', docs: false } }, async () => ({}))
      await app.register(
        async (inner) => {
          inner.requireForAll('authenticated')
          inner.get('/', { config: { access: 'public' } }, async () => ({}))
        },
        { prefix: '/both' },
      )
      // A schema that only its plugin's validator understands.
      await app.register(async (inner) => {
        inner.setValidatorCompiler(() => () => true)
        inner.post('/odd', { config: { access: 'public' }, schema: { body: { type: 'string' } } }, async () => ({}))
      })
    },
  })
  const { valid, errors } = await new Validator().validate({ ...structuredClone(api.document) })
  assert.ok(valid, JSON.stringify(errors))
  const note = api.document.paths['/notes/{id}']?.put
  assert.deepEqual(
    [note?.summary, note?.tags, note?.['x-access']],
    ['PUT /notes/{id}', ['Other'], 'users with the role editor'],
  )
  assert.deepEqual(note?.parameters, [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }])
  assert.deepEqual(
    Object.keys(note?.responses ?? {}).filter((status) => !['408', '431', '500', '503'].includes(status)),
    ['400', '401', '403', '404', '413', '415', '422', '2XX'],
  )
  assert.equal(api.document.paths['/secret'], undefined)
  assert.deepEqual(
    Object.keys(api.document.paths).filter((path) => path.startsWith('/both')),
    ['/both'],
  )
  assert.deepEqual(api.document.paths['/both']?.get?.security, [{ bearer: [] }])
  assert.ok(api.document.paths['/odd']?.post?.requestBody)
})
