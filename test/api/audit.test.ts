import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService, startApi } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { challengeOf, enableTwoFactor, logIn, many, password, register, signIn, totp } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

interface Row {
  at: string
  event: string
  outcome: string
  user_id: number | null
  actor_id: number | null
  changes: string | null
  address: string
  user_agent: string
}

onAnyEngine('the audit trail', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('a User-Agent with line breaks or of any length cannot forge log entries', async () => {
    const api = await shared()
    const { id } = await register(api, 'a@example.com')
    const agent = `Evil\u0085\u009B31m<script>${'x'.repeat(500)}`
    await api.request('POST', '/api/auth/login', {
      json: { email: 'a@example.com', password },
      headers: { 'user-agent': agent, 'x-forwarded-for': '203.0.113.9' },
    })
    const rows = await api.db.all<Row>('SELECT user_agent FROM audit WHERE user_id = $1 ORDER BY id', [id])
    const stored = rows.at(-1)?.user_agent ?? ''
    assert.equal([...stored].length, 255)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    assert.doesNotMatch(stored, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  })

  test('attempts under a lock name the account, on every endpoint that checks a password or a code', async () => {
    const api = await shared()
    const user = await signIn(api)
    for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
    assert.equal((await logIn(api, user.email)).status, 423)
    for (let i = 0; i < 4; i++) await api.post('/api/auth/2fa/setup', { password: 'wrong' }, user.access)
    assert.equal((await api.post('/api/auth/2fa/setup', { password: 'wrong' }, user.access)).status, 423)
    assert.equal((await api.post('/api/auth/2fa/setup', { password }, user.access)).status, 423)
    const change = { current_password: password, new_password: 'Another-Pass-2' }
    assert.equal((await api.post('/api/auth/password', change, user.access)).status, 423)
    const rows = await api.db.all<Row>(
      "SELECT * FROM audit WHERE user_id = $1 AND (outcome = 'locked' OR event = 'lock') ORDER BY id",
      [user.id],
    )
    assert.deepEqual(
      rows.map(({ event, outcome, user_id, actor_id }) => [event, outcome, user_id, actor_id]),
      [
        ['login', 'locked', user.id, null],
        ['lock', 'success', user.id, null],
        ['login', 'locked', user.id, null],
        ['2fa_setup', 'locked', user.id, user.id],
        ['2fa_setup', 'locked', user.id, user.id],
        ['password_change', 'locked', user.id, user.id],
      ],
    )
  })

  test('attempts with a code during a lock-out name the account too', async () => {
    const api = await shared()
    const user = await signIn(api)
    const { secret } = await enableTwoFactor(api, user)
    api.clock.advance(60)
    const challenge_token = await challengeOf(api, user.email)
    for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
    const given = { password, challenge_token, code: totp(api, secret) }
    for (let i = 0; i < 5; i++) await api.post('/api/auth/2fa/disable', { ...given, password: 'wrong' }, user.access)
    await api.db.write({ sql: "DELETE FROM audit WHERE event = '2fa_disable' AND user_id = $1", params: [user.id] })
    for (const path of ['verify', 'disable', 'recovery-codes']) {
      assert.equal((await api.post(`/api/auth/2fa/${path}`, given, user.access)).status, 423, path)
    }
    const rows = await api.db.all<Row>(
      "SELECT * FROM audit WHERE user_id = $1 AND outcome = 'locked' AND event <> 'login' ORDER BY id",
      [user.id],
    )
    const told = rows.map(({ event, user_id, actor_id }) => [event, user_id, actor_id])
    assert.deepEqual(told, [
      ['2fa_verify', user.id, null],
      ['2fa_disable', user.id, user.id],
      ['2fa_recovery_codes', user.id, user.id],
    ])
  })

  test('records actor, user, and old and new values', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await api.signInAs('viewer')
    await api.put(`/api/admin/users/${user.id}/roles`, { roles: ['editor', 'viewer'] }, admin.access)
    for (const what of ['lock', '2fa', 'sessions'])
      await api.delete(`/api/admin/users/${user.id}/${what}`, admin.access)
    const { data } = (await api.get('/api/admin/audit?per_page=4', admin.access)).body
    const changes = { roles: { from: ['viewer'], to: ['editor', 'viewer'] } }
    assert.deepEqual(
      data.map((row: { event: string; user_id: number; actor_id: number; outcome: string; changes: object }) => [
        row.event,
        row.user_id,
        row.actor_id,
        row.outcome,
        row.changes,
      ]),
      [
        ['sessions_ended', user.id, admin.id, 'success', null],
        ['2fa_reset', user.id, admin.id, 'success', null],
        ['unlock', user.id, admin.id, 'success', null],
        ['roles_changed', user.id, admin.id, 'success', changes],
      ],
    )
  })

  test('cannot be filled by repeated refused attempts', async () => {
    const api = await shared()
    const nobody = await api.signInAs()
    const responses = await many(100, () => api.delete('/api/admin/users/1/lock', nobody.access))
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([403]))
    const row = await api.db.get<{ n: number }>(
      "SELECT count(*) AS n FROM audit WHERE outcome = 'refused' AND actor_id = $1",
      [nobody.id],
    )
    assert.equal(row?.n, 60)
  })
})

onAnyEngine('the audit trail', (engine) => {
  test('shows emails and names, also inside changes, only to users who may see users', async (t) => {
    const config = createConfig(t, {
      auth: `auth { roles {
        admin { permissions = ["*"] }
        auditor { permissions = ["audit.view"] }
        reader { permissions = ["audit.view", "users.view"] }
      } }`,
    })
    const api = await startApiWithRoles(t, { engine, config })
    const [admin, auditor, reader] = [
      await api.signInAs('admin'),
      await api.signInAs('auditor'),
      await api.signInAs('reader'),
    ]
    const user = await register(api, 'secret-before@example.com')
    const path = `/api/admin/users/${user.id}`
    const edit = { name: 'Secret Name', email: 'secret-after@example.com' }
    assert.equal((await api.put(path, edit, admin.access)).status, 200)
    assert.equal((await api.put(`${path}/roles`, { roles: ['auditor'] }, admin.access)).status, 200)
    assert.equal((await api.delete(path, admin.access)).status, 204)
    const unknownField = JSON.stringify({ invited: { from: null, to: 'secret-third@example.com' } })
    await api.db.write({ sql: 'UPDATE audit SET changes = $1 WHERE event = $2', params: [unknownField, 'register'] })

    const changesFor = async (token: string) => {
      const { data } = (await api.get('/api/admin/audit?per_page=100', token)).body
      const sorted = (await api.get('/api/admin/audit?sort=at&per_page=100', token)).body.data
      assert.deepEqual(sorted.toReversed(), data)
      return data.filter((entry: { user_id: number }) => entry.user_id === user.id)
    }
    const [deleted, roles, changed] = await changesFor(reader.access)
    assert.deepEqual(deleted.changes, { email: { from: edit.email, to: null } })
    assert.equal(changed.changes.name.to, edit.name)
    const masked = await changesFor(auditor.access)
    assert.deepEqual(
      masked.map(({ changes }: { changes: unknown }) => changes),
      [null, roles.changes, null, null],
    )

    for (const [who, isShown] of [
      [auditor, false],
      [reader, true],
    ] as const) {
      const browser = openConsole(api)
      await browser.signIn(who.email)
      for (const page of [
        '/console/audit',
        '/console/audit?sort=at',
        '/console/audit/export',
        '/console/audit/export?sort=at',
      ]) {
        const { html, status } = await browser.open(page)
        assert.equal(status, 200)
        assert.equal(/secret-|Secret Name/.test(html), isShown, `${page} for ${isShown ? 'reader' : 'auditor'}`)
      }
    }
  })

  test('records event, user, address and outcome, and never a secret', async (t) => {
    let read = async (): Promise<Row[]> => []
    const api = await startApi(t, {
      engine,
      extend: (_app, { db }) => {
        read = () => db.all<Row>('SELECT * FROM audit ORDER BY id')
      },
    })
    const user = await signIn(api)
    await logIn(api, user.email, 'wrong')
    const next = (await api.post('/api/auth/refresh', { refresh_token: user.refresh })).body
    const { secret } = await enableTwoFactor(api, { ...user, access: next.access_token })
    api.clock.advance(60)
    const challenge = await challengeOf(api, user.email)
    await api.post('/api/auth/2fa/verify', { challenge_token: challenge, code: '000000' })
    await api.post('/api/auth/2fa/verify', { challenge_token: challenge, code: totp(api, secret) })
    await api.post('/api/auth/refresh', { refresh_token: user.refresh })
    for (let i = 0; i < 6; i++) await logIn(api, 'nobody@example.com', 'wrong')
    const other = await signIn(api)
    await api.post('/api/auth/logout', {}, other.access)
    const third = await signIn(api)
    await api.post('/api/auth/password', { current_password: password, new_password: 'Another-Pass-2' }, third.access)

    const rows = await read()
    const told = rows.map(({ event, outcome, user_id, actor_id }) => `${event} ${outcome} ${user_id} by ${actor_id}`)
    const own = (id: number) => `${id} by ${id}`
    assert.deepEqual(told, [
      `register success ${own(user.id)}`,
      `login success ${own(user.id)}`,
      `login failure ${user.id} by null`,
      `refresh success ${own(user.id)}`,
      `2fa_setup success ${own(user.id)}`,
      `2fa_enable success ${own(user.id)}`,
      `login second_factor_required ${user.id} by null`,
      `2fa_verify failure ${user.id} by null`,
      `2fa_verify success ${own(user.id)}`,
      `refresh reuse ${user.id} by null`,
      ...Array.from({ length: 4 }, () => 'login failure null by null'),
      'login locked null by null',
      'lock success null by null',
      'login locked null by null',
      `register success ${own(other.id)}`,
      `login success ${own(other.id)}`,
      `logout success ${own(other.id)}`,
      `register success ${own(third.id)}`,
      `login success ${own(third.id)}`,
      `password_change success ${own(third.id)}`,
    ])
    for (const row of rows) {
      assert.equal(row.address, '127.0.0.1')
      assert.equal(row.user_agent, 'node')
      assert.match(row.at, /^\d{4}-\d\d-\d\dT.*Z$/)
    }
    const text = JSON.stringify(rows)
    for (const hidden of [password, user.refresh, challenge, secret]) assert.ok(!text.includes(hidden))
  })

  test('records refused actions of administrators, and attempts by other users', async (t) => {
    const config = createConfig(t, {
      auth: `auth { roles {
        admin { permissions = ["*"] }
        manager { permissions = ["users.*"] }
      } }`,
    })
    const api = await startApiWithRoles(t, { engine, config })
    const admin = await api.signInAs('admin')
    const manager = await api.signInAs('manager')
    const nobody = await api.signInAs()
    const giveRoles = (user: { id: number }, roles: string[], by: { access: string }) =>
      api.put(`/api/admin/users/${user.id}/roles`, { roles }, by.access)
    assert.equal((await giveRoles(admin, [], admin)).status, 409)
    assert.equal((await giveRoles(nobody, ['admin'], manager)).status, 403)
    assert.equal((await giveRoles(nobody, ['admin'], nobody)).status, 403)
    for (const what of ['lock', '2fa', 'sessions']) {
      assert.equal((await api.delete(`/api/admin/users/${admin.id}/${what}`, manager.access)).status, 403)
      assert.equal((await api.delete(`/api/admin/users/${admin.id}/${what}`, nobody.access)).status, 403)
    }
    const rows = await api.db.all<Row>("SELECT * FROM audit WHERE outcome = 'refused' ORDER BY id")
    const roles = (from: string[], to: string[]) => JSON.stringify({ roles: { from, to } })
    assert.deepEqual(
      rows.map(({ event, user_id, actor_id, changes }) => [event, user_id, actor_id, changes]),
      [
        ['roles_changed', admin.id, admin.id, roles(['admin'], [])],
        ['roles_changed', nobody.id, manager.id, roles([], ['admin'])],
        // Refused before the body was read.
        ['roles_changed', nobody.id, nobody.id, null],
        ...['unlock', '2fa_reset', 'sessions_ended'].flatMap((event) => [
          [event, admin.id, manager.id, null],
          [event, admin.id, nobody.id, null],
        ]),
      ],
    )
  })
})

test('metrics count logins, failures, locks, reuse, registrations, resets and second factors', async (t) => {
  const api = await startApi(t)
  const figure = async (series: string) => {
    const line = (await api.get('/metrics')).body.split('\n').find((each: string) => each.startsWith(`${series} `))
    assert.ok(line, `there is no ${series}`)
    return Number(line.split(' ')[1])
  }
  const all = {
    'auth_logins_total{outcome="success"}': 1,
    'auth_logins_total{outcome="failure"}': 4,
    'auth_logins_total{outcome="locked"}': 2,
    'auth_logins_total{outcome="second_factor_required"}': 1,
    'auth_two_factor_verifications_total{outcome="success"}': 1,
    'auth_two_factor_verifications_total{outcome="failure"}': 1,
    'auth_two_factor_verifications_total{outcome="locked"}': 0,
    'auth_failures_total{event="login"}': 4,
    'auth_failures_total{event="2fa_verify"}': 1,
    'auth_failures_total{event="password_change"}': 1,
    auth_locks_total: 1,
    auth_refresh_reuse_total: 1,
    auth_registrations_total: 1,
    auth_password_resets_total: 1,
  }
  for (const series of Object.keys(all)) assert.equal(await figure(series), 0, series)
  const user = await signIn(api)
  await api.post('/api/auth/refresh', { refresh_token: user.refresh })
  const change = { current_password: 'wrong', new_password: 'Another-Pass-2' }
  await api.post('/api/auth/password', change, user.access)
  const { secret } = await enableTwoFactor(api, user)
  // By the second attempt the family is revoked.
  for (let i = 0; i < 2; i++) await api.post('/api/auth/refresh', { refresh_token: user.refresh })
  api.clock.advance(60)
  const challenge_token = await challengeOf(api, user.email)
  await api.post('/api/auth/2fa/verify', { challenge_token, code: '000000' })
  await api.post('/api/auth/2fa/verify', { challenge_token, code: totp(api, secret) })
  for (let i = 0; i < 6; i++) await logIn(api, 'nobody@example.com', 'wrong')
  await api.post('/api/auth/password/forgot', { email: user.email })
  const token = await eventually(() => {
    const found = /Reset token: ([\w-]+)/.exec(api.log.join(''))?.[1]
    assert.ok(found)
    return found
  })
  assert.equal((await api.post('/api/auth/password/reset', { token, password: 'Another-Pass-2' })).status, 200)
  for (const [series, expected] of Object.entries(all)) assert.equal(await figure(series), expected, series)
})
