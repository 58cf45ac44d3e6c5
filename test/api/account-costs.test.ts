/** What users do costs the same however many users there are, and however often they have signed in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onAnyEngine } from '../support/databases.ts'
import { logInFrom, newDevice } from '../support/devices.ts'
import { makeKey } from '../support/keys.ts'
import { again, enableTwoFactor, isSignedIn, logIn, password, register, signIn, totp } from '../support/people.ts'
import { findTableScans, recordStatements } from '../support/query-plans.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { openTransport } from '../support/sockets.ts'

const tables = [
  'users',
  'sessions',
  'web_sessions',
  'devices',
  'lock_notices',
  'login_attempts',
  'mailed_tokens',
  'api_keys',
  'passkeys',
  'recovery_codes',
  'two_factor',
  'used_once',
  'revoked_tokens',
]

onAnyEngine('the cost of accounts', (engine) => {
  test('no request of a user or an administrator reads a whole table', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: { RATE_LIMIT_VERIFY: '1000/60' } })
    const statements = recordStatements(api.db)
    await actAsStranger(api)
    await actAsUser(api)
    await actAsAdministrator(api)
    assert.ok(statements().length > 60, `only ${statements().length} statements`)
    assert.deepEqual(await findTableScans(api, statements(), tables), [])
  })

  test('a user has at most a thousand sessions, live and ended: a login ends the one unused for longest', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const first = await signIn(api)
    api.clock.advance(1)
    const second = await again(api, first)
    const stranger = await signIn(api)
    api.clock.advance(1)
    await signInOften(api, first.id, 998)
    assert.equal(await countSessions(api, first.id), 1000)
    const { closed } = await openTransport(t, api.wsUrl, { authorization: `Bearer ${first.access}` })
    const third = await again(api, first)
    assert.deepEqual(await Promise.all([first, second, third, stranger].map(({ access }) => isSignedIn(api, access))), [
      false,
      true,
      true,
      true,
    ])
    assert.equal((await closed).code, 4403)
    assert.equal(await countSessions(api, first.id), 1000)
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: first.refresh })).status, 401)

    api.clock.advance(2000)
    await signInOften(api, first.id, 150)
    const last = await again(api, first)
    assert.equal(await countSessions(api, first.id), 1051, 'what an earlier version has left goes a part at a time')
    await again(api, first)
    assert.equal(await countSessions(api, first.id), 1000)
    assert.ok(await isSignedIn(api, last.access))
  })
})

async function actAsStranger(api: ApiWithRoles): Promise<void> {
  assert.equal((await api.get('/console/setup?token=x')).status, 410)
  assert.equal((await logIn(api, 'nobody@example.com')).status, 401)
  assert.equal((await api.post('/api/auth/refresh', { refresh_token: 'x' })).status, 401)
  assert.equal((await api.post('/api/auth/password/reset', { token: 'x', password })).status, 401)
  assert.equal((await api.post('/api/auth/email/verify', { token: 'x' })).status, 401)
}

async function actAsUser(api: ApiWithRoles): Promise<void> {
  const { email } = await register(api)
  const device = await newDevice(api, email)
  const { body } = await logInFrom(api, email, { token: device.token })
  const { access_token: access, refresh_token: refresh } = body
  assert.equal((await api.post('/api/auth/refresh', { refresh_token: refresh })).status, 200)
  assert.equal((await api.post('/api/auth/password/forgot', { email })).status, 202)
  assert.equal((await api.post('/api/auth/email/verification', {}, access)).status, 202)
  assert.equal((await api.post('/api/auth/email', { email: `new-${email}`, password }, access)).status, 202)
  assert.equal((await api.put('/api/auth/me', { name: 'Ada' }, access)).status, 200)
  const { key, id } = await makeKey(api, access)
  assert.equal((await api.get('/me', key)).status, 200)
  assert.equal((await api.get('/api/auth/keys', access)).status, 200)
  assert.equal((await api.delete(`/api/auth/keys/${id}`, access)).status, 204)
  assert.equal((await api.get('/api/auth/passkeys', access)).status, 200)
  const { data: sessions } = (await api.get('/api/auth/sessions', access)).body
  const other = sessions.find(({ current }: { current: boolean }) => !current)
  assert.equal((await api.delete(`/api/auth/sessions/${other.id}`, access)).status, 204)
  const change = { current_password: password, new_password: 'Another-Horse-2' }
  assert.equal((await api.post('/api/auth/password', change, access)).status, 200)

  const careful = await signIn(api)
  const { secret } = await enableTwoFactor(api, careful)
  api.clock.advance(60)
  const { challenge_token } = (await logIn(api, careful.email)).body
  const verified = await api.post('/api/auth/2fa/verify', { challenge_token, code: totp(api, secret) })
  assert.equal(verified.status, 200)
  assert.equal((await api.post('/api/auth/logout', { all_devices: true }, verified.body.access_token)).status, 200)

  const leaving = await signIn(api)
  const left = await api.request('DELETE', '/api/auth/me', { json: { password }, token: leaving.access })
  assert.equal(left.status, 204)
}

async function actAsAdministrator(api: ApiWithRoles): Promise<void> {
  const { access, id: own } = await api.signInAs('admin')
  const users = '/api/admin/users'
  const user = await signIn(api)
  const at = `${users}/${user.id}`
  assert.equal((await api.get(users, access)).status, 200)
  assert.equal((await api.get(`${at}/keys`, access)).status, 200)
  assert.equal((await api.put(`${at}/roles`, { roles: ['editor'] }, access)).status, 200)
  assert.equal((await api.put(at, { name: 'x', email: `moved-${user.email}`, disabled: true }, access)).status, 200)
  assert.equal((await api.put(at, { disabled: false }, access)).status, 200)
  for (const what of ['lock', '2fa', 'sessions']) assert.equal((await api.delete(`${at}/${what}`, access)).status, 204)
  const invited = await api.post(users, { email: 'invited@example.com' }, access)
  assert.equal(invited.status, 201)
  const token = new URL(invited.body.invite_url, api.url).searchParams.get('token') ?? ''
  assert.equal((await api.post('/api/auth/password/reset', { token, password })).status, 200)
  assert.equal((await api.delete(at, access)).status, 204)
  assert.equal((await api.delete(`${users}/${own}`, access)).status, 403)
}

/** Sessions that expire after the others. */
async function signInOften(api: ApiWithRoles, userId: number, count: number): Promise<void> {
  const expiresAt = api.clock.nowSeconds() + 604_800
  const params = Array.from({ length: count }, (_, i) => [`${userId}-${i}-${Math.random()}`, userId, expiresAt + i])
  const sql = `INSERT INTO sessions (id, user_id, live_refresh_id, pair, address, user_agent, created_at, last_used_at, ends_at, expires_at)
               VALUES ($1, $2, 'x', '{}', '', '', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', $3, $3)`
  await api.db.write(...params.map((each) => ({ sql, params: each })))
}

async function countSessions(api: ApiWithRoles, userId: number): Promise<number> {
  const row = await api.db.get<{ n: number }>('SELECT count(*) AS n FROM sessions WHERE user_id = $1', [userId])
  return row?.n ?? 0
}
