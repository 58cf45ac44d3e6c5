/** Inviting, changing, disabling and deleting users in the console. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApiOptions, type Owner, shareService } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { mailedToken, startSmtp } from '../support/mailbox.ts'
import { isSignedIn, logIn, password, signIn } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'

const users = '/console/users'
const invite = `${users}/invite`

function start(owner: Owner, options: ApiOptions): Promise<ApiWithRoles> {
  const config = createConfig(owner, {
    auth: `auth { roles {
      admin { permissions = ["*"] }
      manager { permissions = ["users.*", "posts.view"] }
      reader { permissions = ["users.view"] }
      viewer { permissions = ["posts.view"] }
    } }`,
  })
  return startApiWithRoles(owner, { ...options, config })
}

function enter(api: ApiWithRoles) {
  const browse = async (...roles: string[]) => {
    const { id, email, access } = await api.signInAs(...roles)
    const browser = openConsole(api)
    await browser.signIn(email)
    return { ...browser, id, email, access }
  }
  return { api, browse }
}

onAnyEngine('people in the console', (engine) => {
  const shared = shareService(start, { engine })

  test('are invited with a form; without mail the link is shown once', async (t) => {
    const { api, browse } = enter(await start(t, { engine, env: { PUBLIC_URL: 'https://app.example.com' } }))
    const manager = await browse('manager')
    const list = await manager.open(users)
    assert.ok(list.html.includes(`href="${invite}"`))
    const form = await manager.open(invite)
    assert.match(form.text, /admin holds more than you do/)
    assert.match(form.text, /You get a link to hand over/)
    const wrong = await manager.submit(invite, { email: 'nobody', name: 'Carol', roles: 'viewer' })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /Must be a valid email address/)
    assert.match(wrong.html, /value="Carol"/)
    assert.match(wrong.html, /value="viewer" checked/)
    const taken = await manager.submit(invite, { email: manager.email })
    assert.equal(taken.status, 409)
    assert.match(taken.text, /Email already registered/)
    const beyond = await manager.submit(invite, { email: 'carol@example.com', roles: ['admin'] })
    assert.equal(beyond.status, 403)
    assert.match(beyond.text, /permissions that you don’t have/)

    const made = await manager.submit(invite, { email: 'carol@example.com', name: 'Carol', roles: ['viewer'] })
    assert.equal(made.status, 200)
    assert.match(made.text, /Invitation for carol@example\.com/)
    const [link = ''] = /https:\/\/app\.example\.com\/console\/invitation\?token=[\w-]+/.exec(made.text) ?? []
    const [, id] = /href="\/console\/users\/(\d+)">I have kept it/.exec(made.html) ?? []
    const page = await manager.open(`${users}/${id}`)
    assert.match(page.text, /Roles viewer .*Email verified No .*Invitation Not accepted yet/)
    assert.ok(!page.html.includes(link), 'it is shown once')
    const renewed = await manager.submit(`${users}/${id}/invitation`)
    const [better = ''] = /\/console\/invitation\?token=[\w-]+/.exec(renewed.text) ?? []

    const carol = openConsole(api)
    const over = await carol.open(link.replace('https://app.example.com', ''))
    assert.equal(over.status, 410)
    assert.match(over.text, /This link does not work/)
    const welcome = await carol.open(better)
    assert.match(welcome.text, /Choose a password, then sign in as carol@example\.com/)
    const weak = await carol.submit('/console/invitation', { password: 'weak' })
    assert.equal(weak.status, 422)
    assert.match(weak.text, /Must be at least 8 characters/)
    const accepted = await carol.submit('/console/invitation', { password })
    assert.deepEqual([accepted.location, accepted.notice], ['/console/sign-in', 'invitation-accepted'])
    assert.equal((await carol.open(better)).status, 410)
    assert.equal((await logIn(api, 'carol@example.com')).status, 200)
    assert.ok(!(await manager.open(`${users}/${id}`)).hasForm(`${users}/${id}/invitation`))
  })

  test('get the invitation by mail where there is mail', async (t) => {
    const mailbox = await startSmtp(t)
    const env = { MAIL_URL: mailbox.url, PUBLIC_URL: 'https://app.example.com' }
    const { browse } = enter(await start(t, { engine, env }))
    const manager = await browse('manager')
    assert.match((await manager.open(invite)).text, /We mail a link/)
    await mailedToken(mailbox, 'Invitation', async () => {
      const made = await manager.submit(invite, { email: 'carol@example.com' })
      assert.equal(made.notice, 'user-invited')
      assert.match((await manager.follow(made)).text, /The invitation is on its way\./)
    })
  })

  test('are renamed and get another email', async () => {
    const { api, browse } = enter(await shared())
    const manager = await browse('manager')
    const user = await signIn(api, 'bob@example.com')
    const path = `${users}/${user.id}`
    await manager.open(path)
    const wrong = await manager.submit(`${path}/edit`, { email: 'bob', name: 'Robert' })
    assert.equal(wrong.status, 422)
    assert.match(wrong.html, /value="Robert"/)
    const taken = await manager.submit(`${path}/edit`, { email: manager.email, name: 'Robert' })
    assert.equal(taken.status, 409)
    assert.match(taken.text, /Email already registered/)
    const saved = await manager.submit(`${path}/edit`, { email: 'robert@example.com', name: 'Robert' })
    assert.deepEqual([saved.location, saved.notice], [path, 'user-saved'])
    assert.match((await manager.follow(saved)).text, /robert@example\.com .*Name Robert/)
  })

  test('are disabled, enabled and deleted', async () => {
    const { api, browse } = enter(await shared())
    const manager = await browse('manager')
    const user = await signIn(api, 'carol@example.com')
    const path = `${users}/${user.id}`
    await manager.open(path)
    assert.equal((await manager.submit(`${path}/disable`)).notice, 'user-disabled')
    assert.equal(await isSignedIn(api, user.access), false)
    assert.match((await manager.open(users)).text, /carol@example\.com Disabled/)
    const page = await manager.open(path)
    assert.match(page.text, /Disabled Yes since/)
    assert.ok(!page.hasForm(`${path}/disable`))
    assert.equal((await manager.submit(`${path}/enable`)).notice, 'user-enabled')
    assert.equal((await logIn(api, user.email)).status, 200)
    await manager.open(path)
    const deleted = await manager.submit(`${path}/delete`)
    assert.deepEqual([deleted.location, deleted.notice], [users, 'user-deleted'])
    assert.equal((await manager.open(path)).status, 404)
  })

  test('those above, and those whom records refer to, stay, with the reason', async () => {
    const { api, browse } = enter(await shared())
    const admin = await browse('admin')
    const manager = await browse('manager')
    const reader = await browse('reader')
    const path = `${users}/${admin.id}`
    for (const visitor of [manager, reader]) {
      const page = await visitor.open(path)
      const token = page.hidden('/console/sign-out')
      for (const name of ['edit', 'disable', 'enable', 'delete', 'invitation']) {
        assert.ok(!page.hasForm(`${path}/${name}`))
        const fields = { ...token, email: 'x@example.com' }
        assert.equal((await visitor.post(`${path}/${name}`, fields)).status, 403, name)
      }
    }
    assert.equal((await reader.open(invite)).status, 403)
    assert.ok(!(await reader.open(users)).html.includes(`href="${invite}"`))
    await api.db.write({ sql: 'CREATE TABLE orders (user_id BIGINT REFERENCES users (id))' })
    await api.db.write({ sql: 'INSERT INTO orders (user_id) VALUES ($1)', params: [reader.id] })
    await manager.open(`${users}/${reader.id}`)
    const kept = await manager.submit(`${users}/${reader.id}/delete`)
    assert.equal(kept.status, 409)
    assert.match(kept.text, /Other records refer to this user/)
  })

  test('administrators change their own name and roles there, and everything else on the account page', async () => {
    const { api, browse } = enter(await shared())
    await browse('admin')
    const admin = await browse('admin')
    const path = `${users}/${admin.id}`
    const page = await admin.open(path)
    assert.match(page.html, /href="\/console\/account">your account page/)
    assert.ok(!page.html.includes('name="email"'))
    assert.equal((await admin.submit(`${path}/edit`, { name: 'Renamed' })).notice, 'user-saved')
    const token = (await admin.open(path)).hidden('/console/sign-out')
    const acts = ['unlock', 'reset-2fa', 'sign-out', 'invitation', 'disable', 'enable', 'delete', 'edit']
    for (const act of acts) {
      assert.ok(act === 'edit' || !page.hasForm(`${path}/${act}`), act)
      assert.equal((await admin.post(`${path}/${act}`, { ...token, email: 'x@example.com' })).status, 403, act)
    }
    const bulk = await admin.post(`${users}/bulk/disable`, { ...token, pick: String(admin.id), confirmed: 'true' })
    assert.match(bulk.text, /This is you/)
    assert.equal((await admin.open(path)).status, 200, 'still signed in')
    assert.equal((await logIn(api, admin.email)).status, 200)
  })
})
