import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { type Owner, share, shareApi, startApi } from '../support/api.ts'
import { createDatabaseUrl, onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { runLoaded } from '../support/loaded-program.ts'
import { migrationsBefore, openOptions } from '../support/migrations.ts'
import { claimsOf, logIn, many, password, register, signIn } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'
import { testInFull } from '../support/test-in-full.ts'
import { amount } from '../support/tiers.ts'

/**
 * A database of a version without normalized emails, with several batches of users, of whom the last is the victim, and
 * those with `emails`, of which the first can be normalized.
 */
async function prepareFormer(t: Owner, engine: Dialect, emails: readonly string[] = []) {
  const count = amount({ full: 1000, otherwise: 450 })
  const url = await createDatabaseUrl(t, engine)
  const { db } = await openDatabase(openOptions({ url, migrations: migrationsBefore(t, '0007') }))
  const others = Array.from({ length: count }, (_, i) => `ｕser${i}@example.com`)
  const inserted = await db.write<{ id: number; email: string }>(
    ...[...others, 'ｖictim@example.com', ...emails].map((email) => ({
      sql: `INSERT INTO users (email, password_hash, created_at, updated_at) VALUES ($1, '', $2, $2) RETURNING id, email`,
      params: [email, '2026-01-01T00:00:00.000Z'],
    })),
  )
  await db.close()
  return {
    url,
    changed: others.length + 1 + Math.min(emails.length, 1),
    more: inserted.slice(others.length + 1).flat(),
  }
}

onRacingEngine('registration', (engine) => {
  const shared = shareApi({ engine })

  test('refuses a taken email in any case, and accepts one of twenty in parallel', async () => {
    const api = await shared()
    const responses = await many(20, (i) =>
      api.post('/api/auth/register', { email: i % 2 ? 'one@example.com' : 'ONE@example.com ', password }),
    )
    assert.equal(responses.filter(({ status }) => status === 201).length, 1)
    const refused = responses.filter(({ status }) => status === 409)
    assert.equal(refused.length, 19)
    assert.equal(refused[0]?.body.error, 'Email already registered')
    assert.ok(Array.isArray(refused[0]?.body.details.email))
  })

  test('emails are compared in NFKC: spellings that look alike are one user', async () => {
    const api = await shared()
    const response = await api.post('/api/auth/register', { email: 'ＡＤＡ@example.com', password })
    assert.deepEqual([response.status, response.body.data.email], [201, 'ada@example.com'])
    for (const email of ['ada@example.com', '𝒶da@example.com']) {
      assert.equal((await api.post('/api/auth/register', { email, password })).status, 409)
      assert.equal((await logIn(api, email)).status, 200)
    }
  })

  testInFull('existing users are converted to the current form of emails and names', async (t) => {
    const first = await startApiWithRoles(t, { engine })
    const [ada, taken, admin] = [await register(first), await register(first), await first.signInAs('admin')]
    await register(first, 'taken@example.com')
    const former = (id: number, email: string) => ({
      sql: 'UPDATE users SET email = $1, name = $2, name_key = NULL WHERE id = $3',
      params: [email, 'ÄDELE', id],
    })
    await first.db.write(former(ada.id, 'ａda@example.com'), former(taken.id, 'ｔaken@example.com'))
    await first.app.close()

    const api = await startApi(t, { engine, env: { DATABASE_URL: first.databaseUrl } })
    await eventually(async () => {
      const found = await api.get(`/api/admin/users?q=${encodeURIComponent('ädele')}`, admin.access)
      assert.deepEqual(
        found.body.data.map(({ email }: { email: string }) => email),
        ['ada@example.com', 'ｔaken@example.com'],
      )
    })
    assert.equal((await logIn(api, 'ａda@example.com')).status, 200)
    assert.ok(api.log.some((line) => line.includes('"level":"warn"') && line.includes(`"userId":${taken.id}`)))
  })

  const upgraded = share(async (owner) => {
    const colliding = ['ｔwin@example.com', 'tｗin@example.com', `${'ﷺ'.repeat(40)}@example.com`]
    const former = await prepareFormer(owner, engine, colliding)
    return { former, api: await startApiWithRoles(owner, { engine, env: { DATABASE_URL: former.url } }) }
  })

  test('of an email is refused from the first request on if an existing user has it in another spelling', async () => {
    const { former, api } = await upgraded()
    const given = { email: 'victim@example.com', password, name: 'Mallory' }
    assert.equal((await api.post('/api/auth/register', given)).status, 409)
    const told = api.log.find((line) => line.includes('emails of users were brought to'))
    assert.ok(told?.includes(`"users":${former.changed},`))
  })

  test('keeps existing users whose emails would collide or become too long, and logs them', async () => {
    const { former, api } = await upgraded()
    const [first, second, long] = former.more
    const rows = await api.db.all<{ id: number; email: string }>(
      'SELECT id, email FROM users WHERE id >= $1 ORDER BY id',
      [first?.id ?? 0],
    )
    assert.deepEqual(rows, [{ id: first?.id, email: 'twin@example.com' }, second, long])
    const warnings = () => api.log.filter((line) => line.includes('"level":"warn"') && line.includes('"userId"'))
    await eventually(async () => {
      assert.deepEqual(await api.db.all('SELECT id FROM users WHERE name_key IS NULL'), [])
    })
    assert.equal(warnings().length, 2, warnings().join(''))
    assert.ok(warnings()[0]?.includes(`"userId":${second?.id},"otherUserId":${first?.id}`))
    assert.ok(warnings()[1]?.includes(`user ${long?.id} has an email that is too long`))
  })
})

onAnyEngine('registration', (engine) => {
  const shared = shareApi({ engine })

  test('returns 201 with id, email and message, the email trimmed and in lower case', async () => {
    const api = await shared()
    const response = await api.post('/api/auth/register', { email: '  Grace@Example.COM ', password, name: 'Grace' })
    assert.equal(response.status, 201)
    const { id } = response.body.data
    assert.ok(Number.isInteger(id) && id > 0)
    assert.deepEqual(response.body, { data: { id, email: 'grace@example.com' }, message: 'Registration successful' })
    assert.equal((await logIn(api, ' GRACE@example.com')).status, 200)
  })

  test('accepts a form, and needs no name', async () => {
    const api = await shared()
    const response = await api.request('POST', '/api/auth/register', { form: { email: 'a@example.com', password } })
    assert.equal(response.status, 201)
  })

  test('reports all violated rules at once', async () => {
    const api = await shared()
    const cases: [object, Record<string, string[]>][] = [
      [{}, { email: ['Must not be blank'], password: ['Must not be blank'] }],
      [
        { email: '  ', password: null },
        { email: ['Must not be blank'], password: ['Must not be blank'] },
      ],
      [
        { email: 'nobody', password: 'abc' },
        {
          email: ['Must be a valid email address'],
          password: ['Must be at least 8 characters', 'Must contain an upper-case letter', 'Must contain a number'],
        },
      ],
      [
        { email: 'a@example.com', password: `Aa1${'x'.repeat(70)}`, name: 'x'.repeat(256) },
        { password: ['Must be at most 72 bytes'], name: ['Must be at most 255 characters'] },
      ],
      [
        { email: 1, password: ['x'], name: {} },
        { email: ['Must be a string'], password: ['Must be a string'], name: ['Must be a string'] },
      ],
    ]
    for (const [body, details] of cases) {
      const response = await api.post('/api/auth/register', body)
      assert.equal(response.status, 422)
      assert.deepEqual(response.body, { error: 'Validation failed', details })
    }
  })

  for (const email of [
    'a@b',
    'a b@example.com',
    '@example.com',
    'a@@example.com',
    'a@exa_mple.com',
    'a@example..com',
    '.a@example.com',
    `${'x'.repeat(65)}@example.com`,
  ]) {
    test(`refuses ${email.slice(0, 30)} as an email`, async () => {
      const api = await shared()
      const response = await api.post('/api/auth/register', { email, password })
      assert.deepEqual(response.body.details, { email: ['Must be a valid email address'] })
    })
  }

  test('an email may have 255 code points, however many bytes they take', async () => {
    const api = await shared()
    const email = `${'😀'.repeat(64)}@${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(58)}.com`
    const tooLong = await api.post('/api/auth/register', { email: email.replace('.com', '.info'), password })
    assert.deepEqual(tooLong.body.details, { email: ['Must be at most 255 characters'] })
    assert.equal((await api.post('/api/auth/register', { email, password })).status, 201)
    assert.equal((await logIn(api, email)).status, 200)
  })

  test('an email with an invisible character is refused at registration, and unknown at login', async () => {
    const api = await shared()
    await register(api, 'eva@example.com')
    for (const character of [
      '\u00ad',
      '\u034f',
      '\u115f',
      '\u17b4',
      '\u200b',
      '\u3164',
      '\ufe0f',
      '\uffa0',
      '\u2800',
    ]) {
      const email = `e${character}va@example.com`
      const response = await api.post('/api/auth/register', { email, password })
      assert.deepEqual(
        [response.status, response.body.details],
        [422, { email: ['Must be a valid email address'] }],
        JSON.stringify(character),
      )
      const login = await logIn(api, email)
      assert.deepEqual([login.status, login.body], [401, { error: 'Invalid credentials' }])
      const forgot = await api.post('/api/auth/password/forgot', { email })
      const known = await api.post('/api/auth/password/forgot', { email: 'eva@example.com' })
      assert.deepEqual([forgot.status, forgot.body], [202, known.body])
    }
  })

  test('from a command is refused in the same way', async (t) => {
    const { url } = await prepareFormer(t, engine)
    const args = ['user:create', '--email', 'victim@example.com']
    const { code, stderr } = await runLoaded(args, { env: { DATABASE_URL: url }, input: password })
    assert.deepEqual([code, stderr], [1, 'latchkey: email: Email already registered\n'])
  })

  test('never shows the password hash', async () => {
    const api = await shared()
    const user = await signIn(api)
    const me = await api.get('/me', user.access)
    assert.equal(me.status, 200)
    assert.deepEqual(me.body, { id: user.id, email: user.email, name: 'Ada', roles: [] })
    assert.deepEqual((await api.get('/api/auth/me', user.access)).body, me.body)
    assert.ok(!api.log.join('').includes('$2b$'))
  })

  test('is rate limited for each address, with Retry-After, and a forged X-Forwarded-For changes nothing', async (t) => {
    const api = await startApi(t, { engine, env: { RATE_LIMIT_REGISTER: '3/60' } })
    for (let i = 0; i < 3; i++) await register(api, `u${i}@example.com`)
    const response = await api.request('POST', '/api/auth/register', {
      json: { email: 'u4@example.com', password },
      headers: { 'x-forwarded-for': '203.0.113.7' },
    })
    assert.equal(response.status, 429)
    assert.deepEqual(response.body, { error: 'Too many attempts' })
    assert.ok(Number(response.headers.get('retry-after')) > 0)
  })

  test('answers 403 where it is closed, whatever the body holds, and the sign-in page does not offer it', async (t) => {
    const api = await startApi(t, { engine, env: { REGISTRATION: 'closed' } })
    for (const body of [{ email: 'a@example.com', password }, { email: 'a@example.com', password: 'weak' }, {}]) {
      const response = await api.post('/api/auth/register', body)
      assert.deepEqual([response.status, response.body], [403, { error: 'Registration is closed' }])
    }
    const page = await api.get('/console/register')
    assert.equal(page.status, 403)
    assert.match(page.body, /Registration is closed/)
    assert.doesNotMatch((await api.get('/console/sign-in')).body, /\/console\/register/)
  })

  test('assigns the configured roles', async (t) => {
    const api = await startApi(t, { engine, env: { DEFAULT_ROLES: 'viewer' } })
    const user = await signIn(api)
    assert.deepEqual((await api.get('/me', user.access)).body.roles, ['viewer'])
    assert.equal(claimsOf(user.access).roles, undefined)
  })
})
