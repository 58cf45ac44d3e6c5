/** The session cookie of the console: its attributes, how it ends, and what it cannot be used for. */
import assert from 'node:assert/strict'
import { createHmac, hash } from 'node:crypto'
import { test } from 'node:test'
import { share, startApi } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsoleBrowser, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { again, claimsOf, isSignedIn, many, password, register } from '../support/people.ts'
import { type ApiWithRoles, shareWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

const account = '/console/account'
const day = 86_400

const idOf = (browser: ConsoleBrowser, name = 'latchkey_session') => browser.cookies.get(name)?.value
const isIn = async (browser: ConsoleBrowser) => (await browser.open(account)).status === 200

onAnyEngine('a session of the console', (engine) => {
  const { shared, withRoles } = shareWithRoles({ engine })

  test('is a cookie that scripts cannot read and other sites cannot send with a form', async () => {
    const api = await shared()
    const { email } = await register(api)
    const browser = openConsole(api)
    await browser.open('/console/sign-in')
    assert.deepEqual(browser.cookies.get('latchkey_form')?.attributes, ['Path=/', 'HttpOnly', 'SameSite=Lax'])
    await browser.submit('/console/sign-in', { email, password })
    const left = [...browser.cookies.keys()]
    assert.deepEqual(left, ['latchkey_session', 'latchkey_device'], 'the form cookie has done its work')
    assert.deepEqual(browser.cookies.get('latchkey_session')?.attributes, [
      `Max-Age=${90 * day}`,
      'Path=/',
      'HttpOnly',
      'SameSite=Lax',
    ])
  })

  test('is bound to this host if the service uses https', async (t) => {
    const api = await startApi(t, { engine, env: { PUBLIC_URL: 'https://latchkey.example.com' } })
    const { email } = await register(api)
    const browser = openConsole(api)
    await browser.open('/console/sign-in')
    assert.deepEqual([...browser.cookies.keys()], ['__Host-latchkey_form'])
    await browser.submit('/console/sign-in', { email, password })
    const { attributes = [] } = browser.cookies.get('__Host-latchkey_session') ?? {}
    assert.deepEqual(attributes.slice(1), ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax'])
    assert.ok(await isIn(browser))
    const plain = openConsole(api)
    plain.cookies.set('latchkey_session', browser.cookies.get('__Host-latchkey_session') ?? assert.fail())
    assert.equal(await isIn(plain), false, 'another name is no name')
  })

  test('is stored as a hash, and belongs to a token family like any other', async () => {
    const api = await withRoles()
    const user = await register(api)
    const browser = openConsole(api)
    await browser.signIn(user.email)
    const id = idOf(browser) ?? ''
    assert.ok(Buffer.from(id, 'base64url').length === 32)
    const [row, ...more] = await api.db.all<{ id_hash: string; family: string }>(
      'SELECT w.* FROM web_sessions w JOIN sessions s ON s.id = w.family WHERE s.user_id = $1',
      [user.id],
    )
    assert.equal(more.length, 0)
    assert.equal(row?.id_hash, hash('sha256', id, 'base64url'))
    for (const table of ['web_sessions', 'sessions', 'audit']) {
      assert.ok(!JSON.stringify(await api.db.all(`SELECT * FROM ${table}`)).includes(id), table)
    }
    assert.ok(!api.log.join('').includes(id))
    const { access } = await again(api, user)
    const { body } = await api.get('/api/auth/sessions', access)
    assert.ok(body.data.some((session: { id: string }) => session.id === row?.family))
  })

  test('gets a new id at sign-in, even if one was planted before', async () => {
    const api = await shared()
    const { email } = await register(api)
    const browser = openConsole(api)
    browser.cookies.set('latchkey_session', { value: 'planted', attributes: [] })
    await browser.signIn(email)
    const first = idOf(browser)
    assert.notEqual(first, 'planted')
    const other = openConsole(api)
    await other.signIn(email)
    assert.notEqual(idOf(other), first)
    const planted = openConsole(api)
    planted.cookies.set('latchkey_session', { value: 'planted', attributes: [] })
    assert.equal(await isIn(planted), false)
  })

  test('ends with its family when the same browser signs in again', async () => {
    const api = await shared()
    const { email } = await register(api)
    const browser = openConsole(api)
    await browser.signIn(email)
    const page = await browser.open(account)
    const { _token = '' } = page.hidden('/console/sign-out')
    const old = openConsole(api)
    for (const [name, cookie] of browser.cookies) old.cookies.set(name, cookie)
    assert.equal((await browser.post('/console/sign-in', { email, password, _token })).status, 303)
    assert.deepEqual([await isIn(browser), await isIn(old)], [true, false])
  })

  test('allows parallel page loads: that is not token reuse', async () => {
    const api = await shared()
    const { email } = await register(api)
    const browser = openConsole(api)
    await browser.signIn(email)
    const id = idOf(browser)
    for (const seconds of [0, 301, day]) {
      api.clock.advance(seconds)
      assert.deepEqual(new Set(await many(amount({ full: 30, otherwise: 10 }), () => isIn(browser))), new Set([true]))
    }
    assert.equal(idOf(browser), id)
  })

  test('ends with its family at sign-out, together with the access token of the family', async () => {
    const api = await withRoles()
    const user = await register(api)
    const browser = openConsole(api)
    await browser.signIn(user.email)
    const kept = browser.cookies.get('latchkey_session') ?? assert.fail()
    const { access: any } = await again(api, user)
    const [row] = await api.db.all<{ pair: string }>(
      'SELECT s.pair FROM sessions s JOIN web_sessions w ON w.family = s.id WHERE s.user_id = $1',
      [user.id],
    )
    const { family, accessId } = JSON.parse(row?.pair ?? '')
    const access = sign({ ...claimsOf(any), family, jti: accessId })
    assert.ok(await isSignedIn(api, access), 'the token that nobody was given')

    await browser.open(account)
    const out = await browser.submit('/console/sign-out')
    assert.deepEqual([out.location, out.notice], ['/console/sign-in', 'signed-out'])
    assert.deepEqual([...browser.cookies.keys()], ['latchkey_device', 'latchkey_notice'])
    browser.cookies.set('latchkey_session', kept)
    assert.equal(await isIn(browser), false)
    assert.equal(await isSignedIn(api, access), false)
    assert.ok(await isSignedIn(api, any), 'other sessions go on')
  })

  const ends: [what: string, end: (api: ApiAndUsers) => Promise<{ status: number }>][] = [
    [
      'a changed password',
      ({ api, user }) =>
        api.post('/api/auth/password', { current_password: password, new_password: 'Another-Horse-2' }, user.access),
    ],
    ['"all devices"', ({ api, user }) => api.post('/api/auth/logout', { all_devices: true }, user.access)],
    [
      "an administrator's sign-out",
      ({ api, user, admin }) => api.delete(`/api/admin/users/${user.id}/sessions`, admin.access),
    ],
    [
      'its end by another device',
      async ({ api, user }) => {
        const { body } = await api.get('/api/auth/sessions', user.access)
        const { id } = body.data.find((each: { user_agent: string }) => each.user_agent === 'Test/1.0')
        return api.delete(`/api/auth/sessions/${id}`, user.access)
      },
    ],
  ]
  for (const [what, end] of ends) {
    test(`is ended by ${what}`, async () => {
      const api = await withRoles()
      const [user, admin] = [await api.signInAs(), await api.signInAs('admin')]
      const browser = openConsole(api)
      await browser.signIn(user.email)
      assert.ok(await isIn(browser))
      assert.ok([200, 204].includes((await end({ api, user, admin })).status))
      assert.equal(await isIn(browser), false)
    })
  }

  test('lasts while it is used, seven days unused, and ninety at most', async () => {
    const api = await shared()
    const { email } = await register(api)
    const browser = openConsole(api)
    await browser.signIn(email)
    for (let i = 0; i < 14; i++) {
      api.clock.advance(6 * day)
      assert.ok(await isIn(browser), `after ${(i + 1) * 6} days`)
    }
    api.clock.advance(6 * day + 60)
    assert.equal(await isIn(browser), false, 'after ninety days')

    await browser.signIn(email)
    api.clock.advance(7 * day - 60)
    assert.ok(await isIn(browser))
    api.clock.advance(7 * day + 1)
    assert.equal(await isIn(browser), false, 'unused for seven days')
  })

  test('that has expired leads to the sign-in form, and from there to the requested page', async () => {
    const api = await shared()
    const { email } = await register(api)
    const browser = openConsole(api)
    await browser.signIn(email)
    const page = await browser.open(account)
    api.clock.advance(8 * day)
    const wanted = '/console/account?y=1&x=%C3%A4'
    const refused = await browser.open(wanted)
    assert.equal(refused.location, `/console/sign-in?next=${encodeURIComponent(wanted)}`)
    await browser.follow(refused)
    const back = await browser.submit('/console/sign-in', { email, password })
    assert.equal(back.location, wanted)

    api.clock.advance(8 * day)
    const posted = await browser.post(`${account}/profile`, { ...page.hidden(`${account}/profile`), name: 'Eve' })
    assert.deepEqual([posted.location, posted.notice], ['/console/sign-in?next=%2Fconsole%2Faccount', 'session-over'])
    assert.match((await browser.follow(posted)).text, /You are signed out, so nothing was changed\./)
    const again = await browser.submit('/console/sign-in', { email, password })
    assert.equal(again.location, account, 'a form is not sent again by itself')
    assert.ok(!(await browser.follow(again)).text.includes('Eve'))
    const device = await openConsole(api).post(`${account}/devices/x1/sign-out`)
    assert.equal(device.location, posted.location, 'the nearest page above')
    const product = await openConsole(api).post('/console/products/7/delete')
    assert.deepEqual(
      [product.location, product.notice],
      ['/console/sign-in?next=%2Fconsole%2Fproducts%2F7', 'session-over'],
    )
  })

  test('is not offered to signed-in users', async () => {
    const api = await shared()
    const { email } = await register(api)
    const browser = openConsole(api)
    await browser.signIn(email)
    assert.equal((await browser.open('/console/register')).location, '/console')
  })

  test('leads to the requested page, whatever its URL contains, also by way of registration', async () => {
    const api = await shared()
    const browser = openConsole(api)
    const wanted = '/console/users?q=neil+(ada)@example.com,:;!*~$&page=2'
    const form = await browser.follow(await browser.open(wanted))
    const way = `/console/register?next=${encodeURIComponent(wanted)}`
    assert.ok(form.html.includes(`href="${way}"`))
    await browser.open(way)
    const person = { email: 'new@example.com', password }
    assert.match((await browser.submit('/console/register', { ...person, password: 'weak' })).text, /another look/)
    await browser.follow(await browser.submit('/console/register', person))
    assert.equal((await browser.submit('/console/sign-in', person)).location, wanted)
  })

  test('never begins with a trip to another site', async () => {
    const api = await shared()
    const { email } = await register(api)
    const evil = [
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      'https://evil.example',
      'https:evil.example',
      'javascript:alert(1)',
      '/console@evil.example',
      '/console.evil.example',
      '/console\\..\\evil',
      '/console/\t/evil.example',
      '/console/\n/evil.example',
      ' //evil.example',
      '/docs',
      '/consolex',
      '/console/../docs',
      '/console/%2e%2E/docs',
      '/console/.%2e//evil.example',
      '/console#//evil.example',
      `/console/${'%2e'.repeat(2000)}`,
      `/console?${'x'.repeat(4000)}`,
      '',
    ]
    for (const next of evil) {
      const browser = openConsole(api)
      const form = await browser.open(`/console/sign-in?next=${encodeURIComponent(next)}`)
      assert.equal(form.hidden('/console/sign-in').next, '/console', next)
      assert.equal((await browser.submit('/console/sign-in', { email, password, next })).location, '/console', next)
    }
    const browser = openConsole(api)
    await browser.open('/console/sign-in?next=/console/users&next=//evil.example')
    assert.equal((await browser.submit('/console/sign-in', { email, password })).location, '/console')
  })

  test('is ignored by the API and by GraphQL', async () => {
    const api = await withRoles()
    const admin = await api.signInAs('admin')
    const browser = openConsole(api)
    await browser.signIn(admin.email)
    const headers = { cookie: `latchkey_session=${idOf(browser)}` }
    for (const path of ['/me', '/api/auth/me', '/api/auth/sessions', '/api/admin/users', '/api/admin/audit']) {
      assert.equal((await api.request('GET', path, { headers })).status, 401, path)
    }
    const product = { name: 'Lamp', description: 'Bright', price: 1 }
    assert.equal((await api.request('POST', '/api/v2/products', { headers, json: product })).status, 401)
    const asked = await api.request('POST', '/graphql', { headers, json: { query: '{ me { id } }' } })
    assert.deepEqual(asked.body, { data: { me: null } })
  })
})

/** What services say at their start. Of several threads, the lines may come later. */
const beginnings = new Map<string, () => Promise<string[]>>()

function logOf(env: Record<string, string>): () => Promise<string[]> {
  const key = JSON.stringify(env)
  const known = beginnings.get(key) ?? share(async (owner) => (await startApi(owner, { env, threads: 1 })).log)
  beginnings.set(key, known)
  return known
}

const addresses: [env: Record<string, string>, warnings: number][] = [
  [{ NODE_ENV: 'production' }, 1],
  [{ NODE_ENV: 'production', PUBLIC_URL: 'http://latchkey.example.com' }, 1],
  [{ NODE_ENV: 'production', PUBLIC_URL: 'https://latchkey.example.com' }, 0],
  [{ NODE_ENV: 'development' }, 0],
]
for (const [env, warnings] of addresses) {
  const said = logOf(env)
  test(`a session that is not bound to https is logged in production only: ${Object.values(env)}`, async () => {
    const log = await said()
    assert.equal(log.filter((line) => line.includes('server.public_url is not https')).length, warnings)
  })
}

const [production, development] = [logOf({ NODE_ENV: 'production' }), logOf({ NODE_ENV: 'development' })]
test('production says at its start that every signed-in user may change products, if anybody can register', async (t) => {
  const writers = createConfig(t, { products: 'products { write_permission = "products.write" }' })
  const closed = { NODE_ENV: 'production', REGISTRATION: 'closed' }
  for (const [log, warnings] of [
    [await production(), 1],
    [(await startApi(t, { env: { NODE_ENV: 'production' }, threads: 1, config: writers })).log, 0],
    [(await startApi(t, { env: closed, threads: 1 })).log, 0],
    [await development(), 0],
  ] as const) {
    assert.equal(log.filter((line) => line.includes('set products.write_permission')).length, warnings)
  }
})

interface ApiAndUsers {
  api: ApiWithRoles
  user: { id: number; access: string }
  admin: { access: string }
}

/** As the service would: the tests know its secret. */
function sign(claims: object): string {
  const [header, body] = [{ alg: 'HS256', typ: 'at+jwt' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signature = createHmac('sha256', 'a secret that only the tests know and use')
    .update(`${header}.${body}`)
    .digest('base64url')
  return `${header}.${body}.${signature}`
}
