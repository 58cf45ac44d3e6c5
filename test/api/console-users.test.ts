/** The list of users in the console, and what is done to several, in a browser without scripts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share, unlimitedRates } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsolePage, openConsole } from '../support/console.ts'
import { onAnyEngine } from '../support/databases.ts'
import { makeUsers } from '../support/listed-users.ts'
import { isSignedIn } from '../support/people.ts'
import { startApiWithRoles } from '../support/roles.ts'

const path = '/console/users'

onAnyEngine('the list of users in the console', (engine) => {
  const service = share(async (owner) => {
    const config = createConfig(owner, {
      auth: `auth { roles {
        admin { permissions = ["*"] }
        manager { permissions = ["users.*"] }
        editor { permissions = ["posts.*"] }
        viewer { permissions = ["posts.view"] }
      } }`,
    })
    const api = await startApiWithRoles(owner, { engine, config })
    const browse = async (...roles: string[]) => {
      const { id, email } = await api.signInAs(...roles)
      const browser = openConsole(api)
      assert.equal((await browser.signIn(email)).status, 303)
      return { ...browser, id, email }
    }
    const admin = await browse('admin')
    return { api, browse, admin, users: await makeUsers(api, 60) }
  })

  test('by the heads of columns and by the form, with addresses that can be shared', async () => {
    const { admin, users } = await service()
    const first = await admin.open(path)
    assert.match(first.text, /6\d users/)
    const byEmail = await admin.open(linkTo(first, 'Email'))
    assert.match(byEmail.html, /aria-sort="ascending"/)
    const emails = [...users.map(({ email }) => email), admin.email].sort()
    assert.deepEqual(emailsIn(byEmail), emails.slice(0, 20))
    const second = await admin.open(linkTo(byEmail, 'Next →'))
    assert.deepEqual(emailsIn(second), emails.slice(20, 40))
    assert.deepEqual(emailsIn(await admin.open(linkTo(second, '← Previous'))), emailsIn(byEmail))
    assert.deepEqual(emailsIn(await admin.open(linkTo(byEmail, 'Email'))), emails.toReversed().slice(0, 20))

    const query = new URLSearchParams({
      q: '',
      'filter[status]': 'disabled',
      'filter[role]': '',
      'filter[two_factor]': '',
      sort: '-email',
      columns: 'email',
    })
    const disabled = await admin.open(`${path}?${query}&columns=id`)
    const expected = users.filter(({ isDisabled }) => isDisabled).map(({ email }) => email)
    assert.deepEqual(emailsIn(disabled), expected.sort().reverse())
    assert.match(disabled.text, new RegExp(`${expected.length} users`))
    assert.match(disabled.html, /<option value="disabled" selected>/)
    assert.match(disabled.html, /value="id" checked>/)
    assert.match(disabled.text, /Selected Email ↓ Number/)
    assert.match(disabled.html, /href="\/console\/users\?columns=[^"&]+">Show all, oldest first/, 'the columns stay')
  })

  test('says what is wrong, and what was not found', async () => {
    const { admin } = await service()
    const both = await admin.open(`${path}?q=ada&sort=email`)
    assert.deepEqual([both.status, both.html.includes('value="ada"')], [422, true])
    assert.match(both.text, /This filter cannot be used q: Cannot be combined with sort, filter or cursor/)
    assert.match((await admin.open(`${path}?filter%5Brole%5D=manager`)).text, /Nobody found No user passes all/)
    assert.equal((await admin.open(`${path}/export?filter%5Bstatus%5D=x`)).status, 303)
  })

  test('as CSV of who is filtered or found', async () => {
    const { api, admin, users } = await service()
    const found = await admin.open(`${path}?filter%5Btwo_factor%5D=true&sort=email`)
    const file = await admin.open(linkTo(found, 'Download as CSV'))
    assert.equal(file.headers.get('content-disposition'), 'attachment; filename="users.csv"')
    const [head, ...lines] = file.html.trimEnd().split('\n')
    assert.equal(head, 'id,email,name,roles,two_factor,locked_until,disabled_at,email_verified_at,created_at')
    const expected = users.filter(({ hasTwoFactor }) => hasTwoFactor).map(({ id, email }) => `${id},${email}`)
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(0, 2).join()),
      expected.toSorted((a, b) => ((a.split(',')[1] ?? '') < (b.split(',')[1] ?? '') ? -1 : 1)),
    )
    const [someone] = users
    await api.db.write({ sql: `UPDATE users SET name = '=1+1' WHERE id = $1`, params: [someone?.id ?? 0] })
    const searched = await admin.open(`${path}/export?q=${encodeURIComponent(someone?.email ?? '')}`)
    assert.match(searched.html, new RegExp(`\n${someone?.id},${someone?.email},'=1\\+1,editor viewer,false,`))
    const counted = await api.db.get<{ n: number }>('SELECT count(*) AS n FROM users')
    assert.equal((await admin.open(`${path}/export`)).html.trimEnd().split('\n').length, (counted?.n ?? 0) + 1)
  })

  test('several are disabled or signed out at once, after a question; each under its own rules', async () => {
    const { api, browse, admin } = await service()
    const [one, two] = [await api.signInAs('viewer'), await api.signInAs('editor')]
    const manager = await browse('manager', 'viewer')
    const select = async (act: string, users: readonly number[], more = {}) => {
      await manager.open(`${path}?q=${encodeURIComponent(one.email)}`)
      const fields = { ...(await hiddenOf(manager)), pick: users.map(String), ...more }
      return manager.post(`${path}/bulk/${act}`, fields)
    }
    const hiddenOf = async ({ open }: typeof manager) => (await open(`${path}?q=x`)).hidden(`${path}/bulk/disable`)

    const question = await select('sign-out', [one.id])
    assert.deepEqual([question.status, await isSignedIn(api, one.access)], [200, true])
    assert.match(question.text, new RegExp(`Sign 1 user out everywhere\\? .*${one.email}`))
    const out = await manager.post(`${path}/bulk/sign-out`, {
      ...question.hidden(`${path}/bulk/sign-out`),
      pick: [String(one.id)],
    })
    assert.match(out.text, /Sign out: 1 of 1 user 1 user is signed out everywhere\./)
    assert.ok(out.html.includes(`href="${path}?q=x"`), 'back to where the list was')
    assert.equal(await isSignedIn(api, one.access), false)

    const all = [one.id, two.id, manager.id, admin.id, 999_999]
    assert.match((await select('disable', all)).text, /Disable 4 users\?/)
    const result = await select('disable', all, { confirmed: 'true' })
    assert.match(result.text, /Disable: 1 of 4 users 1 user is disabled, and signed out everywhere\./)
    assert.match(result.text, new RegExp(`${manager.email} : This is you`))
    assert.match(result.text, new RegExp(`${admin.email} : You can’t do that`))
    assert.match(
      result.text,
      new RegExp(`${two.email} : You can’t do that`),
      'an editor has permissions that managers lack',
    )
    const entries = await api.db.all<{ user_id: number; outcome: string }>(
      `SELECT user_id, outcome FROM audit WHERE event = 'user_disabled' ORDER BY id`,
    )
    assert.deepEqual(
      entries.map(({ user_id, outcome }) => [user_id, outcome]),
      [
        [one.id, 'success'],
        [two.id, 'refused'],
        [admin.id, 'refused'],
      ],
    )
    assert.equal((await select('disable', [])).status, 422)
    const viewer = await browse('viewer')
    const token = (await viewer.open('/console/products')).hidden('/console/sign-out')
    assert.equal((await viewer.post(`${path}/bulk/disable`, { ...token, users: String(two.id) })).status, 403)
  })

  test('nobody disables the last administrator with others, even if two of them do it to each other at once', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: unlimitedRates })
    const browsers = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const { id, email } = await api.signInAs('admin')
        const browser = openConsole(api)
        assert.equal((await browser.signIn(email)).status, 303)
        return { ...browser, id }
      }),
    )
    const ids = browsers.map(({ id }) => String(id))
    const results = await Promise.all(
      browsers.map(async (browser) => {
        const token = (await browser.open(path)).hidden(`${path}/bulk/disable`)
        return browser.post(`${path}/bulk/disable`, { ...token, pick: ids, confirmed: 'true' })
      }),
    )
    const rows = await api.db.all<{ id: number }>('SELECT id FROM users WHERE disabled_at IS NULL ORDER BY id')
    assert.equal(rows.length, 1, results.map(({ status, text }) => `${status} ${text}`).join('\n'))
  })
})

function emailsIn({ html }: ConsolePage): string[] {
  return [...html.matchAll(/<td[^>]*lead"><span><a [^>]*>([^<]*)/g)].map(([, email]) => email as string)
}

function linkTo({ html }: ConsolePage, text: string): string {
  const link = [...html.matchAll(/<a [^>]*href="([^"]+)"[^>]*>([^<]*)/g)].find(([, , shown]) => shown?.trim() === text)
  return (link?.[1] ?? assert.fail(`no link “${text}”`)).replaceAll('&#38;', '&')
}
