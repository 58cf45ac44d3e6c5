import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { onEachEngine } from '../support/databases.ts'
import { challengeOf, enableTwoFactor, logIn, password, register, signIn, totp } from '../support/people.ts'

interface Row {
  at: string
  event: string
  outcome: string
  user_id: number | null
  address: string
  user_agent: string
}

onEachEngine('the audit trail', (engine) => {
  test('tells what happened, to whom, from where and how it ended, and never a secret', async (t) => {
    let read = async (): Promise<Row[]> => []
    const api = await startApi(t, {
      engine,
      extend: (_app, { db }) => {
        read = () => db.all<Row>('SELECT at, event, outcome, user_id, address, user_agent FROM audit ORDER BY id')
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
    const told = rows.map(({ event, outcome, user_id }) => `${event} ${outcome} ${user_id}`)
    assert.deepEqual(told, [
      `register success ${user.id}`,
      `login success ${user.id}`,
      `login failure ${user.id}`,
      `refresh success ${user.id}`,
      `2fa_setup success ${user.id}`,
      `2fa_enable success ${user.id}`,
      `login second_factor_required ${user.id}`,
      `2fa_verify failure ${user.id}`,
      `2fa_verify success ${user.id}`,
      `refresh reuse ${user.id}`,
      ...Array.from({ length: 4 }, () => 'login failure null'),
      'login locked null',
      'lock success null',
      'login locked null',
      `register success ${other.id}`,
      `login success ${other.id}`,
      `logout success ${other.id}`,
      `register success ${third.id}`,
      `login success ${third.id}`,
      `password_change success ${third.id}`,
    ])
    for (const row of rows) {
      assert.equal(row.address, '127.0.0.1')
      assert.equal(row.user_agent, 'node')
      assert.match(row.at, /^\d{4}-\d\d-\d\dT.*Z$/)
    }
    const text = JSON.stringify(rows)
    for (const hidden of [password, user.refresh, challenge, secret]) assert.ok(!text.includes(hidden))
  })

  test('a User-Agent with line breaks or of any length forges nothing', async (t) => {
    let read = async (): Promise<Row[]> => []
    const api = await startApi(t, {
      engine,
      extend: (_app, { db }) => {
        read = () => db.all<Row>('SELECT user_agent FROM audit ORDER BY id')
      },
    })
    await register(api, 'a@example.com')
    const agent = `Evil\u0085\u009B31m<script>${'x'.repeat(500)}`
    await api.request('POST', '/api/auth/login', {
      json: { email: 'a@example.com', password },
      headers: { 'user-agent': agent, 'x-forwarded-for': '203.0.113.9' },
    })
    const stored = (await read()).at(-1)?.user_agent ?? ''
    assert.equal([...stored].length, 255)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    assert.doesNotMatch(stored, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  })
})
