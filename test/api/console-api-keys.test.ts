import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareService } from '../support/api.ts'
import { openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { makeKey } from '../support/keys.ts'
import { again } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const account = '/console/account'
const create = '/console/account/keys'

onAnyEngine('API keys in the console', (engine) => {
  const shared = shareService(startApiWithRoles, { engine })

  test('are made by a form, shown once, listed, and ended', async () => {
    const api = await shared()
    const user = await api.signInAs('editor')
    const browser = openConsole(api)
    await browser.signIn(user.email)
    const before = await browser.open(account)
    assert.ok(before.html.includes('href="/console/account/keys/new"'))
    await browser.open(`${create}/new`)
    const made = await browser.submit(create, {
      name: 'Deploy <b>',
      permissions: 'posts.view\r\n\r\n  media.* \r\n',
      lifetime: '30',
    })
    assert.equal(made.status, 200)
    assert.equal(made.headers.get('cache-control'), 'no-store')
    const [key = ''] = /lk_[0-9A-Za-z]{40}/.exec(made.html) ?? []
    assert.match(made.text, /it is shown only now/)
    assert.equal((await api.get('/me', key)).status, 200)
    const [listed] = (await api.get('/api/auth/keys', user.access)).body.data
    assert.deepEqual([listed.name, listed.permissions], ['Deploy <b>', ['posts.view', 'media.*']])
    const days = (Date.parse(listed.expires_at) - api.clock.now()) / 86_400_000
    assert.ok(days > 29.9 && days <= 30)

    const page = await browser.open(account)
    assert.ok(page.text.includes(listed.hint) && page.text.includes('posts.view') && !page.html.includes(key))
    assert.ok(page.html.includes('Deploy &#60;b&#62;'))
    const ended = await browser.submit(`${create}/${listed.id}/end`)
    assert.deepEqual([ended.location, ended.notice], [account, 'api-key-ended'])
    assert.equal((await api.get('/me', key)).status, 401)
    assert.match((await browser.follow(ended)).text, /The API key is ended\./)
  })

  test('take what was typed back with what is wrong with it', async () => {
    const api = await shared()
    const user = await api.signInAs('editor')
    const browser = openConsole(api)
    await browser.signIn(user.email)
    await browser.open(`${create}/new`)
    const wrong = { name: ' ', permissions: 'posts.view\n*.view\nposts*', lifetime: 'never' }
    const refused = await browser.submit(create, wrong)
    assert.equal(refused.status, 422)
    assert.ok(refused.text.includes('Must not be blank'))
    assert.ok(refused.text.includes('Must be a permission such as posts.view or posts.*'))
    assert.ok(refused.html.includes('*.view') && refused.html.includes('<option value="never" selected>'))
    const made = await browser.submit(create, { name: 'n', permissions: '', lifetime: 'never' })
    assert.equal(made.status, 200)
    await browser.open(`${create}/new`)
    await browser.submit(create, { name: 'm', permissions: '', lifetime: 'made up' })
    const { data } = (await api.get('/api/auth/keys', user.access)).body
    const byName = Object.fromEntries(data.map((key: { name: string }) => [key.name, key]))
    assert.deepEqual([byName.n.permissions, byName.n.expires_at], [null, null])
    assert.ok(byName.m.expires_at, 'without an end only where that was chosen')

    for (let i = 0; i < 48; i++) await makeKey(api, user.access)
    await browser.open(`${create}/new`)
    const full = await browser.submit(create, { name: 'n', permissions: '', lifetime: '30' })
    assert.equal(full.status, 409)
    assert.match(full.text, /as many API keys as one may have/)
  })

  test('of a user are seen by who may view users, and ended by who is not below that user', async () => {
    const api = await shared()
    const admin = await api.signInAs('admin')
    const user = await api.signInAs('editor')
    const { id, key } = await makeKey(api, user.access, { name: 'Robot' })
    const browser = openConsole(api)
    await browser.signIn(admin.email)
    const page = await browser.open(`/console/users/${user.id}`)
    assert.ok(page.text.includes('API keys') && page.text.includes('Robot'))
    assert.ok(!(await browser.open(`/console/users/${admin.id}`)).text.includes('API keys'), 'nothing to show')
    await browser.open(`/console/users/${user.id}`)
    const ended = await browser.submit(`/console/users/${user.id}/keys/${id}/end`)
    assert.deepEqual([ended.location, ended.notice], [`/console/users/${user.id}`, 'user-api-key-ended'])
    assert.equal((await api.get('/me', key)).status, 401)
    await browser.follow(ended)

    const own = await makeKey(api, (await again(api, admin)).access)
    const low = openConsole(api)
    await low.signIn(user.email)
    const { _token } = (await low.open(account)).hidden('/console/account/profile')
    const forced = await low.post(`/console/users/${admin.id}/keys/${own.id}/end`, { _token: _token ?? '' })
    assert.equal(forced.status, 403)
    const foreign = await low.post(`/console/account/keys/${own.id}/end`, { _token: _token ?? '' })
    assert.equal(foreign.status, 404)
    assert.equal((await api.get('/me', own.key)).status, 200)
  })
})
