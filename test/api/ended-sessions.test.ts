/** Why was I signed out? Every session that has ended tells its owner, for thirty days. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expiringTables } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { startCleanup } from '../../src/platform/database/cleanup.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { type Api, shareService } from '../support/api.ts'
import { onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { again, claimsOf, logIn, many, password, type SignedIn, signIn } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const day = 86_400
const hour = 3600
const next = 'Another-Pass-2'

interface Ended {
  id: string
  reason: string
  ended_at: string
}

async function listOf(api: Api, access: string): Promise<{ data: { id: string }[]; ended: Ended[] }> {
  const { status, body } = await api.get('/api/auth/sessions', access)
  assert.equal(status, 200)
  return body
}

const familyOf = ({ access }: Pick<SignedIn, 'access'>) => String(claimsOf(access).family)

type End = (api: ApiWithRoles, user: SignedIn, other: SignedIn) => Promise<unknown>

const ends: Record<string, [what: string, end: End][]> = {
  reuse: [
    [
      'a refresh token that is presented twice',
      async (api, { refresh: refresh_token }) => {
        for (const status of [200, 401])
          assert.equal((await api.post('/api/auth/refresh', { refresh_token })).status, status)
      },
    ],
  ],
  logout: [
    [
      'its end from the list of another device',
      async (api, user, other) => {
        assert.equal((await api.delete(`/api/auth/sessions/${familyOf(user)}`, other.access)).status, 204)
      },
    ],
    [
      'a logout after which no refresh comes',
      async (api, user) => {
        assert.equal((await api.post('/api/auth/logout', {}, user.access)).status, 200)
        const { data } = await listOf(api, (await again(api, user)).access)
        assert.ok(
          data.some(({ id }) => id === familyOf(user)),
          'a refresh would still be served',
        )
        api.clock.advance(7 * day)
      },
    ],
  ],
  everywhere: [
    [
      'a logout of all devices',
      async (api, _user, other) => {
        assert.equal((await api.post('/api/auth/logout', { all_devices: true }, other.access)).status, 200)
      },
    ],
  ],
  password_change: [
    [
      'a changed password',
      async (api, _user, other) => {
        const change = { current_password: password, new_password: next }
        assert.equal((await api.post('/api/auth/password', change, other.access)).status, 200)
      },
    ],
    [
      'a reset by mail',
      async (api, { email }) => {
        await api.post('/api/auth/password/forgot', { email })
        const find = () => /Reset token: ([\w-]+)/.exec(api.log.join(''))?.[1] ?? assert.fail('no mail')
        const token = await eventually(find)
        const reset = { token, password: next }
        assert.equal((await api.post('/api/auth/password/reset', reset)).status, 200)
      },
    ],
  ],
  administrator: [
    [
      'an administrator',
      async (api, { id }) => {
        const admin = await api.signInAs('admin')
        assert.equal((await api.delete(`/api/admin/users/${id}/sessions`, admin.access)).status, 204)
      },
    ],
  ],
  expiry: [
    ['its time', async (api) => api.clock.advance(7 * day + 1)],
    [
      'its time, where a refresh came after the logout',
      async (api, user) => {
        assert.equal((await api.post('/api/auth/logout', {}, user.access)).status, 200)
        const refreshed = await api.post('/api/auth/refresh', { refresh_token: user.refresh })
        assert.equal(refreshed.status, 200)
        api.clock.advance(7 * day + 1)
      },
    ],
  ],
}

onRacingEngine('a session that was ended', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  for (const [reason, ways] of Object.entries(ends)) {
    for (const [what, end] of ways) {
      test(`by ${what} is listed with the reason ${reason}, to its owner alone`, async () => {
        const api = await shared()
        const user = await signIn(api)
        const other = await again(api, user)
        const id = familyOf(user)
        assert.deepEqual((await listOf(api, other.access)).ended, [])
        const ask = () => api.post('/api/auth/sessions/ended', { refresh_token: user.refresh })
        assert.deepEqual([(await ask()).status, (await ask()).body], [200, { data: null }])
        const from = api.clock.now()
        await end(api, user, other)
        const login = await logIn(api, user.email, reason === 'password_change' ? next : password)
        const { data, ended } = await listOf(api, login.body.access_token)
        const found = ended.find((each) => each.id === id) ?? assert.fail(`not among ${ended.length}`)
        assert.deepEqual(Object.keys(found), [
          'id',
          'address',
          'user_agent',
          'created_at',
          'last_used_at',
          'ended_at',
          'reason',
        ])
        assert.equal(found.reason, reason)
        assert.deepEqual(
          (await ask()).body,
          { data: { reason, ended_at: found.ended_at } },
          'and whoever has its token',
        )
        const endedAt = Date.parse(found.ended_at)
        assert.ok(endedAt >= from - 1000 && endedAt <= api.clock.now(), found.ended_at)
        assert.ok(!data.some((each) => each.id === id))
        assert.equal((await api.delete(`/api/auth/sessions/${id}`, login.body.access_token)).status, 404)
        const stranger = await signIn(api)
        assert.deepEqual((await listOf(api, stranger.access)).ended, [])
      })
    }
  }

  test('tells its reason by a genuine refresh token alone, and asking is no reuse', async () => {
    const api = await shared()
    const user = await signIn(api)
    const ask = (refresh_token: string) => api.post('/api/auth/sessions/ended', { refresh_token })
    for (const token of ['', user.access, `${user.refresh}x`]) {
      const { status, body } = await ask(token)
      assert.deepEqual([status, body], [401, { error: 'Invalid refresh token' }])
    }
    const { body: next } = await api.post('/api/auth/refresh', { refresh_token: user.refresh })
    const { status, headers, body } = await ask(user.refresh)
    assert.deepEqual([status, headers.get('cache-control'), body], [200, 'no-store', { data: null }])
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: next.refresh_token })).status, 200)
  })

  test('keeps its first reason, whatever ends others later', async () => {
    const api = await shared()
    const user = await signIn(api)
    const [stolen, idle] = [await again(api, user), await again(api, user)]
    await ends.reuse?.[0]?.[1](api, stolen, user)
    api.clock.advance(7 * day + 1)
    const last = await again(api, user)
    assert.equal((await api.post('/api/auth/logout', { all_devices: true }, last.access)).status, 200)
    const { ended } = await listOf(api, (await again(api, user)).access)
    const reasons = Object.fromEntries(ended.map(({ id, reason }) => [id, reason]))
    assert.deepEqual(
      [reasons[familyOf(stolen)], reasons[familyOf(idle)], reasons[familyOf(last)]],
      ['reuse', 'expiry', 'everywhere'],
    )
    const late = await api.post('/api/auth/refresh', { refresh_token: stolen.refresh })
    assert.equal(late.status, 401, 'and a token of it is no use')
  })

  test('comes before those that ended earlier, a hundred at most, for thirty days', async () => {
    const api = await shared()
    const user = await signIn(api)
    const first = await again(api, user)
    await api.delete(`/api/auth/sessions/${familyOf(first)}`, user.access)
    await many(105, () => again(api, user))
    api.clock.advance(60)
    assert.equal((await api.post('/api/auth/logout', { all_devices: true }, user.access)).status, 200)
    api.clock.advance(2 * hour)
    const [last, present] = [await again(api, user), await again(api, user)]
    await api.delete(`/api/auth/sessions/${familyOf(last)}`, present.access)
    const { data, ended } = await listOf(api, present.access)
    assert.deepEqual([data.length, ended.length, ended[0]?.id], [1, 100, familyOf(last)])
    const times = ended.map(({ ended_at }) => ended_at)
    assert.deepEqual(times, times.toSorted().toReversed())
    assert.ok(!ended.some(({ id }) => id === familyOf(first)), 'the oldest is left out')

    api.clock.advance(30 * day - hour)
    const later = await again(api, user)
    assert.deepEqual(
      (await listOf(api, later.access)).ended.map(({ id }) => id).sort(),
      [familyOf(last), familyOf(present)].sort(),
      'what ended just under 30 days ago, and what expired meanwhile',
    )
    api.clock.advance(2 * hour)
    assert.deepEqual(
      (await listOf(api, (await again(api, user)).access)).ended.map(({ id }) => id),
      [familyOf(present)],
    )
  })

  test('is cleaned up thirty days after its end, with its cookie', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const user = await signIn(api)
    const { clock, db } = api
    const log = createLogger({ level: 'silent', isTerminal: false })
    const tables = expiringTables(ownFeatures, { audit: { retentionDays: 0 } })
    const cleanup = startCleanup({ db, clock, log, tables })
    t.after(() => cleanup.close())
    const countRows = async () => {
      await cleanup.run()
      return (await db.get<{ n: number }>('SELECT count(*) AS n FROM sessions'))?.n
    }
    const other = await again(api, user)
    assert.equal((await api.delete(`/api/auth/sessions/${familyOf(user)}`, other.access)).status, 204)
    clock.advance(30 * day - hour)
    assert.equal(await countRows(), 2, 'one was ended, one has expired')
    clock.advance(2 * hour)
    assert.equal(await countRows(), 1)
    clock.advance(7 * day)
    assert.equal(await countRows(), 0)
  })
})
