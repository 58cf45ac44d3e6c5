/** Passkeys of other users. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Owner, share, unlimitedRates } from '../support/api.ts'
import { enrol, logInWith } from '../support/authenticator.ts'
import { createConfig } from '../support/config.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { makeKey } from '../support/keys.ts'
import { enableTwoFactor, logIn, signIn } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const managers = `auth { roles {
  admin { permissions = ["*"] }
  manager { permissions = ["users.*"] }
  reader { permissions = ["users.view"] }
} }`

onAnyEngine("users' passkeys", (engine) => {
  const shared = share((owner: Owner) =>
    startApiWithRoles(owner, { engine, config: createConfig(owner, { auth: managers }), env: unlimitedRates }),
  )

  async function begin() {
    const api = await shared()
    const manager = await api.signInAs('manager')
    const user = await signIn(api)
    const { passkey, id } = await enrol(api, user, { name: 'My phone' })
    const path = `/api/admin/users/${user.id}/passkeys`
    const count = async () => (await api.db.all('SELECT id FROM passkeys WHERE user_id = $1', [user.id])).length
    return { api, manager, user, passkey, id, path, count }
  }

  test('are listed and removed by administrators, who leave a trace', async () => {
    const { api, manager, user, passkey, id, path, count } = await begin()
    const { status, body } = await api.get(path, manager.access)
    assert.equal(status, 200)
    assert.deepEqual(body, (await api.get('/api/auth/passkeys', user.access)).body)
    assert.equal(body.data[0].id, id)
    assert.equal((await logInWith(api, passkey)).status, 200)

    for (const unknown of ['x', '%00', 'x'.repeat(90)]) {
      assert.equal((await api.delete(`${path}/${unknown}`, manager.access)).status, 404, unknown)
    }
    const removed = await api.delete(`${path}/${id}`, manager.access)
    assert.deepEqual([removed.status, removed.body], [204, ''])
    assert.equal(await count(), 0)
    assert.equal((await logInWith(api, passkey)).status, 401)
    assert.equal((await api.delete(`${path}/${id}`, manager.access)).status, 404)
    const [entry] = await api.db.all<{ actor_id: number; changes: unknown }>(
      `SELECT actor_id, changes FROM audit WHERE user_id = $1 AND event = 'passkey_removed'`,
      [user.id],
    )
    assert.equal(entry?.actor_id, manager.id)
    assert.match(JSON.stringify(entry?.changes), new RegExp(`${id}.*My phone`))
  })

  test('are for users with users.update, and nobody reaches above themselves', async () => {
    const { api, manager, user, id, path, count } = await begin()
    const reader = await api.signInAs('reader')
    for (const [access, status] of [
      [undefined, 401],
      [user.access, 403],
      [reader.access, 403],
    ] as const) {
      assert.equal((await api.get(path, access)).status, status)
      assert.equal((await api.delete(`${path}/${id}`, access)).status, status)
    }
    assert.equal((await api.get('/api/admin/users/999999/passkeys', manager.access)).status, 404)
    assert.equal((await api.get('/api/admin/users/x/passkeys', manager.access)).status, 404)
    await api.grant(user, 'admin')
    assert.equal((await api.delete(`${path}/${id}`, manager.access)).status, 403)
    assert.equal(await count(), 1)
    await api.grant(user)
    const { key } = await makeKey(api, manager.access, { permissions: ['users.update'] })
    assert.equal((await api.get(path, key)).status, 200)
    assert.equal((await api.delete(`${path}/${id}`, key)).status, 204)
  })

  test('are removed by a reset of the second factor, with it on or off', async () => {
    const { api, manager, user, count } = await begin()
    const twoFactor = `/api/admin/users/${user.id}/2fa`
    assert.equal((await api.delete(twoFactor, manager.access)).status, 204)
    assert.equal(await count(), 0)
    await enrol(api, user)
    await enableTwoFactor(api, user)
    assert.equal((await api.delete(twoFactor, manager.access)).status, 204)
    assert.equal(await count(), 0)
    assert.equal((await logIn(api, user.email)).body.token_type, 'Bearer')
    const entries = await api.db.all<{ changes: unknown }>(
      `SELECT changes FROM audit WHERE user_id = $1 AND event = '2fa_reset'`,
      [user.id],
    )
    for (const { changes } of entries) assert.match(JSON.stringify(changes), /passkeys.*from.*1.*to.*0/)
  })

  test("are on a user's page, for those who may remove them", async () => {
    const { api, manager, user, id, count } = await begin()
    const page = `/console/users/${user.id}`
    const remove = `${page}/passkeys/${id}/remove`
    const reader = await api.signInAs('reader')
    const looking = openConsole(api)
    await looking.signIn(reader.email)
    const seen = await looking.open(page)
    assert.doesNotMatch(seen.text, /My phone/)
    const { _token = '' } = seen.hidden('/console/sign-out')
    assert.equal((await looking.post(remove, { _token })).status, 403)

    const browser = openConsole(api)
    await browser.signIn(manager.email)
    assert.match((await browser.open(page)).text, /Passkeys .*My phone/)
    const removed = await browser.submit(remove)
    assert.deepEqual([removed.location, removed.notice], [page, 'user-passkey-removed'])
    assert.equal(await count(), 0)
    assert.ok(!(await browser.follow(removed)).hasForm(remove))
  })
})
