import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshMs } from '../../src/platform/access/route-guards.ts'
import { shareService } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { holdWrite } from '../support/held-write.ts'
import { challengeOf, enableTwoFactor, isSignedIn, logIn, many } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

/** Roles with a manager, who may administer but does not have every permission. */
function managerRoles(t: TestContext): string {
  return createConfig(t, {
    auth: `auth { roles {
      admin { permissions = ["*"] }
      manager { permissions = ["users.*", "posts.view"] }
      viewer { permissions = ["posts.view"] }
      auditor { permissions = ["audit.view"] }
    } }`,
  })
}

onRacingEngine('administration', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('the last administrator stays one, even if two remove each other in parallel', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const [one, two] = [await api.signInAs('admin'), await api.signInAs('admin')]
    const drop = (by: { access: string }, target: { id: number }) =>
      api.put(`/api/admin/users/${target.id}/roles`, { roles: ['viewer'] }, by.access)
    const responses = await Promise.all([drop(one, two), drop(two, one), drop(one, one), drop(two, two)])
    const holders = async () =>
      (await api.db.all<{ roles: string }>('SELECT roles FROM users')).filter(({ roles }) => roles.includes('admin'))
        .length
    assert.equal(await holders(), 1, JSON.stringify(responses.map(({ status }) => status)))

    const last = (await isAdmin(one)) ? one : two
    const refused = await drop(last, last)
    assert.deepEqual([refused.status, refused.body], [409, { error: 'Last administrator' }])
    assert.equal(
      (await api.put(`/api/admin/users/${last.id}/roles`, { roles: ['admin', 'viewer'] }, last.access)).status,
      200,
    )

    async function isAdmin(user: { access: string }): Promise<boolean> {
      return (await api.get('/me', user.access)).body.roles.includes('admin')
    }
  })

  test('role names are compared to the letter: one that looks like an administrator’s is none', async (t) => {
    const roles =
      'super_admin { permissions = ["*"] }\nsuperXadmin { permissions = [x] }\nSUPER_ADMIN { permissions = [x] }'
    const config = createConfig(t, { auth: `auth { roles {\n${roles}\n} }` })
    const api = await startApiWithRoles(t, { engine, config })
    const admin = await api.signInAs('super_admin')
    await api.signInAs('superXadmin')
    await api.signInAs('SUPER_ADMIN')
    assert.equal((await api.put(`/api/admin/users/${admin.id}/roles`, { roles: [] }, admin.access)).status, 409)
  })

  test('searches names beyond ASCII, and finds nothing for a null character', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    await api.post('/api/auth/register', {
      email: 'emile@example.com',
      password: 'Correct-Horse-1',
      name: 'Émile Zola',
    })
    const found = await api.get(`/api/admin/users?q=${encodeURIComponent('Émile')}`, admin.access)
    assert.deepEqual([found.body.meta.total, found.body.data[0]?.email], [1, 'emile@example.com'])
    assert.deepEqual((await api.get('/api/admin/users?q=%00', admin.access)).body.data, [])
    const names = ['Ädele', 'ädELE ÖZ', 'ΟΔΥΣΣΕΥΣ', 'adele', '100% _Ä_']
    for (const [i, name] of names.entries()) {
      await api.post('/api/auth/register', { email: `n${i}@example.com`, password: 'Correct-Horse-1', name })
    }
    for (const [q, expected] of [
      ['ädele', ['Ädele', 'ädELE ÖZ']],
      ['ÄDELE', ['Ädele', 'ädELE ÖZ']],
      ['ö', ['ädELE ÖZ']],
      ['ευσ', ['ΟΔΥΣΣΕΥΣ']],
      ['DELE', ['Ädele', 'ädELE ÖZ', 'adele']],
      ['_ä_', ['100% _Ä_']],
      ['Ｎ2@EXAMPLE', ['ΟΔΥΣΣΕΥΣ']],
    ] as const) {
      const { data, meta } = (await api.get(`/api/admin/users?q=${encodeURIComponent(q)}`, admin.access)).body
      assert.deepEqual([data.map(({ name }: { name: string }) => name), meta.total], [expected, expected.length], q)
    }
  })

  test('of parallel changes of one user’s roles one wins completely', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await api.signInAs()
    const responses = await many(10, (i) =>
      api.put(`/api/admin/users/${user.id}/roles`, { roles: i % 2 ? ['editor'] : ['viewer'] }, admin.access),
    )
    assert.ok(responses.some(({ status }) => status === 200))
    const { roles } = (await api.get('/me', user.access)).body
    assert.ok(JSON.stringify(roles) === '["editor"]' || JSON.stringify(roles) === '["viewer"]')
  })

  test('roles that a user got meanwhile are not taken away by whoever may not', async (t) => {
    const api = await startApiWithRoles(t, { engine, config: managerRoles(t) })
    const [admin, manager] = [await api.signInAs('admin'), await api.signInAs('manager')]
    const user = await api.signInAs('viewer')
    const set = ({ access }: { access: string }, ...roles: string[]) =>
      api.put(`/api/admin/users/${user.id}/roles`, { roles }, access)
    const { reached, release } = holdWrite(t, api.db, 'UPDATE users SET roles')
    const late = set(manager, 'viewer', 'manager')
    await reached
    assert.equal((await set(admin, 'admin')).status, 200)
    release()
    assert.equal((await late).status, 403)
    assert.deepEqual((await api.get('/me', user.access)).body.roles, ['admin'])
  })
})

onAnyEngine('administration', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('lists users by page and by search, with the permission', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const admin = await api.signInAs('admin')
    const user = await api.signInAs('viewer')
    assert.equal((await api.get('/api/admin/users')).status, 401)
    assert.equal((await api.get('/api/admin/users', user.access)).status, 403)
    const { status, body } = await api.get('/api/admin/users?per_page=1&page=2', admin.access)
    assert.equal(status, 200)
    assert.deepEqual(body.meta, { total: 2, page: 2, per_page: 1, last_page: 2 })
    assert.deepEqual(Object.keys(body.data[0]).sort(), [
      'created_at',
      'disabled_at',
      'email',
      'email_verified_at',
      'id',
      'locked_until',
      'name',
      'roles',
      'two_factor',
    ])
    assert.equal(body.data[0].email, user.email)
    assert.deepEqual(body.data[0].roles, ['viewer'])
    assert.equal(body.data[0].two_factor, false)
    assert.equal(body.data[0].locked_until, null)
    const found = await api.get(`/api/admin/users?q=${user.email.slice(0, 12).toUpperCase()}`, admin.access)
    assert.ok(found.body.data.some(({ email }: { email: string }) => email === user.email))
    assert.deepEqual((await api.get('/api/admin/users?q=%25', admin.access)).body.data, [])
    assert.deepEqual((await api.get('/api/admin/users?page=9', admin.access)).body.data, [])
  })

  test('grants and removes roles, effective with the next request', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await api.signInAs()
    const set = (roles: unknown, id: number | string = user.id) =>
      api.put(`/api/admin/users/${id}/roles`, { roles }, admin.access)
    const given = await set(['editor', 'viewer', 'editor'])
    assert.equal(given.status, 200)
    assert.deepEqual(given.body.data.roles, ['editor', 'viewer'])
    assert.equal(given.body.data.id, user.id)
    assert.deepEqual((await api.get('/me', user.access)).body.roles, ['editor', 'viewer'])
    const unknown = await set(['king'])
    assert.equal(unknown.status, 422)
    assert.deepEqual(Object.keys(unknown.body.details), ['roles'])
    for (const wrong of [undefined, 'editor', [1], null]) assert.equal((await set(wrong)).status, 422)
    assert.equal((await set(['viewer'], 999)).status, 404)
    assert.equal((await set(['viewer'], 'x')).status, 404)
    assert.deepEqual((await set([])).body.data.roles, [])
  })

  test('unlocks, resets the second factor and ends sessions', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await api.signInAs()
    await enableTwoFactor(api, user)
    for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
    const locked = await api.get(`/api/admin/users?q=${user.email}`, admin.access)
    assert.equal(locked.body.data[0].two_factor, true)
    assert.equal(typeof locked.body.data[0].locked_until, 'number')

    assert.equal((await api.delete(`/api/admin/users/${user.id}/lock`, admin.access)).status, 204)
    await challengeOf(api, user.email)
    assert.equal((await api.delete(`/api/admin/users/${user.id}/2fa`, admin.access)).status, 204)
    assert.equal((await logIn(api, user.email)).body.token_type, 'Bearer')
    assert.ok(await isSignedIn(api, user.access))
    assert.equal((await api.delete(`/api/admin/users/${user.id}/sessions`, admin.access)).status, 204)
    assert.equal(await isSignedIn(api, user.access), false)
    assert.equal((await api.post('/api/auth/refresh', { refresh_token: user.refresh })).status, 401)
    for (const name of ['lock', '2fa', 'sessions']) {
      assert.equal((await api.delete(`/api/admin/users/999/${name}`, admin.access)).status, 404)
      assert.equal((await api.delete(`/api/admin/users/${user.id}/${name}`, user.access)).status, 401)
    }
  })

  test('nobody can grant or remove more than they have', async (t) => {
    const api = await startApiWithRoles(t, { engine, config: managerRoles(t) })
    const admin = await api.signInAs('admin')
    const manager = await api.signInAs('manager')
    const user = await api.signInAs('viewer')
    const auditor = await api.signInAs('auditor')
    const set = (target: { id: number }, ...roles: string[]) =>
      api.put(`/api/admin/users/${target.id}/roles`, { roles }, manager.access)
    assert.equal((await set(user, 'viewer', 'manager')).status, 200, 'what they hold they may give')
    assert.equal((await set(user, 'admin')).status, 403)
    assert.equal((await set(user, 'auditor')).status, 403)
    assert.equal((await set(manager, 'manager', 'admin')).status, 403, 'nor to themselves')
    assert.equal((await set(auditor)).status, 403, 'nor take what they do not hold')
    assert.equal((await set(admin)).status, 403)
    for (const name of ['lock', '2fa', 'sessions']) {
      assert.equal((await api.delete(`/api/admin/users/${admin.id}/${name}`, manager.access)).status, 403)
      assert.equal((await api.delete(`/api/admin/users/${user.id}/${name}`, manager.access)).status, 204)
    }
    assert.deepEqual((await api.get('/me', admin.access)).body.roles, ['admin'])
  })

  test('roles written by hand, or no longer configured, are no obstacle', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await api.signInAs()
    await api.db.write({ sql: 'UPDATE users SET roles = $1 WHERE id = $2', params: ['["ghost",  "viewer"]', user.id] })
    const response = await api.put(
      `/api/admin/users/${user.id}/roles`,
      { roles: ['ghost', 'viewer', 'editor'] },
      admin.access,
    )
    assert.deepEqual([response.status, response.body.data?.roles], [200, ['ghost', 'viewer', 'editor']])
  })

  test('access is checked again when a slow body has arrived', async () => {
    const api = await shared()
    const [root, demoted] = [await api.signInAs('admin'), await api.signInAs('admin')]
    const body = JSON.stringify({ roles: ['admin'] })
    const { hostname, port } = new URL(api.url)
    const headers = {
      authorization: `Bearer ${demoted.access}`,
      'content-type': 'application/json',
      'content-length': body.length,
      // The response to the head says that it has arrived.
      expect: '100-continue',
    }
    const slow = request({ hostname, port, method: 'PUT', path: `/api/admin/users/${demoted.id}/roles`, headers })
    const answered = once(slow, 'response')
    slow.write(body.slice(0, 3))
    await once(slow, 'continue')
    await sleep(2 * freshMs)
    assert.equal((await api.put(`/api/admin/users/${demoted.id}/roles`, { roles: [] }, root.access)).status, 200)
    slow.end(body.slice(3))
    const [{ statusCode }] = await answered
    assert.equal(statusCode, 403)
    assert.deepEqual((await api.get('/me', demoted.access)).body.roles, [])
  })

  test('a form removes all roles with an empty field, and sets several with repeated fields', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await api.signInAs('editor')
    const path = `/api/admin/users/${user.id}/roles`
    const send = (body: string) =>
      api.request('PUT', path, {
        body,
        token: admin.access,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    for (const [body, roles] of [
      ['roles=', []],
      ['roles=editor', ['editor']],
      // As sent by a page with a hidden field before its checkboxes.
      ['roles=&roles=editor&roles=viewer', ['editor', 'viewer']],
      ['roles=&roles=', []],
    ] as const) {
      const response = await send(body)
      assert.deepEqual([response.status, response.body.data?.roles], [200, roles], body)
    }
    assert.equal((await send('')).status, 422, 'nothing is not an empty list')
    await api.put(path, { roles: ['editor'] }, admin.access)
    assert.deepEqual((await api.put(path, { roles: [] }, admin.access)).body.data.roles, [])
  })

  test('shows the audit trail, the newest first', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await api.signInAs()
    await api.put(`/api/admin/users/${user.id}/roles`, { roles: ['viewer'] }, admin.access)
    assert.equal((await api.get('/api/admin/audit', user.access)).status, 403)
    const { body } = await api.get('/api/admin/audit?per_page=3', admin.access)
    const { at, user_agent, ...newest } = body.data[0]
    assert.deepEqual([typeof at, user_agent], ['string', 'node'])
    assert.deepEqual(newest, {
      event: 'roles_changed',
      user_id: user.id,
      address: '127.0.0.1',
      outcome: 'success',
      actor_id: admin.id,
      changes: { roles: { from: [], to: ['viewer'] } },
    })
    assert.equal(body.data.length, 3)
    assert.equal(body.meta.per_page, 3)
    assert.ok(body.meta.total > 3)
  })
})
