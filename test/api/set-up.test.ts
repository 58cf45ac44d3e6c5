import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { setUp } from '../../src/features/set-up/set-up.feature.ts'
import { defineFeature } from '../../src/platform/feature.ts'
import { html } from '../../src/platform/pages/html.ts'
import { type Api, share } from '../support/api.ts'
import { createConfig } from '../support/config.ts'
import { type ConsoleBrowser, type ConsolePage, openConsole } from '../support/console.ts'
import { createDatabaseUrl, onAnyEngine, onRacingEngine } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { startWithMail, waitForMails } from '../support/mailbox.ts'
import { logIn, many, password, register } from '../support/people.ts'
import { type ApiWithRoles, startApiWithRoles } from '../support/roles.ts'
import { findLink, loggedLink, loggedPath } from '../support/set-up.ts'
import { amount } from '../support/tiers.ts'

const form = '/console/setup'
const root = { email: 'root@example.com', name: 'Root', password }
const over = 'This link does not work.'

async function finish(
  api: Api,
  fields: Partial<typeof root> = {},
): Promise<{ browser: ConsoleBrowser; page: ConsolePage }> {
  const browser = openConsole(api)
  const opened = await browser.open(await loggedPath(api))
  assert.equal(opened.status, 200, opened.text)
  return { browser, page: await browser.submit(form, { ...root, ...fields }) }
}

const countUsers = async ({ db }: ApiWithRoles) =>
  (await db.get<{ count: number }>('SELECT count(*) AS count FROM users'))?.count

/** Of a new link, which voids the others. */
async function createPath({ parts }: ApiWithRoles): Promise<string> {
  const link = await parts.serviceOf(setUp).createLink('')
  return link.kind === 'link' ? link.url : assert.fail(link.kind)
}

onRacingEngine('set-up', (engine) => {
  test('the link makes the first administrator, who is signed in, and works once', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const path = await loggedPath(api)
    const { browser, page } = await finish(api)
    assert.deepEqual([page.status, page.location], [303, '/console/setup/done'])
    assert.match((await browser.follow(page)).text, /You are the administrator/)
    assert.equal((await browser.open('/console/users')).status, 200)

    const login = await logIn(api, root.email)
    assert.equal(login.status, 200)
    assert.deepEqual((await api.get('/me', login.body.access_token)).body.roles, ['admin'])
    const { body } = await api.get('/api/admin/audit', login.body.access_token)
    const [made] = body.data.filter(({ event }: { event: string }) => event === 'set_up')
    assert.deepEqual([made.user_id, made.outcome], [1, 'success'])

    assert.equal((await openConsole(api).open(path)).status, 404)
    assert.equal(await countUsers(api), 1)
  })

  test('without an administrator who may sign in there is a link, and with one there is nothing', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const first = await startApiWithRoles(t, { engine, env: { DATABASE_URL } })
    const path = await loggedPath(first)
    const browser = openConsole(first)
    await browser.open(path)
    const user = await register(first, 'other@example.com')
    await first.grant(user, 'viewer')
    assert.equal((await openConsole(first).open(path)).status, 200, 'other roles do not count')
    await first.grant(user, 'admin')
    await first.db.write({ sql: 'UPDATE users SET disabled_at = $1', params: [first.clock.nowIso()] })
    assert.equal((await openConsole(first).open(path)).status, 200, 'nor do disabled users')

    await first.db.write({ sql: 'UPDATE users SET disabled_at = NULL' })
    assert.equal((await browser.submit(form, root)).status, 404)
    for (const url of [path, form, `${form}?token=guessed`, `${form}/done`]) {
      const page = await openConsole(first).open(url)
      assert.ok(page.status === 404 || page.location?.startsWith('/console/sign-in'), url)
    }
    assert.equal(await countUsers(first), 1)

    const second = await startApiWithRoles(t, { engine, env: { DATABASE_URL } })
    assert.equal((await openConsole(second).open(form)).status, 404)
    assert.equal(findLink(second), undefined)
  })

  test('twenty browsers at once make one administrator', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const path = await loggedPath(api)
    const browsers = await many(20, async () => {
      const browser = openConsole(api)
      assert.equal((await browser.open(path)).status, 200)
      return browser
    })
    const pages = await Promise.all(
      browsers.map((browser, i) => browser.submit(form, { ...root, email: `root${i}@example.com` })),
    )
    assert.equal(pages.filter(({ status }) => status === 303).length, 1)
    assert.ok(pages.every(({ status }) => [303, 404, 410].includes(status)))
    assert.equal(await countUsers(api), 1)
  })

  test('nodes that start together log links that all work, and all of them at once make one administrator', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const count = amount({ full: 3, otherwise: 2 })
    const nodes = await many(count, () => startApiWithRoles(t, { engine, env: { DATABASE_URL } }))
    const browsers = await Promise.all(
      nodes.map(async (node, i) => {
        const browser = openConsole(nodes[(i + 1) % nodes.length] ?? node)
        assert.equal((await browser.open(await loggedPath(node))).status, 200)
        return browser
      }),
    )
    const pages = await Promise.all(
      browsers.map((browser, i) => browser.submit(form, { ...root, email: `root${i}@example.com` })),
    )
    assert.equal(pages.filter(({ status }) => status === 303).length, 1)
    assert.equal(await countUsers(nodes[0] as ApiWithRoles), 1)
  })
})

onAnyEngine('set-up', (engine) => {
  /** For tests without an administrator. */
  const unused = share((owner) => startApiWithRoles(owner, { engine }))
  const mailing = share((owner) => startWithMail(owner, engine, { VERIFY_EMAIL: 'true' }))
  const finished = share((owner) => startApiWithRoles(owner, { engine }))
  const onAllHosts = share((owner) => startApiWithRoles(owner, { engine, env: { HOST: '0.0.0.0' } }))

  test('the link is for the address that people use, and its pages leave no trace', async () => {
    const api = await unused()
    const link = await loggedLink(api)
    assert.equal(link.origin, api.url)
    const page = await openConsole(api).open(await loggedPath(api))
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
    assert.equal(page.headers.get('cache-control'), 'no-store')

    assert.equal((await loggedLink((await mailing()).api)).origin, 'https://app.example.com')
    assert.equal((await loggedLink(await onAllHosts())).hostname, 'localhost')
  })

  test('the link is over after 30 minutes', async () => {
    const api = await unused()
    const path = await createPath(api)
    const browser = openConsole(api)
    api.clock.advance(29 * 60)
    assert.equal((await browser.open(path)).status, 200)
    api.clock.advance(61)
    const posted = await browser.submit(form, root)
    assert.equal(posted.status, 410)
    assert.ok(posted.text.includes(over))
    assert.equal((await browser.open(path)).status, 410)
    assert.equal(await countUsers(api), 0)
  })

  test('a guessed token gets the page of an expired one, and soon nothing', async () => {
    const api = await unused()
    const path = await createPath(api)
    const browser = openConsole(api)
    await browser.open(path)
    const { _token = '' } = (await browser.open(path)).hidden(form)
    const texts = new Set<string>()
    for (const token of ['', 'a', 'A'.repeat(43), 'x'.repeat(8000), "' OR 1=1 --"]) {
      const opened = await browser.open(`${form}?token=${encodeURIComponent(token)}`)
      assert.equal(opened.status, 410)
      texts.add(opened.text)
      const posted = await browser.post(form, { _token, ...root, token })
      assert.equal(posted.status, 410)
      texts.add(posted.text)
    }
    assert.equal((await browser.open(form)).status, 410)
    assert.equal((await browser.open(`${form}?token=a&token=b`)).status, 410)
    assert.equal(texts.size, 1)
    assert.match([...texts].join(''), /bin\/latchkey setup/)
    assert.equal(await countUsers(api), 0)

    for (let i = 0; i < 60; i++) await browser.open(`${form}?token=${i}`)
    const limited = await browser.open(path)
    assert.equal(limited.status, 429)
    assert.ok(limited.headers.get('retry-after'))
  })

  test('what is wrong with the form is told on it and uses nothing up', async () => {
    const api = await finished()
    await register(api, 'taken@example.com')
    const weak = await finish(api, { password: 'weak', email: 'nobody' })
    assert.equal(weak.page.status, 422)
    assert.match(weak.page.text, /Must be at least 8 characters.*/)
    assert.match(weak.page.text, /Must be a valid email address/)
    assert.ok(weak.page.html.includes('value="nobody"') && !weak.page.html.includes('"weak"'))
    const taken = await finish(api, { email: ' Taken@Example.com ' })
    assert.equal(taken.page.status, 409)
    assert.match(taken.page.text, /Email already registered/)
    const last = await taken.browser.submit(form, root)
    assert.equal(last.status, 303)
    assert.equal(await countUsers(api), 2)
    assert.equal((await logIn(api, 'taken@example.com')).status, 200)
  })

  test('other administrators and other users have no welcome page', async () => {
    // The test before has made the first administrator.
    const api = await finished()
    const admin = await register(api, 'second@example.com')
    await api.grant(admin, 'admin')
    const viewer = await register(api, 'viewer@example.com')
    for (const [user, status] of [
      [admin, 404],
      [viewer, 403],
    ] as const) {
      const browser = openConsole(api)
      await browser.signIn(user.email)
      assert.equal((await browser.open('/console/setup/done')).status, status)
    }
  })

  test('where strangers have locked the email, the account is made and waits for its owner', async () => {
    const api = await onAllHosts()
    for (let i = 0; i < 5; i++) await logIn(api, root.email, 'wrong')
    const { page } = await finish(api)
    assert.deepEqual([page.location, page.notice], ['/console/sign-in', 'set-up'])
    api.clock.advance(901)
    assert.equal((await logIn(api, root.email)).status, 200)
  })

  test('where addresses have to be verified, the first administrator is in and gets the mail', async () => {
    const { api, mailbox } = await mailing()
    const { browser, page } = await finish(api)
    const welcome = await browser.follow(page)
    assert.equal(welcome.status, 200)
    assert.ok(welcome.text.includes("curl 'https://app.example.com/api/v2/products'"))
    assert.match(welcome.text, /PUBLIC_URL .*? Met .*?JWT_SECRET .*? Met .*?MAIL_URL .*? Met/)
    await waitForMails(mailbox, 1)
    assert.match(mailbox.messages[0] ?? '', /Verification token/)
    assert.equal((await logIn(api, root.email)).status, 403)
  })

  test('the welcome page is for the new administrator, and adds sample products once', async (t) => {
    const api = await startApiWithRoles(t, { engine, env: { REGISTRATION: 'closed' } })
    const { browser, page } = await finish(api)
    const welcome = await browser.follow(page)
    assert.ok(welcome.text.includes(`curl '${api.url}/api/v2/products'`))
    assert.match(welcome.text, /REGISTRATION=closed .*? Met/)
    assert.match(welcome.text, /PUBLIC_URL .*? To do/)
    const { _token = '' } = welcome.hidden('/console/setup/samples')
    const added = await many(5, () => browser.post('/console/setup/samples', { _token }))
    assert.deepEqual(
      new Set(added.map(({ status, location }) => `${status} ${location}`)),
      new Set(['303 /console/setup/done']),
    )
    const again = await browser.open('/console/setup/done')
    assert.ok(!again.hasForm('/console/setup/samples'))
    const [row] = await api.db.all<{ count: number }>('SELECT count(*) AS count FROM products')
    assert.equal(row?.count, 36)
    assert.equal((await api.get('/api/v2/products')).body.data.length, 20)

    const other = await register(api, 'second@example.com').catch(() => undefined)
    assert.equal(other, undefined, 'registration is closed')
    assert.match((await openConsole(api).open('/console/setup/done')).location ?? '', /sign-in/)
    api.clock.advance(3601)
    assert.equal((await browser.open('/console/setup/done')).status, 404)
    assert.equal((await browser.post('/console/setup/samples', { _token })).status, 404)
  })

  test('a restart makes a new link, and voids that of the start before', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const first = await startApiWithRoles(t, { engine, env: { DATABASE_URL } })
    const before = await loggedPath(first)
    await first.db.write({ sql: 'UPDATE setup_tokens SET created_at = created_at - 61' })
    const second = await startApiWithRoles(t, { engine, env: { DATABASE_URL } })
    const after = await loggedPath(second)
    assert.notEqual(after, before)
    assert.equal((await openConsole(second).open(after)).status, 200)
    assert.equal((await openConsole(second).open(before)).status, 410)
  })

  test('the token is neither in the database nor in the log of requests', async (t) => {
    const DATABASE_URL = await createDatabaseUrl(t, engine, { isMigrated: true })
    const api = await startApiWithRoles(t, { engine, env: { DATABASE_URL } })
    const token = (await loggedLink(api)).searchParams.get('token') ?? assert.fail()
    const rows = await api.db.all('SELECT * FROM setup_tokens')
    assert.equal(rows.length, 1)
    assert.ok(!JSON.stringify(rows).includes(token))
    await finish(api)
    await openConsole(api).open(`${form}/?token=${token}`)
    const lines = api.log.filter((line) => line.includes(token))
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /setupUrl/)
    if (engine === 'sqlite') {
      for (const end of ['', '-wal']) assert.ok(!readFileSync(fileURLToPath(DATABASE_URL) + end).includes(token))
    }
  })
})

describe('set-up', () => {
  test('without a role that holds "*" there is no link, and the log says why', async (t) => {
    const auth = 'auth {\n  roles {\n    editor { permissions = ["posts.*"] }\n  }\n}\n'
    const api = await startApiWithRoles(t, { config: createConfig(t, { auth }) })
    await eventually(() => assert.match(api.log.join(''), /no role of auth.roles holds/))
    assert.equal(findLink(api), undefined)
    assert.equal((await openConsole(api).open('/console/setup')).status, 404)
  })

  const extended = share((owner) => {
    const card = html`<section class="card" aria-labelledby="keys"><h2 id="keys">A key for programs</h2></section>`
    const keys = defineFeature({
      name: 'keys-of-the-test',
      create: () => undefined,
      pages: () => ({ welcomeCards: [{ show: () => card }] }),
    })
    const failing = defineFeature({
      name: 'failing',
      create: () => undefined,
      onListening: () => Promise.reject(new Error('out of order')),
    })
    return startApiWithRoles(owner, { extensions: [keys, failing] })
  })

  test('a feature that fails after the start is logged, and everything is served', async () => {
    const api = await extended()
    await eventually(() => assert.match(api.log.join(''), /out of order/))
    assert.equal((await openConsole(api).open(await loggedPath(api))).status, 200)
  })

  test('features add cards to the welcome page', async () => {
    const { browser, page } = await finish(await extended())
    assert.match((await browser.follow(page)).text, /A key for programs/)
  })

  test('a role of another name is given where it alone holds "*"', async (t) => {
    const auth = 'auth {\n  roles {\n    owner { permissions = ["*"] }\n  }\n}\n'
    const api = await startApiWithRoles(t, { config: createConfig(t, { auth }) })
    await finish(api)
    const { body } = await logIn(api, root.email)
    assert.deepEqual((await api.get('/me', body.access_token)).body.roles, ['owner'])
  })
})
