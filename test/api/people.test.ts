/** Administrators invite, change, disable and delete users. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dialect } from '../../src/platform/database/database.ts'
import { type Owner, shareOnEngines, unlimitedRates } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { makeKey } from '../support/keys.ts'
import { mailedToken, startSmtp, waitForMails } from '../support/mailbox.ts'
import { again, isSignedIn, logIn, many, password, register, signIn } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { amount } from '../support/tiers.ts'

const users = '/api/admin/users'

/** A manager may administer but does not have every permission. */
async function startWithManagers(owner: Owner, engine: Dialect): Promise<ApiWithRoles> {
  const config = createConfig(owner, {
    auth: `auth { roles {
      admin { permissions = ["*"] }
      manager { permissions = ["users.*", "posts.view"] }
      reader { permissions = ["users.view"] }
      viewer { permissions = ["posts.view"] }
    } }`,
  })
  return startApiWithRoles(owner, { engine, config, env: unlimitedRates })
}

function tokenOf(inviteUrl: string): string {
  return new URL(inviteUrl, 'http://localhost').searchParams.get('token') ?? assert.fail(inviteUrl)
}

async function eventsOf(api: ApiWithRoles, access: string) {
  const { body } = await api.get('/api/admin/audit?per_page=100', access)
  return body.data as { event: string; outcome: string; user_id: number; actor_id: number; changes: object | null }[]
}

const service = shareOnEngines((owner, engine) =>
  startApiWithRoles(owner, { engine, env: { ...unlimitedRates, PUBLIC_URL: 'https://app.example.com' } }),
)
const managed = shareOnEngines(startWithManagers)

onRacingEngine('invitations', (engine) => {
  const shared = service(engine)

  test('without mail the response has the link, with which the user sets a password', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const made = await api.request('POST', users, {
      json: { email: ' Carol@Example.com', name: 'Carol', roles: ['editor', 'editor'] },
      token: admin.access,
      headers: { host: 'evil.example.com', 'x-forwarded-host': 'evil.example.com' },
    })
    assert.equal(made.status, 201)
    assert.equal(made.headers.get('cache-control'), 'no-store')
    const { data, invite_url } = made.body
    assert.match(invite_url, /^https:\/\/app\.example\.com\/console\/invitation\?token=[\w-]{43}$/)
    const { id, created_at, ...rest } = data
    assert.deepEqual(rest, {
      email: 'carol@example.com',
      name: 'Carol',
      roles: ['editor'],
      two_factor: false,
      locked_until: null,
      disabled_at: null,
      email_verified_at: null,
    })
    const listed = await api.get(`${users}?q=carol`, admin.access)
    assert.deepEqual(listed.body.data, [data])
    assert.ok(Number.isInteger(id) && typeof created_at === 'string')

    for (const guess of ['', password]) assert.equal((await logIn(api, data.email, guess)).status, 401)
    const token = tokenOf(invite_url)
    assert.equal((await api.post('/api/auth/password/reset', { token, password: 'weak' })).status, 422)
    assert.equal((await api.post('/api/auth/password/reset', { token, password })).status, 200)
    assert.equal((await api.post('/api/auth/password/reset', { token, password })).status, 401, 'once')
    const carol = await again(api, { id, email: data.email })
    assert.deepEqual((await api.get('/me', carol.access)).body.roles, ['editor'])
    const accepted = await api.get(`${users}?q=carol`, admin.access)
    assert.equal(typeof accepted.body.data[0].email_verified_at, 'string')
    const [entry] = (await eventsOf(api, admin.access)).filter(({ event }) => event === 'user_invited')
    assert.deepEqual(
      [entry?.user_id, entry?.actor_id, entry?.outcome, entry?.changes],
      [id, admin.id, 'success', { roles: { from: [], to: ['editor'] } }],
    )
  })

  test('of one address in parallel make one user, and of one link one acceptance', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const made = await many(10, () => api.post(users, { email: 'dora@example.com' }, admin.access))
    assert.deepEqual(made.map(({ status }) => status).sort(), [201, ...Array(9).fill(409)])
    const url = made.find(({ status }) => status === 201)?.body.invite_url
    const accepted = await many(5, () => api.post('/api/auth/password/reset', { token: tokenOf(url), password }))
    assert.deepEqual(accepted.map(({ status }) => status).sort(), [200, 401, 401, 401, 401])
  })
})

onAnyEngine('invitations', (engine) => {
  const shared = managed(engine)

  test('are mailed where mail is configured, and prove the address', async (t) => {
    const mailbox = await startSmtp(t)
    const env = {
      MAIL_URL: mailbox.url,
      PUBLIC_URL: 'https://app.example.com',
      VERIFY_EMAIL: 'true',
      DEFAULT_ROLES: 'viewer',
    }
    const api = await startApiWithRoles(t, { engine, env })
    const root = await register(api, 'root@example.com')
    await waitForMails(mailbox, 1)
    await api.db.write({ sql: 'UPDATE users SET email_verified_at = created_at' })
    await api.grant(root, 'admin')
    const { access } = await again(api, root)
    const email = 'carol@example.com'
    const token = await mailedToken(mailbox, 'Invitation', async () => {
      const made = await api.post(users, { email }, access)
      assert.equal(made.status, 201)
      assert.deepEqual(Object.keys(made.body), ['data'])
      assert.deepEqual(made.body.data.roles, ['viewer'], 'as who registers')
    })
    assert.ok(mailbox.messages.at(-1)?.includes(`https://app.example.com/console/invitation?token=${token}`))
    assert.equal((await api.post('/api/auth/password/reset', { token, password })).status, 200)
    assert.equal((await logIn(api, email)).status, 200, 'verified')
    assert.equal(mailbox.messages.length, 2, 'no verification is mailed beside')
  })

  test('are refused for a taken address, an unknown role, a wrong body, and without the permission', async () => {
    const api = await shared()
    const manager = await api.signInAs('manager')
    const reader = await api.signInAs('reader')
    const invite = (body: object, access: string | undefined = manager.access) => api.post(users, body, access)
    assert.equal((await invite({ email: 'a@example.com' }, '')).status, 401)
    assert.equal((await invite({ email: 'a@example.com' }, reader.access)).status, 403)
    const taken = await invite({ email: reader.email.toUpperCase() })
    assert.deepEqual([taken.status, taken.body.error], [409, 'Email already registered'])
    assert.deepEqual(taken.body.details, { email: ['Email already registered'] })
    for (const [body, field] of [
      [{}, 'email'],
      [{ email: 'nobody' }, 'email'],
      [{ email: 'a\u200b@example.com' }, 'email'],
      [{ email: 'a@example.com', name: 'x'.repeat(256) }, 'name'],
      [{ email: 'a@example.com', roles: 'viewer' }, 'roles'],
      [{ email: 'a@example.com', roles: ['king'] }, 'roles'],
    ] as const) {
      const refused = await invite(body)
      assert.deepEqual([refused.status, Object.keys(refused.body.details)], [422, [field]])
    }
    const beyond = await invite({ email: 'a@example.com', roles: ['viewer', 'admin'] })
    assert.equal(beyond.status, 403)
    assert.equal((await api.get(`${users}?q=a@example`, manager.access)).body.data.length, 0, 'nobody was made')
    assert.equal((await invite({ email: 'a@example.com', roles: ['viewer'] })).status, 201)
    const admin = await api.signInAs('admin')
    const refusals = (await eventsOf(api, admin.access)).filter(({ outcome }) => outcome === 'refused')
    assert.deepEqual(
      refusals.map(({ event, actor_id, changes }) => [event, actor_id, changes]),
      [
        ['user_invited', manager.id, { roles: { from: [], to: ['viewer', 'admin'] } }],
        ['user_invited', reader.id, null],
      ],
    )
  })

  test('last seven days', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const { body } = await api.post(users, { email: 'late@example.com' }, admin.access)
    api.clock.advance(7 * 86_400)
    const late = await api.post('/api/auth/password/reset', { token: tokenOf(body.invite_url), password })
    assert.deepEqual([late.status, late.body.error], [401, 'Invalid reset token'])
  })

  test('a new one voids the old link; one who has accepted, or is beyond reach, gets none', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const manager = await api.signInAs('manager')
    const made = await api.post(users, { email: 'carol@example.com', roles: ['admin'] }, admin.access)
    const path = `${users}/${made.body.data.id}/invitation`
    assert.equal((await api.post(path, undefined, manager.access)).status, 403)
    const second = await api.post(path, undefined, admin.access)
    assert.equal(second.status, 200)
    assert.deepEqual(second.body.data, made.body.data)
    assert.equal((await api.post(path, undefined, admin.access)).status, 200)
    assert.equal((await api.post(path, undefined, admin.access)).status, 429, 'three an hour')
    api.clock.advance(3601)
    const last = await api.post(path, undefined, (await again(api, admin)).access)
    const accept = (url: string) => api.post('/api/auth/password/reset', { token: tokenOf(url), password })
    assert.equal((await accept(made.body.invite_url)).status, 401)
    assert.equal((await accept(second.body.invite_url)).status, 401)
    assert.equal((await accept(last.body.invite_url)).status, 200)
    const late = await api.post(path, undefined, (await again(api, admin)).access)
    assert.deepEqual([late.status, late.body.error], [409, 'User has no open invitation'])
    assert.equal((await api.post(`${users}/999/invitation`, undefined, (await again(api, admin)).access)).status, 404)
  })
})

onRacingEngine('changing users', (engine) => {
  const shared = service(engine)

  test('name and email; a new email is unverified and voids what was mailed', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const { body } = await api.post(users, { email: 'cora@example.com', name: 'Cora' }, admin.access)
    const path = `${users}/${body.data.id}`
    const change = (json: object) => api.put(path, json, admin.access)
    assert.deepEqual((await change({})).body, { data: body.data }, 'nothing to do')
    const renamed = await change({ name: 'Coraline' })
    assert.deepEqual([renamed.status, renamed.body], [200, { data: { ...body.data, name: 'Coraline' } }])
    assert.equal((await api.get(`${users}?q=coraline`, admin.access)).body.data.length, 1, 'found by the new name')
    await api.db.write({ sql: 'UPDATE users SET email_verified_at = created_at WHERE id = $1', params: [body.data.id] })
    assert.equal(
      typeof (await change({ email: ' CORA@example.com' })).body.data.email_verified_at,
      'string',
      'the same',
    )
    const moved = await change({ email: 'Cora@Example.org', name: '' })
    assert.deepEqual([moved.body.data.email, moved.body.data.name], ['cora@example.org', ''])
    assert.equal(moved.body.data.email_verified_at, null)
    const late = await api.post('/api/auth/password/reset', { token: tokenOf(body.invite_url), password })
    assert.equal(late.status, 401)

    const taken = await change({ email: admin.email })
    assert.deepEqual([taken.status, taken.body.error], [409, 'Email already registered'])
    for (const [json, field] of [
      [{ email: '' }, 'email'],
      [{ email: 'x' }, 'email'],
      [{ name: 5 }, 'name'],
      [{ name: 'x'.repeat(256) }, 'name'],
      [{ disabled: 'yes' }, 'disabled'],
    ] as const) {
      const refused = await change(json)
      assert.deepEqual([refused.status, Object.keys(refused.body.details)], [422, [field]])
    }
    assert.equal((await api.put(`${users}/999`, { name: 'x' }, admin.access)).status, 404)
    const changes = (await eventsOf(api, admin.access)).filter(
      (each) => each.event === 'user_changed' && each.user_id === body.data.id,
    )
    assert.deepEqual(
      changes.map(({ changes }) => changes),
      [
        {
          name: { from: 'Coraline', to: '' },
          email: { from: 'cora@example.com', to: 'cora@example.org' },
        },
        { name: { from: 'Cora', to: 'Coraline' } },
      ],
    )
  })

  test('a disabled user loses every session, and is refused like a wrong password until enabled', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await signIn(api)
    const change = (json: object) => api.put(`${users}/${user.id}`, json, admin.access)
    const disabled = await change({ disabled: true })
    assert.equal(disabled.status, 200)
    assert.equal(typeof disabled.body.data.disabled_at, 'string')
    assert.equal(await isSignedIn(api, user.access), false)
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: user.refresh })).status, 401)
    const [right, wrong] = [await logIn(api, user.email), await logIn(api, user.email, 'wrong')]
    assert.deepEqual([right.status, right.body], [wrong.status, wrong.body])
    assert.equal((await change({ disabled: true })).body.data.disabled_at, disabled.body.data.disabled_at, 'once')
    assert.equal((await change({ disabled: false })).body.data.disabled_at, null)
    assert.equal(await isSignedIn(api, user.access), false, 'old sessions stay dead')
    assert.equal((await logIn(api, user.email)).status, 200)
    const events = (await eventsOf(api, admin.access)).filter(
      (each) => each.user_id === user.id && each.event.startsWith('user_'),
    )
    assert.deepEqual(
      events.map(({ event, user_id, actor_id }) => [event, user_id, actor_id]),
      [
        ['user_enabled', user.id, admin.id],
        ['user_disabled', user.id, admin.id],
      ],
    )
  })

  test('deletes for good', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await signIn(api)
    assert.equal((await api.delete(`${users}/${user.id}`, admin.access)).status, 204)
    assert.equal((await api.delete(`${users}/${user.id}`, admin.access)).status, 404)
    assert.equal(await isSignedIn(api, user.access), false)
    assert.equal((await logIn(api, user.email)).status, 401)
    const [entry] = await eventsOf(api, admin.access)
    assert.deepEqual([entry?.event, entry?.user_id, entry?.changes], ['login', null, null], 'an attempt of a stranger')
    const [deleted] = (await eventsOf(api, admin.access)).filter(
      (each) => each.user_id === user.id && each.event === 'user_deleted',
    )
    assert.deepEqual(
      [deleted?.user_id, deleted?.actor_id, deleted?.changes],
      [user.id, admin.id, { email: { from: user.email, to: null } }],
    )
    assert.equal((await signIn(api, user.email)).email, user.email, 'the address is free again')
  })

  test('a user whom other records refer to stays', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await signIn(api)
    for (const action of ['', 'ON DELETE RESTRICT']) {
      await api.db.write({ sql: `CREATE TABLE orders (user_id BIGINT REFERENCES users (id) ${action})` })
      await api.db.write({ sql: 'INSERT INTO orders (user_id) VALUES ($1)', params: [user.id] })
      const refused = await api.delete(`${users}/${user.id}`, admin.access)
      assert.deepEqual([refused.status, refused.body], [409, { error: 'User is still referred to' }])
      const own = await api.request('DELETE', '/api/auth/me', { json: { password }, token: user.access })
      assert.deepEqual([own.status, own.body], [409, { error: 'User is still referred to' }])
      await api.db.write({ sql: 'DROP TABLE orders' })
    }
    assert.ok(await isSignedIn(api, user.access))
  })

  test('of administrators who disable and delete each other at once, one stays', async () => {
    const api = await shared()
    for (let round = 0; round < amount({ full: 4, otherwise: 2 }); round++) {
      // There are no others.
      await api.db.write({ sql: "UPDATE users SET roles = '[]'" })
      const admins = await Promise.all([1, 2, 3, 4].map(() => api.signInAs('admin')))
      await Promise.all(
        admins.map(({ access }, i) => {
          const target = `${users}/${admins[(i + 1) % admins.length]?.id}`
          return i % 2 === 0 ? api.delete(target, access) : api.put(target, { disabled: true }, access)
        }),
      )
      const left = await Promise.all(admins.map(({ access }) => isSignedIn(api, access)))
      assert.ok(left.includes(true), `round ${round}`)
    }
  })

  test('parallel changes of one user all pass, one after another, each with what was before', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await register(api)
    const answers = await many(4, (i) => api.put(`${users}/${user.id}`, { name: `Name ${i}` }, admin.access))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    const entries = (await eventsOf(api, admin.access))
      .filter((each) => each.user_id === user.id && each.event === 'user_changed')
      .reverse()
    const names = entries.map(({ changes }) => (changes as { name: { from: string; to: string } }).name)
    assert.deepEqual(
      names.map(({ from }) => from),
      ['Ada', ...names.map(({ to }) => to)].slice(0, -1),
    )
  })
})

onAnyEngine('changing users', (engine) => {
  const shared = managed(engine)

  test('nobody reaches above themselves, and every refusal is recorded', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const manager = await api.signInAs('manager')
    const reader = await api.signInAs('reader')
    const path = `${users}/${admin.id}`
    for (const { access } of [manager, reader]) {
      assert.equal((await api.put(path, { name: 'x' }, access)).status, 403)
      assert.equal((await api.put(path, { disabled: true }, access)).status, 403)
      assert.equal((await api.delete(path, access)).status, 403)
    }
    assert.equal((await isSignedIn(api, admin.access)) && (await logIn(api, admin.email)).status, 200)
    const refusals = (await eventsOf(api, admin.access)).filter(
      ({ outcome, actor_id }) => outcome === 'refused' && [manager.id, reader.id].includes(actor_id),
    )
    assert.deepEqual(
      refusals.map(({ event, actor_id }) => `${event} ${actor_id}`).sort(),
      [
        ...[manager, reader].map(({ id }) => `user_changed ${id}`),
        `user_changed ${reader.id}`,
        ...[manager, reader].map(({ id }) => `user_deleted ${id}`),
        `user_disabled ${manager.id}`,
      ].sort(),
    )
  })

  test('nobody administers themselves, by a session or by a key; only names and roles change there', async () => {
    const api = await shared()
    await api.signInAs('admin')
    const admin = await api.signInAs('admin')
    const path = `${users}/${admin.id}`
    const { id: keyId, key } = await makeKey(api, admin.access)
    const personal: ['PUT' | 'DELETE' | 'POST', string, object?][] = [
      ['PUT', path, { email: 'thief@example.com' }],
      ['PUT', path, { email: admin.email, name: 'Renamed' }],
      ['PUT', path, { disabled: true }],
      ['PUT', path, { disabled: false }],
      ['DELETE', path],
      ['DELETE', `${path}/2fa`],
      ['DELETE', `${path}/sessions`],
      ['DELETE', `${path}/lock`],
      ['POST', `${path}/invitation`],
      ['DELETE', `${path}/keys/${keyId}`],
    ]
    for (const token of [admin.access, key]) {
      for (const [method, place, json] of personal) {
        const refused = await api.request(method, place, { token, ...(json && { json }) })
        assert.deepEqual([refused.status, refused.body], [403, { error: 'Forbidden' }], `${method} ${place}`)
      }
      assert.equal((await api.put(path, { name: 'Renamed' }, token)).body.data.name, 'Renamed')
      assert.equal((await api.put(`${path}/roles`, { roles: ['admin', 'viewer'] }, token)).status, 200)
    }
    assert.equal(await isSignedIn(api, admin.access), true)
    assert.equal((await logIn(api, admin.email)).status, 200)
    const refusals = (await eventsOf(api, admin.access)).filter(
      (each) => each.user_id === admin.id && each.outcome === 'refused',
    )
    assert.equal(refusals.length, 2 * personal.length)
  })
})
