import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApiOptions, type Owner, shareService } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsoleBrowser, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { again, enableTwoFactor, isSignedIn, logIn, password, register } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const users = '/console/users'

/** Roles that may administer but do not have every permission. */
async function start(owner: Owner, options: ApiOptions): Promise<ApiWithRoles> {
  const config = createConfig(owner, {
    auth: `auth { roles {
      admin { permissions = ["*"] }
      manager { permissions = ["users.*", "posts.view"] }
      reader { permissions = ["users.view"] }
      viewer { permissions = ["posts.view"] }
      auditor { permissions = ["audit.view"] }
    } }`,
  })
  return startApiWithRoles(owner, { ...options, config })
}

function enter(api: ApiWithRoles) {
  const browse = async (...roles: string[]): Promise<ConsoleBrowser & { id: number; email: string }> => {
    const { id, email } = await api.signInAs(...roles)
    const browser = openConsole(api)
    await browser.signIn(email)
    return { ...browser, id, email }
  }
  const rolesOf = async (user: { email: string; id: number }) =>
    (await api.get('/me', (await again(api, user)).access)).body.roles
  return { api, browse, rolesOf }
}

onAnyEngine('users in the console', (engine) => {
  const shared = shareService(start, { engine })

  test('are listed by page and by search, to users with the permission', async (t) => {
    const { api, browse } = enter(await start(t, { engine }))
    const reader = await browse('reader')
    const nobody = await browse('viewer')
    assert.equal((await openConsole(api).open(users)).location, '/console/sign-in?next=%2Fconsole%2Fusers')
    const refused = await nobody.open(users)
    assert.equal(refused.status, 403)
    assert.ok(!refused.html.includes(`href="${users}"`), 'no link leads where one may not go')

    for (let i = 0; i < 21; i++) await register(api, `person${i}@example.com`)
    const locked = await register(api, 'locked@example.com')
    for (let i = 0; i < 5; i++) await logIn(api, locked.email, 'wrong')
    const first = await reader.open(users)
    assert.equal(first.status, 200)
    assert.match(first.text, /Page 1 of 2 · 24 in all Next/)
    assert.ok(first.html.includes(`href="${users}/${reader.id}">${reader.email}</a>`))
    assert.match(first.text, /reader/)
    const second = await reader.open(`${users}?page=2`)
    assert.match(second.text, /locked@example\.com Ada – Off \d{4}-\d\d-\d\d/)
    const beyond = await reader.open(`${users}?q=person&page=9`)
    assert.match(beyond.text, /There is no page 9 Go to the last page/)
    assert.ok(beyond.html.includes(`href="${users}?q=person&#38;page=2"`) && !beyond.text.includes('Page 9'))

    const found = await reader.open(`${users}?q=Person1`)
    assert.ok(found.text.includes('person1@example.com') && found.text.includes('person10@example.com'))
    assert.ok(!found.text.includes('locked@example.com'))
    assert.match(found.html, /name="q"[^>]*>/)
    const none = await reader.open(`${users}?q=%3Cscript%3Ealert(1)%3C/script%3E`)
    assert.match(none.text, /No email and no name has “<script>alert\(1\)<\/script>” in it/)
    assert.ok(!none.html.includes('<script>alert'))
  })

  test('have a read-only page for users who may only view', async () => {
    const { api, browse } = enter(await shared())
    const reader = await browse('reader')
    const user = await register(api, 'bob@example.com')
    const page = await reader.open(`${users}/${user.id}`)
    assert.equal(page.status, 200)
    assert.match(page.html, /<h1>bob@example\.com<\/h1>/)
    assert.match(page.text, /Name Ada Roles None Two-factor Off Locked No/)
    assert.equal(page.html.match(/<form/g)?.length, 2, 'the appearance and signing out')
    const token = page.hidden('/console/sign-out')
    for (const path of ['roles', 'unlock', 'reset-2fa', 'sign-out']) {
      assert.equal((await reader.post(`${users}/${user.id}/${path}`, token)).status, 403)
    }
    for (const id of ['999', 'x', '0', '99999999999999999999']) {
      assert.equal((await reader.open(`${users}/${id}`)).status, 404, id)
    }
  })

  test('are given and taken roles', async () => {
    const { api, browse, rolesOf } = enter(await shared())
    const admin = await browse('admin')
    const user = await register(api)
    const path = `${users}/${user.id}`
    const page = await admin.open(path)
    for (const role of ['admin', 'manager', 'reader', 'viewer', 'auditor']) {
      assert.match(page.html, new RegExp(`name="roles" value="${role}">`))
    }
    const saved = await admin.submit(`${path}/roles`, { roles: ['viewer', 'auditor'] })
    assert.deepEqual([saved.location, saved.notice], [path, 'roles-saved'])
    assert.deepEqual(await rolesOf(user), ['viewer', 'auditor'])
    const after = await admin.follow(saved)
    assert.match(after.text, /The roles are saved/)
    assert.match(after.html, /value="viewer" checked>/)
    assert.equal((await admin.submit(`${path}/roles`, { roles: 'reader' })).status, 303, 'one tick')
    assert.deepEqual(await rolesOf(user), ['reader'])
    await admin.open(path)
    assert.equal((await admin.submit(`${path}/roles`)).status, 303, 'no tick')
    assert.deepEqual(await rolesOf(user), [])

    await admin.open(path)
    const unknown = await admin.submit(`${path}/roles`, { roles: ['king', 'viewer'] })
    assert.equal(unknown.status, 422)
    assert.match(unknown.html, /id="roles-error">Unknown role: king\./)
    assert.match(unknown.html, /value="viewer" checked>/, 'what was ticked is kept')
    assert.equal((await admin.submit(`${path}/roles`, { roles: 'viewer' })).status, 303)

    await api.grant(user, 'viewer', 'retired')
    assert.match(
      (await admin.open(path)).html,
      /value="retired" checked>\s*<label for="role-5">retired <span[^>]*>no longer configured/,
    )
    assert.equal((await admin.submit(`${path}/roles`, { roles: ['viewer', 'retired'] })).status, 303)
    const token = (await admin.open(path)).hidden('/console/sign-out')
    assert.equal((await admin.post(`${users}/999/roles`, token)).status, 404)
  })

  test('administrators who remove their own role are redirected to a page they may see', async () => {
    const { browse } = enter(await shared())
    await browse('admin')
    const admin = await browse('admin')
    await admin.open(`${users}/${admin.id}`)
    const saved = await admin.submit(`${users}/${admin.id}/roles`, { roles: 'viewer' })
    assert.deepEqual([saved.location, saved.notice], ['/console/products', 'roles-saved'])
    assert.match((await admin.follow(saved)).text, /The roles are saved\. Products/)
  })

  test('keep one administrator', async (t) => {
    const { browse } = enter(await start(t, { engine }))
    const admin = await browse('admin')
    const path = `${users}/${admin.id}`
    await admin.open(path)
    const refused = await admin.submit(`${path}/roles`, { roles: 'viewer' })
    assert.equal(refused.status, 409)
    assert.match(refused.text, /This is the last administrator/)
    const cleared = await admin.submit(`${path}/roles`)
    assert.equal(cleared.status, 409, 'no tick')
    assert.match(cleared.text, /This is the last administrator/)
    assert.equal((await admin.open(path)).status, 200, 'nothing has changed')
  })

  test('get nothing from an administrator who has less', async () => {
    const { api, browse, rolesOf } = enter(await shared())
    const manager = await browse('manager')
    const admin = await browse('admin')
    const user = await register(api)
    const theirs = await manager.open(`${users}/${admin.id}`)
    assert.match(theirs.text, /holds permissions that you lack/)
    assert.ok(!theirs.hasForm(`${users}/${admin.id}/roles`))
    const token = theirs.hidden('/console/sign-out')
    for (const path of ['roles', 'unlock', 'reset-2fa', 'sign-out']) {
      const refused = await manager.post(`${users}/${admin.id}/${path}`, token)
      assert.equal(refused.status, 403)
      assert.match(refused.text, /permissions that you don’t have/)
    }
    assert.equal((await admin.open(users)).status, 200, 'still signed in')

    const page = await manager.open(`${users}/${user.id}`)
    assert.match(page.html, /value="admin" disabled>/)
    assert.match(page.html, /value="viewer">/)
    assert.equal((await manager.submit(`${users}/${user.id}/roles`, { roles: 'admin' })).status, 403)
    assert.deepEqual(await rolesOf(user), [])
  })

  test('add an audit entry for each refused form, whether sent by an administrator or another user', async () => {
    const { api, browse } = enter(await shared())
    const admin = await browse('admin')
    const senders = [await browse('manager'), await browse('reader'), await browse('viewer')]
    for (const sender of senders) {
      const token = (await sender.open('/console/account')).hidden('/console/sign-out')
      for (const path of ['roles', 'unlock', 'reset-2fa', 'sign-out']) {
        assert.equal((await sender.post(`${users}/${admin.id}/${path}`, token)).status, 403, path)
      }
    }
    const rows = await api.db.all<{ event: string; user_id: number; actor_id: number }>(
      "SELECT event, user_id, actor_id FROM audit WHERE outcome = 'refused' AND user_id = $1 ORDER BY id",
      [admin.id],
    )
    assert.deepEqual(
      rows.map(({ event, user_id, actor_id }) => [event, user_id, actor_id]),
      senders.flatMap(({ id }) =>
        ['roles_changed', 'unlock', '2fa_reset', 'sessions_ended'].map((event) => [event, admin.id, id]),
      ),
    )
  })

  test('are unlocked, signed out, and have two-factor reset', async () => {
    const { api, browse } = enter(await shared())
    const manager = await browse('manager')
    const user = await again(api, await register(api))
    const path = `${users}/${user.id}`
    const plain = await manager.open(path)
    assert.ok(!plain.hasForm(`${path}/unlock`) && !plain.hasForm(`${path}/reset-2fa`), 'nothing to do')

    await enableTwoFactor(api, user)
    for (let i = 0; i < 5; i++) await logIn(api, user.email, 'wrong')
    assert.match((await manager.open(path)).text, /Two-factor On Locked Yes until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
    const unlocked = await manager.submit(`${path}/unlock`)
    assert.deepEqual([unlocked.location, unlocked.notice], [path, 'unlocked'])
    assert.equal((await logIn(api, user.email)).body.requires_2fa, true)
    await manager.follow(unlocked)
    const freed = await manager.submit(`${path}/reset-2fa`)
    assert.deepEqual([freed.location, freed.notice], [path, 'two-factor-reset'])
    assert.equal((await logIn(api, user.email)).body.token_type, 'Bearer')

    const theirs = openConsole(api)
    await theirs.signIn(user.email)
    await manager.open(path)
    const out = await manager.submit(`${path}/sign-out`)
    assert.deepEqual([out.location, out.notice], [path, 'user-signed-out'])
    assert.equal((await theirs.open('/console/account')).status, 303)
    assert.equal(await isSignedIn(api, user.access), false)
  })
})

onAnyEngine('the audit trail in the console', (engine) => {
  test('is shown to users with the permission, newest first, and escapes everything', async (t) => {
    const { api, browse } = enter(await start(t, { engine }))
    const auditor = await browse('auditor')
    const manager = await browse('manager')
    assert.equal((await manager.open('/console/audit')).status, 403)
    const userAgent = '"><script>alert(1)</script>'
    await api.request('POST', '/api/auth/login', {
      json: { email: auditor.email, password: 'wrong' },
      headers: { 'user-agent': userAgent },
    })
    const page = await auditor.open('/console/audit')
    assert.equal(page.status, 200)
    assert.match(page.text, new RegExp(`UTC Sign-in User ${auditor.id} Failed 127\\.0\\.0\\.1 Unknown device`))
    assert.ok(!page.text.includes(`${manager.email}`), 'emails are for who may view users')
    assert.ok(!page.html.includes('<script>alert') && page.html.includes('alert(1)'))

    await api.grant(auditor, 'auditor', 'reader')
    const named = await auditor.open('/console/audit')
    assert.ok(named.html.includes(`<a href="${users}/${manager.id}">${manager.email}</a>`))

    const user = await browse()
    await manager.open(`${users}/${user.id}`)
    await manager.submit(`${users}/${user.id}/roles`, { roles: ['viewer'] })
    const { text } = await auditor.open('/console/audit')
    assert.match(text, new RegExp(`Roles changed roles: none → viewer ${user.email} by ${manager.email} Done`))
    assert.match(text, new RegExp(`Registered ${user.email} Done`))
    for (let i = 0; i < 15; i++) await logIn(api, 'nobody@example.com', password)
    const first = await auditor.open('/console/audit')
    assert.match(first.html, /rel="next" href="\/console\/audit\?page=2"/)
    assert.match((await auditor.open('/console/audit?page=2')).text, /Registered/)
    assert.match((await auditor.open('/console/audit?page=99')).text, /There is no page 99 Go to the last page/)
  })
})
