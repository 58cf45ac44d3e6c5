/** Sessions of @latchkey/client: shared by tabs, kept through lost answers, and with a reason when they end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createLatchkey,
  type EndReason,
  type Latchkey,
  LatchkeyError,
  type LatchkeyStorage,
  memoryStorage,
  SessionEndedError,
  type SessionStatus,
} from '../../packages/client/src/index.ts'
import { share, unlimitedRates } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { everyThird, lossyProxy } from '../support/lossy-proxy.ts'
import { again, enableTwoFactor, logIn, password, register, signIn, totp } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const accessSeconds = 1800
const refreshPath = '/api/auth/refresh'
const started = share((owner) => startApiWithRoles(owner, { env: unlimitedRates }))

interface User {
  id: number
  email: string
}

interface Setting {
  api: ApiWithRoles
  user: User
  storage: LatchkeyStorage
  tab: Latchkey
}

let people = 0
const newEmail = () => `client${++people}@example.com`

/** A new user who is signed in by a client. */
async function setUp(url?: string): Promise<Setting> {
  const api = await started()
  const user = await register(api, newEmail())
  const storage = memoryStorage()
  const tab = createLatchkey({ url: url ?? api.url, storage })
  assert.deepEqual(await tab.login({ email: user.email, password }), { kind: 'signed_in' })
  return { api, user, storage, tab }
}

async function countRotations({ db }: ApiWithRoles, { id }: User): Promise<number> {
  const sql = `SELECT count(*) AS n FROM audit WHERE user_id = $1 AND event = 'refresh' AND outcome = 'success'`
  return Number((await db.get<{ n: number }>(sql, [id]))?.n)
}

const refreshTokenOf = async (storage: LatchkeyStorage) => (await storage.read()).session?.refreshToken ?? ''

/** As an application does where several answers in a row are lost. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof LatchkeyError && error.isTemporary)) throw error
    }
  }
}

async function endOf(tab: Latchkey): Promise<EndReason | undefined> {
  const status = await tab.session()
  return status.kind === 'signed_out' ? status.end?.reason : undefined
}

test('whoever is signed in is known, and nobody else', async () => {
  const { api, user, tab } = await setUp()
  assert.equal((await tab.me()).email, user.email)
  assert.deepEqual(await tab.session(), { kind: 'signed_in', userId: user.id })
  const stranger = createLatchkey({ url: `${api.url}/` })
  assert.deepEqual(await stranger.session(), { kind: 'signed_out' })
  await assert.rejects(stranger.me(), { name: 'LatchkeyError', status: 401, message: 'Missing access token' })
  await assert.rejects(stranger.login({ email: user.email, password: 'wrong' }), { message: 'Invalid credentials' })
})

test('with two-factor, a login is completed by a code', async () => {
  const api = await started()
  const user = await signIn(api, newEmail())
  const { secret } = await enableTwoFactor(api, user)
  api.clock.advance(60)
  const tab = createLatchkey({ url: api.url })
  const outcome = await tab.login({ email: user.email, password })
  assert.ok(outcome.kind === 'two_factor')
  assert.equal((await tab.session()).kind, 'signed_out')
  const { challenge } = structuredClone(outcome)
  await assert.rejects(tab.verifyTwoFactor({ challenge, code: '000000' }), { message: 'Invalid two-factor code' })
  await tab.verifyTwoFactor({ challenge, code: totp(api, secret) })
  assert.equal((await tab.me()).id, user.id)
})

test('a lock that strangers set does not keep out a client that has signed in before, with two-factor too', async () => {
  const { api, user, storage, tab } = await setUp()
  const { accessToken = '' } = (await storage.read()).session ?? {}
  const { secret } = await enableTwoFactor(api, { ...user, access: accessToken, refresh: '' })
  await tab.logout()
  for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
  const stranger = createLatchkey({ url: api.url })
  await assert.rejects(stranger.login({ email: user.email, password }), (error: LatchkeyError) => {
    assert.equal(error.status, 423)
    assert.ok((error.lockedUntil ?? 0) > api.clock.nowSeconds())
    return true
  })
  api.clock.advance(60)
  const outcome = await tab.login({ email: ` ${user.email.toUpperCase()}`, password })
  assert.ok(outcome.kind === 'two_factor')
  await tab.verifyTwoFactor({ challenge: outcome.challenge, code: totp(api, secret) })
  assert.equal((await tab.session()).kind, 'signed_in')
})

test('a logout ends the session, for its refresh token too, in all tabs', async () => {
  const { api, user, storage, tab } = await setUp()
  const other = createLatchkey({ url: api.url, storage })
  const seen: SessionStatus[] = []
  const stop = other.onSession((status) => void seen.push(status))
  await eventually(() => assert.deepEqual(seen, [{ kind: 'signed_in', userId: user.id }]))
  const refresh_token = await refreshTokenOf(storage)
  await tab.logout()
  await eventually(() => assert.equal(seen.length, 2))
  assert.deepEqual([seen[1]?.kind, await endOf(other)], ['signed_out', 'signed_out'])
  stop()
  assert.equal((await api.post(refreshPath, { refresh_token })).status, 401)
  await tab.logout()
})

test('a logout everywhere ends the other sessions, and this device stays known', async () => {
  const { api, user, tab } = await setUp()
  const elsewhere = await again(api, user)
  await tab.logout({ everywhere: true })
  assert.equal((await api.get('/me', elsewhere.access)).status, 401)
  for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
  assert.deepEqual(await tab.login({ email: user.email, password }), { kind: 'signed_in' })
})

test('a logout without a connection signs out here, and says that the service does not know', async () => {
  const { api, storage } = await setUp()
  const tab = createLatchkey({ url: api.url, storage, fetch: () => Promise.reject(new TypeError('offline')) })
  await assert.rejects(tab.logout(), { name: 'LatchkeyError', status: 0 })
  assert.equal(await endOf(tab), 'signed_out')
})

test('twelve tabs refresh once for each expiry, with every third answer lost, and nobody is signed out', async (t) => {
  const api = await started()
  const proxy = await lossyProxy(t, { target: api.url, isLost: everyThird })
  const { user, storage } = await setUp()
  const tabs = Array.from({ length: 12 }, () => createLatchkey({ url: proxy.url, storage }))
  for (let expiry = 1; expiry <= 4; expiry++) {
    const before = await refreshTokenOf(storage)
    api.clock.advance(accessSeconds)
    const names = await Promise.all(tabs.flatMap((tab) => [insist(tab.me), insist(tab.me)]))
    assert.ok(names.every(({ id }) => id === user.id))
    assert.equal(await countRotations(api, user), expiry)
    assert.notEqual(await refreshTokenOf(storage), before)
  }
  assert.ok(proxy.lost(refreshPath) >= 2, 'answers to refreshes were lost')
  assert.ok(proxy.received(refreshPath).length < 4 * tabs.length, 'and not every tab sent one')
})

test('tabs refresh once where nothing keeps them apart', async () => {
  const { api, user, storage } = await setUp()
  const alone: LatchkeyStorage = { read: storage.read, update: storage.update, isPrivate: true }
  api.clock.advance(accessSeconds)
  const tabs = Array.from({ length: 12 }, () => createLatchkey({ url: api.url, storage: alone }))
  await Promise.all(tabs.map((tab) => tab.me()))
  assert.equal(await countRotations(api, user), 1)
})

test('a token is replaced before it expires, by the clock of the client', async (t) => {
  const api = await started()
  const proxy = await lossyProxy(t, { target: api.url, isLost: () => false })
  const { user, storage, tab } = await setUp(proxy.url)
  await storage.update((state) => ({ ...state, ...(state.session && { session: { ...state.session, staleAt: 0 } }) }))
  await Promise.all([tab.me(), tab.me()])
  assert.equal(await countRotations(api, user), 1)
  assert.equal(proxy.received('/me').length, 2, 'no request was refused')
})

test('what a tab began before it was closed, another one goes on with', async () => {
  const { api, user, storage } = await setUp()
  const keys: (string | null)[] = []
  /** The service gets the request, and the tab is gone before it gets the answer. */
  const closing = createLatchkey({
    url: api.url,
    storage,
    async fetch(...args) {
      const response = await fetch(...args)
      const [, options] = args
      const key = new Headers(options?.headers).get('idempotency-key')
      if (key === null) return response
      keys.push(key)
      return new Promise<Response>(() => {})
    },
  })
  api.clock.advance(accessSeconds)
  void closing.me()
  await eventually(() => assert.equal(keys.length, 1))
  assert.equal((await storage.read()).session?.refresh?.key, keys[0], 'the key was stored before')
  const next = createLatchkey({ url: api.url, storage })
  assert.equal((await next.me()).id, user.id)
  assert.equal(await countRotations(api, user), 1)
  assert.equal((await storage.read()).session?.refresh, undefined)
})

test('a refresh token that was stolen before the last refresh ends the session, and the client says so', async () => {
  const { api, user, storage, tab } = await setUp()
  const stolen = await refreshTokenOf(storage)
  api.clock.advance(accessSeconds)
  await tab.me()
  assert.equal(await countRotations(api, user), 1)
  assert.equal((await api.post(refreshPath, { refresh_token: stolen })).status, 401)
  await assert.rejects(tab.me(), (error: SessionEndedError) => {
    assert.ok(error instanceof SessionEndedError)
    assert.equal(error.end.reason, 'reuse')
    return true
  })
  assert.equal(await endOf(tab), 'reuse')
  await assert.rejects(tab.me(), { message: 'Missing access token' })
})

test('a refresh that was cut off and not repeated in time is told from theft', async () => {
  const { api, storage, tab } = await setUp()
  const refresh_token = await refreshTokenOf(storage)
  const key = 'a key of at least sixteen characters'
  await storage.update((state) => ({
    ...state,
    ...(state.session && { session: { ...state.session, refresh: { key, since: Date.now() - 120_000 } } }),
  }))
  const sent = await api.request('POST', refreshPath, { json: { refresh_token }, headers: { 'idempotency-key': key } })
  assert.equal(sent.status, 200)
  api.clock.advance(accessSeconds)
  await assert.rejects(tab.me(), SessionEndedError)
  assert.equal(await endOf(tab), 'interrupted')
})

const ends: [EndReason, (setting: Setting) => Promise<unknown>][] = [
  [
    'everywhere',
    async ({ api, user }) => api.post('/api/auth/logout', { all_devices: true }, (await again(api, user)).access),
  ],
  [
    'password_change',
    async ({ api, user }) => {
      const change = { current_password: password, new_password: 'Another-Pass-2' }
      return api.post('/api/auth/password', change, (await again(api, user)).access)
    },
  ],
  [
    'logout',
    async ({ api, user, storage }) => {
      const { family } = (await storage.read()).session ?? {}
      return api.delete(`/api/auth/sessions/${family}`, (await again(api, user)).access)
    },
  ],
  [
    'administrator',
    async ({ api, user }) => {
      const admin = await api.signInAs('admin')
      return api.put(`/api/admin/users/${user.id}`, { disabled: true }, admin.access)
    },
  ],
  ['expiry', async ({ api }) => api.clock.advance(8 * 86_400)],
  [
    'unknown',
    async ({ api, storage }) => {
      const { accessToken } = (await storage.read()).session ?? {}
      return api.request('DELETE', '/api/auth/me', { json: { password }, token: accessToken })
    },
  ],
]

for (const [reason, end] of ends) {
  test(`a session that ended by ${reason} says so`, async () => {
    const setting = await setUp()
    await end(setting)
    await assert.rejects(setting.tab.me(), (error: SessionEndedError) => {
      assert.deepEqual([error.name, error.end?.reason], ['SessionEndedError', reason])
      return true
    })
    assert.equal(await endOf(setting.tab), reason)
  })
}

test('nobody but the service ends a session: not a proxy that refuses, nor a service that is away', async () => {
  const { api, storage, user } = await setUp()
  api.clock.advance(accessSeconds)
  const answers = [
    new Response('<h1>Sign in to the network</h1>', { status: 200 }),
    new Response('{"error":"Service unavailable"}', { status: 503, headers: { 'retry-after': '0' } }),
    new Response('{"error":"Proxy authentication needed"}', { status: 401 }),
  ]
  const tab = createLatchkey({
    url: api.url,
    storage,
    fetch: async (...args) => (String(args[0]).endsWith(refreshPath) && answers.shift()) || fetch(...args),
  })
  await assert.rejects(tab.me(), { name: 'LatchkeyError', status: 401, message: 'Proxy authentication needed' })
  assert.equal((await tab.session()).kind, 'signed_in')
  assert.equal((await tab.me()).id, user.id)
  assert.equal(await countRotations(api, user), 1)
})

test('a login while another tab refreshes is not overwritten by the old session', async () => {
  const { api, storage, user } = await setUp()
  api.clock.advance(accessSeconds)
  const other = await register(api, newEmail())
  const tab = createLatchkey({
    url: api.url,
    storage,
    async fetch(...args) {
      const response = await fetch(...args)
      if (String(args[0]).endsWith(refreshPath)) {
        await createLatchkey({ url: api.url, storage }).login({ email: other.email, password })
      }
      return response
    },
  })
  assert.equal((await tab.me()).id, other.id)
  assert.notEqual(other.id, user.id)
})
